"""What is folded away so that a list fits its window: replay, mild, aggressive, emergency.

Only what is archived is ever replaced, cut or removed, and a call goes with its results or not at all.
The same list, archive and earlier steps give the same steps. Everything decided is a value (`Step`),
kept for good, so that the same message has the same bytes at every later call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from memstrata.domain import window as windows
from memstrata.domain.window import Count, Item, Result, Window

Level = Literal["mild", "aggressive", "emergency"]

SHORTEST: Final = 200
"""Tokens that a result keeps when it is cut in place."""
_WORDS_SCORE: Final = 5
"""How well a message without results is taken to be replaceable, 0–10."""
_FOLDED_SCORE: Final = 10
_HEAD: Final = 0.6
"""The share of what is kept of a cut result that is its beginning."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The window W in tokens; lines, targets and budgets as shares of it. `keep`: results never removed."""

    window: int
    mild: float = 0.50
    mild_target: float = 0.45
    mild_reach: float = 0.70
    aggressive: float = 0.85
    aggressive_target: float = 0.70
    emergency: float = 0.95
    emergency_target: float = 0.60
    overhead: float = 0.12
    keep: int = 4
    history: float = 0.20
    large: float = 0.25
    cut: float = 0.10
    block: float = 0.15
    patience: float = 0.0
    """A mild step that cannot reach its target waits until it saves so much: each breaks the prefix."""

    def tokens(self, share: float) -> int:
        """A share of the window in tokens."""
        return int(share * self.window)


@dataclass(frozen=True, slots=True)
class Replaced:
    """The result `key` stands as `text`."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The result `key` stands as `text`, its beginning and end."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """The arguments of call number `at` of the message `item`, whose hash is `digest`, stand as `text`."""

    item: str
    at: int
    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class Removed:
    """Messages that went together, by identity, with the results (by key) that they held."""

    items: tuple[str, ...]
    keys: tuple[str, ...]


Step = Replaced | Cut | Compacted | Removed


@dataclass(frozen=True, slots=True)
class Archived:
    """What is known of an archived result: how it is called, how well its summary replaces it, what
    stands in its place, and the ref that leads to it. `folded`: it stands folded in the list already.
    """

    key: str
    score: int
    fold: str
    ref: str
    folded: bool = False


Archive = Callable[[Result], Archived | None]
"""Finds what is archived of a result; None: nothing is."""
Own = Callable[[Sequence[Removed]], int]
"""Tokens of our own blocks, when this is removed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided. `before` and `after` are tokens of the whole window; `reason` says why not less."""

    steps: tuple[Step, ...]
    levels: tuple[Level, ...]
    before: int
    after: int
    reason: str = ""


@dataclass(slots=True)
class Desk:
    """A window with what is folded in it so far, and what that takes in tokens."""

    window: Window
    archive: Archive
    count: Count
    limits: Limits
    overhead: int
    own: Own
    steps: list[Step] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    arguments: dict[tuple[int, int], str] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)
    listed: int = 0
    blocks: int = 0
    removed: list[Removed] = field(default_factory=list)
    known: dict[tuple[int, int], Archived | None] = field(default_factory=dict)
    homes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The unit of each message."""

    @property
    def total(self) -> int:
        """Tokens of the window: the list, our blocks, and what comes with neither."""
        return self.overhead + self.listed + self.blocks

    def use(self, archive: Archive, own: Own) -> None:
        """Fold from here on with what is archived by now, and with our blocks as they would be."""
        self.archive, self.own = archive, own
        self.known.clear()
        self.weigh()

    def facts(self, item: Item, at: int) -> Archived | None:
        """What is archived of the item's result number `at`."""
        place = (item.index, at)
        if place not in self.known:
            self.known[place] = self.archive(item.results[at])
        return self.known[place]

    def is_open(self, item: Item, at: int) -> bool:
        """Whether that result still stands whole."""
        found = self.facts(item, at)
        return found is not None and not found.folded and (item.index, at) not in self.texts

    def put_text(self, item: Item, at: int, text: str) -> None:
        """Let a result stand as `text`."""
        before = self.texts.get((item.index, at), item.results[at].text)
        self.texts[item.index, at] = text
        self._grow(item.index, self.count(text) - self.count(before))

    def put_key(self, key: str, text: str) -> None:
        """Let the result `key` stand as `text`, wherever it stands: a host may send one twice."""
        for item in self.window.items:
            for at in range(len(item.results)):
                found = self.facts(item, at)
                if found is not None and found.key == key and self.is_open(item, at):
                    self.put_text(item, at, text)

    def put_arguments(self, item: Item, at: int, text: str) -> None:
        """Let a call's arguments stand as `text`."""
        self.arguments[item.index, at] = text
        self._grow(item.index, self.count(text) - self.count(item.calls[at].arguments))

    def take(self, unit: Sequence[int]) -> Removed:
        """Remove messages that belong together."""
        items = [self.window.items[index] for index in unit]
        found = (self.facts(item, at) for item in items for at in range(len(item.results)))
        keys = tuple(one.key for one in found if one is not None)
        for index in unit:
            if index not in self.gone:
                self.gone.add(index)
                self.listed -= self.sizes[index]
        return Removed(tuple(item.identity for item in items), keys)

    def decide(self, step: Step) -> None:
        """Keep a step that was carried out."""
        self.steps.append(step)
        if isinstance(step, Removed):
            self.removed.append(step)

    def weigh(self) -> None:
        """Count our own blocks anew."""
        self.blocks = self.own(self.removed)

    def _grow(self, index: int, tokens: int) -> None:
        self.sizes[index] += tokens
        if index not in self.gone:
            self.listed += tokens

    def messages(self) -> list[object]:
        """The list as it stands now, without our blocks; the host's messages are left as they are."""
        found: list[object] = []
        for raw, item in zip(self.window.messages, self.window.items, strict=True):
            if item.index in self.gone:
                continue
            results = {
                one.at: self.texts[item.index, at]
                for at, one in enumerate(item.results)
                if (item.index, at) in self.texts
            }
            arguments = {
                at: text for (index, at), text in self.arguments.items() if index == item.index
            }
            changed = bool(results or arguments)
            found.append(windows.rewritten(raw, item, results, arguments) if changed else raw)
        return found


# -- replay -----------------------------------------------------------------------------------------


def replay(desk: Desk, held: Iterable[Step]) -> None:
    """Fold what was folded before, byte for byte."""
    texts: dict[str, str] = {}
    arguments: dict[tuple[str, int, str], str] = {}
    away: set[str] = set()
    for step in held:
        match step:
            case Replaced(key=key, text=text) | Cut(key=key, text=text):
                texts[key] = text
            case Compacted(item=identity, at=at, digest=digest, text=text):
                arguments[identity, at, digest] = text
            case Removed(items=items):
                desk.removed.append(step)
                away |= set() if desk.window.folded else set(items)
    desk.homes = {index: unit for unit in desk.window.units for index in unit}
    desk.sizes = [item.tokens(desk.count) for item in desk.window.items]
    desk.listed = sum(desk.sizes)
    for item in desk.window.items:
        _replay_item(desk, item, texts, arguments)
    for unit in desk.window.units:
        if all(desk.window.items[index].identity in away for index in unit):
            desk.take(unit)
    desk.weigh()


def _replay_item(
    desk: Desk, item: Item, texts: Mapping[str, str], arguments: Mapping[tuple[str, int, str], str]
) -> None:
    for at in range(len(item.results)):
        found = desk.facts(item, at)
        if found is not None and not found.folded and found.key in texts:
            desk.put_text(item, at, texts[found.key])
    for call in item.calls:
        text = arguments.get((item.identity, call.at, windows.digest(call.arguments)))
        if text is not None and not item.signed:
            desk.put_arguments(item, call.at, text)


# -- the levels -------------------------------------------------------------------------------------


def reclaim(desk: Desk, *, overflow: bool = False, before: int | None = None) -> Outcome:
    """Fold more where a line is passed; `overflow`: the provider refused the list as too long.

    `before` is what the window takes as it stands, where our blocks would change with a step. Steps that
    would leave it no smaller are not taken: the desk must not be used then.
    """
    limits = desk.limits
    before = desk.total if before is None else before
    levels: list[Level] = []
    # As it stands counts, too: with new blocks it may be smaller, but only a step brings those.
    passed = before >= limits.tokens(limits.aggressive)
    if desk.total >= limits.tokens(limits.mild) and _mild(desk, waits=not passed):
        levels.append("mild")
    passed = (passed and not levels) or desk.total >= limits.tokens(limits.aggressive)
    if passed and desk.total >= limits.tokens(limits.aggressive_target) and _aggressive(desk):
        levels.append("aggressive")
    stalled = desk.total >= limits.tokens(limits.aggressive)
    urgent = overflow or stalled or before >= limits.tokens(limits.emergency)
    if urgent and _emergency(desk):
        levels.append("emergency")
    desk.weigh()
    reason = _reason(desk, _target(limits, before, urgent))
    if desk.total >= before:
        return Outcome((), (), before, before, reason)
    return Outcome(tuple(desk.steps), tuple(levels), before, desk.total, reason)


def _target(limits: Limits, before: int, urgent: bool) -> int:
    """Below what the window should be, by the highest line that was passed."""
    if urgent:
        return limits.tokens(limits.emergency_target)
    if before >= limits.tokens(limits.aggressive):
        return limits.tokens(limits.aggressive_target)
    passed = before >= limits.tokens(limits.mild)
    return limits.tokens(limits.mild_target if passed else limits.mild)


def _mild(desk: Desk, *, waits: bool) -> bool:
    """Replace the results among the first messages that their summaries replace best.

    `waits`: not before it is worth it.
    """
    limits = desk.limits
    target = limits.tokens(limits.mild_target)
    reach = int(limits.mild_reach * len(desk.window.items))
    found = [
        one for one in _foldable(desk, range(reach)) if one.facts.score > 0 and one.saves(desk) > 0
    ]
    found.sort(key=lambda one: (-one.facts.score, one.item.index, one.at))
    gain = sum(one.saves(desk) for one in found)
    if waits and gain < limits.tokens(limits.patience) and desk.total - gain >= target:
        return False
    return _fold(desk, found, target)


def _aggressive(desk: Desk) -> bool:
    """Cut what is larger than any message should be, then remove the oldest before the last prompt."""
    limits = desk.limits
    target = limits.tokens(limits.aggressive_target)
    acted = False
    for one in _largest(desk):
        if desk.count(one.text) <= limits.tokens(limits.large) or desk.total < target:
            break
        acted = _cut(desk, one, limits.tokens(limits.cut)) or acted
    units = [unit for unit in _removable(desk) if max(unit) < desk.window.last_user]
    return _take(desk, sorted(units), target) or acted


def _emergency(desk: Desk) -> bool:
    """Replace, remove, at last cut, wherever it helps most, whatever the scores say."""
    target = desk.limits.tokens(desk.limits.emergency_target)
    last = {desk.facts(desk.window.items[index], at) for index, at in _last_results(desk)}
    found = [
        one
        for one in _foldable(desk, range(len(desk.window.items)))
        if one.facts not in last and one.saves(desk) > 0
    ]
    found.sort(key=lambda one: (-one.weight(desk), one.item.index, one.at))
    acted = _fold(desk, found, target)
    units = sorted(_removable(desk), key=lambda unit: (-_weight(desk, unit), unit))
    acted = _take(desk, units, target) or acted
    for one in _largest(desk):
        if desk.total < target:
            break
        size = desk.count(one.text)
        acted = _cut(desk, one, max(SHORTEST, size - (desk.total - target) - SHORTEST)) or acted
    return acted


@dataclass(frozen=True, slots=True)
class _Place:
    """A result that stands whole, and what is archived of it."""

    item: Item
    at: int
    facts: Archived

    @property
    def text(self) -> str:
        return self.item.results[self.at].text

    def saves(self, desk: Desk) -> int:
        """Tokens fewer when it is replaced."""
        return desk.count(self.text) - desk.count(self.facts.fold)

    def weight(self, desk: Desk) -> int:
        """Replaceability × age × size."""
        age = len(desk.window.items) - self.item.index
        return (self.facts.score + 1) * age * desk.count(self.text)


def _foldable(desk: Desk, indices: Iterable[int]) -> Iterator[_Place]:
    for index in indices:
        item = desk.window.items[index]
        for at in range(len(item.results)):
            facts = desk.facts(item, at)
            if facts is not None and index not in desk.gone and desk.is_open(item, at):
                yield _Place(item, at, facts)


def _fold(desk: Desk, places: Iterable[_Place], target: int) -> bool:
    acted = False
    newest = _newest_turn(desk.window)
    for one in places:
        if desk.total < target:
            break
        if desk.is_open(one.item, one.at):
            acted = True
            desk.decide(Replaced(one.facts.key, one.facts.fold))
            desk.put_key(one.facts.key, one.facts.fold)
            _compact(desk, one, newest)
    return acted


def _compact(desk: Desk, one: _Place, newest: int) -> None:
    """Shorten the arguments of a replaced result's call, where its message may be changed."""
    id = one.item.results[one.at].id
    unit = [desk.window.items[index] for index in desk.homes[one.item.index]]
    if any(item.signed for item in unit) or unit[0].index >= newest:
        return
    for item in unit:
        for call in item.calls:
            if call.id == id:
                _compact_call(desk, item, call.at, one.facts.ref)


def _compact_call(desk: Desk, item: Item, at: int, ref: str) -> None:
    call = item.calls[at]
    text = windows.compacted(call.arguments, ref)
    if (item.index, at) not in desk.arguments and desk.count(text) < desk.count(call.arguments):
        desk.decide(Compacted(item.identity, at, windows.digest(call.arguments), text))
        desk.put_arguments(item, at, text)


def _newest_turn(window: Window) -> int:
    """The number of the first message of the newest assistant turn."""
    spoken = [unit for unit in window.units if window.items[unit[0]].kind == "assistant"]
    return max((unit[0] for unit in spoken), default=0)


def _removable(desk: Desk) -> list[tuple[int, ...]]:
    """The units that may be removed: archived whole, neither system nor last words nor last results."""
    items, kept = desk.window.items, {index for index, _ in _last_results(desk)}
    kept |= {desk.window.last_user, len(items) - 1, _newest_turn(desk.window)}
    return [
        unit
        for unit in desk.window.units
        if not kept & set(unit)
        and not desk.gone & set(unit)
        and all(_may_go(desk, items[index]) for index in unit)
    ]


def _may_go(desk: Desk, item: Item) -> bool:
    if item.kind in ("system", "other") or item.media:
        return False
    return all(desk.facts(item, at) is not None for at in range(len(item.results)))


def _last_results(desk: Desk) -> set[tuple[int, int]]:
    """The places of the last results that are kept."""
    places = [(item.index, at) for item in desk.window.items for at in range(len(item.results))]
    return set(places[-desk.limits.keep :]) if desk.limits.keep else set()


def _take(desk: Desk, units: Sequence[tuple[int, ...]], target: int) -> bool:
    """Remove units until the window is below `target`, with the block that stands for them."""
    waiting = list(units)
    acted = False
    while waiting and desk.total >= target:
        while waiting and desk.total >= target:
            desk.decide(desk.take(waiting.pop(0)))
            acted = True
        desk.weigh()
    return acted


def _weight(desk: Desk, unit: Sequence[int]) -> int:
    items = [desk.window.items[index] for index in unit]
    scores = [
        facts.score if desk.is_open(item, at) else _FOLDED_SCORE
        for item in items
        for at in range(len(item.results))
        if (facts := desk.facts(item, at)) is not None
    ]
    age = len(desk.window.items) - unit[0]
    return (min(scores, default=_WORDS_SCORE) + 1) * age * sum(desk.sizes[i] for i in unit)


def _largest(desk: Desk) -> list[_Place]:
    """Every result that stands whole, the largest first."""
    places = _foldable(desk, range(len(desk.window.items)))
    return sorted(places, key=lambda one: (-desk.count(one.text), one.item.index, one.at))


def _cut(desk: Desk, one: _Place, most: int) -> bool:
    text = cut(one.text, most, one.facts.ref, desk.count)
    if desk.count(text) >= desk.count(one.text):
        return False
    desk.decide(Cut(one.facts.key, text))
    desk.put_key(one.facts.key, text)
    return True


def cut(text: str, most: int, ref: str, count: Count) -> str:
    """Beginning and end of `text` with a line between them that leads to the whole, in `most` tokens or so."""
    whole = max(1, count(text))
    length = int(len(text) * most / whole)
    while True:
        head = int(_HEAD * length)
        tail = length - head
        note = f"\n[… {len(text) - length:,} characters are cut here: recall_result {ref} …]\n"
        found = f"{text[:head]}{note}{text[len(text) - tail :] if tail else ''}"
        if count(found) <= most or length == 0:
            return found
        length = length * 3 // 4


def _reason(desk: Desk, target: int) -> str:
    """Why the window is not below `target`; `""` when it is."""
    if desk.total < target:
        return ""
    last = desk.window.last_user
    fixed = sum(
        desk.sizes[item.index]
        for item in desk.window.items
        if item.kind == "system" or item.index == last
    )
    return (
        f"{desk.total:,} tokens are left where {target:,} is the target: system and last user message take "
        f"{fixed:,}, what comes beside the list {desk.overhead:,}, our own blocks {desk.blocks:,}; "
        "the rest is kept by its scores, is among the last results, or is not archived"
    )
