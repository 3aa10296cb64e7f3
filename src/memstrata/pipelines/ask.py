"""The only place that calls a model: down the ladder of forms, read item by item, repaired once.

The ladder is schema → JSON mode → plain words; a rung that a provider refuses is not tried again by
this process once a lower one was taken. An answer that says "nothing" is one; an empty answer and
one that cannot be read are failures, worth another try later.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from memstrata.errors import ModelFailed
from memstrata.ports import Answer, Model, Question, Rung
from memstrata.prompts import loose_json
from memstrata.prompts.answers import Form, Item, Parsed, Rejected
from memstrata.prompts.template import Rendered, load

T = TypeVar("T", bound=Item)

LADDER: Final[tuple[Rung, ...]] = ("schema", "json", "plain")

_MORE: Final = 4
"""How many times more tokens an answer gets that ran out of them."""
_MOST_SHOWN: Final = 6_000
"""Characters of a bad answer that the repair shows again."""
_LONGEST_WAIT: Final = 86_400.0
"""Seconds that a provider may ask for: a clock that goes wrong must not put us off for years."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model as the ledger books it; `outcome` is `answered` or the reason of a failure."""

    purpose: str
    model: str
    rung: Rung
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came back: the good items, the bad ones, and every call it took."""

    items: tuple[T, ...]
    rejected: tuple[Rejected, ...]
    calls: tuple[Call, ...]
    model: str
    """The model as it named itself in its last answer."""

    @property
    def tokens_in(self) -> int:
        """Tokens of all questions."""
        return sum(call.tokens_in for call in self.calls)

    @property
    def tokens_out(self) -> int:
        """Tokens of all answers."""
        return sum(call.tokens_out for call in self.calls)


class Rungs:
    """Which rung each model is to be asked on. Safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[str, Rung] = {}

    def first(self, model: str) -> Rung:
        """The highest rung that `model` is not known to refuse."""
        with self._lock:
            return self._taken.get(model, LADDER[0])

    def took(self, model: str, rung: Rung) -> None:
        """`model` answered on `rung`; the ones above it were refused."""
        with self._lock:
            self._taken[model] = rung


RUNGS: Final = Rungs()
"""What this process knows."""


def ask(
    model: Model,
    rendered: Rendered,
    form: Form[T],
    *,
    purpose: str,
    name: str,
    deadline: float = 60.0,
    most_tokens: int = 2_000,
    book: Callable[[Call], None] = lambda _: None,
    rungs: Rungs = RUNGS,
) -> Asked[T]:
    """Ask `name` (`provider:model`) and read its answer in `form`.

    Items that cannot be read or have a fault (`rendered.fault`), and good ones that lack something,
    are asked for once more with the reason. `deadline` (seconds) and `most_tokens` are each call's;
    `book` sees every call, failed ones too.

    Raises:
        ModelFailed: no answer, an empty one (`empty`) or one without the list, also the second time
            (`malformed`). Not when the first answer already held good items.
        Invalid: the model's name, or a setting of its provider.
    """
    line = _Line(model, book, rungs)
    question = Question(
        purpose=purpose,
        model=name,
        system=rendered.system,
        user=rendered.user,
        schema=form.schema,
        deadline=deadline,
        most_tokens=most_tokens,
    )
    answer = line.put(question)
    parsed = _read(answer, form, rendered.fault)
    repair = _repair(question, answer, parsed)
    if repair is None and parsed is not None:
        return line.asked(_items(parsed), parsed.rejected, answer)
    try:
        second = line.put(repair or question)
    except ModelFailed:
        if parsed is None or not parsed.items:
            raise
        return line.asked(_items(parsed), parsed.rejected, answer)
    return _merged(line, form, parsed, second, _read(second, form, rendered.fault))


def write(
    model: Model,
    rendered: Rendered,
    *,
    purpose: str,
    name: str,
    deadline: float = 60.0,
    most_tokens: int = 2_000,
    book: Callable[[Call], None] = lambda _: None,
) -> str:
    """Ask `name` (`provider:model`) once for plain text: the answer without its thinking.

    Raises:
        ModelFailed: no answer, an empty one (`empty`), or one that was cut off (`length`).
        Invalid: the model's name, or a setting of its provider.
    """
    question = Question(
        purpose=purpose,
        model=name,
        system=rendered.system,
        user=rendered.user,
        schema={},
        rung="plain",
        deadline=deadline,
        most_tokens=most_tokens,
    )
    answer = _Line(model, book, RUNGS).put_plain(question)
    if answer.finish == "length":
        raise ModelFailed(f"{answer.model} did not come to an end", reason="length")
    if _is_empty(answer):
        raise ModelFailed(f"{answer.model} gave an empty answer", reason="empty")
    return loose_json.without_thinking(answer.text)


class _Line:
    """The line to a model: walks down the ladder and books each call."""

    def __init__(self, model: Model, book: Callable[[Call], None], rungs: Rungs) -> None:
        self._model = model
        self._book = book
        self._rungs = rungs
        self._calls: list[Call] = []

    def put(self, question: Question) -> Answer:
        """The answer on the highest rung that the provider does not refuse."""
        first = self._rungs.first(question.model)
        for rung in LADDER[LADDER.index(first) : -1]:
            try:
                return self._taken(replace(question, rung=rung))
            except ModelFailed as error:
                if not error.unsupported_rung:
                    raise
        return self._taken(replace(question, rung=LADDER[-1]))

    def put_plain(self, question: Question) -> Answer:
        """The answer on the question's own rung: no form is asked for, so none can be refused."""
        return self._booked(question)

    def asked(
        self, items: tuple[T, ...], rejected: tuple[Rejected, ...], answer: Answer
    ) -> Asked[T]:
        """The result with the calls so far."""
        return Asked(items, rejected, tuple(self._calls), answer.model)

    def _taken(self, question: Question) -> Answer:
        answer = self._booked(question)
        self._rungs.took(question.model, question.rung)
        return answer

    def _booked(self, question: Question) -> Answer:
        started = monotonic()
        try:
            answer = self._model.ask(question)
        except ModelFailed as error:
            self._add(
                question, Answer("", question.model, 0, 0, monotonic() - started), error.reason
            )
            error.retry_after = _bounded(error.retry_after)
            raise
        self._add(question, answer, "answered")
        # Halves of characters come through JSON's escapes, and could not be sent again.
        return replace(answer, text=answer.text.encode("utf-8", "replace").decode())

    def _add(self, question: Question, answer: Answer, outcome: str) -> None:
        call = Call(
            purpose=question.purpose,
            model=question.model,
            rung=question.rung,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            seconds=answer.seconds,
            outcome=outcome,
        )
        self._calls.append(call)
        self._book(call)


def _bounded(seconds: float | None) -> float | None:
    if seconds is None or not (math.isfinite(seconds) and seconds > 0):
        return None
    return min(seconds, _LONGEST_WAIT)


def _read(answer: Answer, form: Form[T], fault: Callable[[Any], str]) -> Parsed[T] | None:
    """The answer's items, those with a fault among the rejected ones."""
    parsed = form.parse(answer.text)
    if parsed is None:
        return None
    faulty = {index: (why, item) for index, item in parsed.items if (why := fault(item))}
    bad = [Rejected(index, why, getattr(item, "name", "")) for index, (why, item) in faulty.items()]
    return replace(
        parsed,
        items=tuple(one for one in parsed.items if one[0] not in faulty),
        rejected=tuple(sorted((*parsed.rejected, *bad), key=lambda one: one.index)),
        wanting=tuple(one for one in parsed.wanting if one.index not in faulty),
    )


def _items(parsed: Parsed[T]) -> tuple[T, ...]:
    return tuple(item for _, item in parsed.items)


def _repair(question: Question, answer: Answer, parsed: Parsed[T] | None) -> Question | None:
    """The question to put again; None when nothing is wrong with the answer."""
    short = answer.finish == "length" or (parsed is not None and parsed.cut)
    if short:
        question = replace(question, most_tokens=_MORE * question.most_tokens)
    if parsed is None:
        if short or _is_empty(answer):
            return question
        return _again(
            question, answer, "It is not the JSON that was asked for.", "Send the whole answer."
        )
    problems = [f"item {one.index + 1}: {one.reason}" for one in _faults(parsed)]
    if parsed.cut:
        problems.append(f"it ends after {len(parsed.items)} whole items")
        wanted = "Send only the items that are named here, corrected, and those that are missing."
    else:
        wanted = "Send only the items that are named here, corrected."
    return _again(question, answer, "\n".join(problems), wanted) if problems else None


def _faults(parsed: Parsed[T]) -> list[Rejected]:
    return sorted((*parsed.rejected, *parsed.wanting), key=lambda one: one.index)


def _again(question: Question, answer: Answer, problems: str, wanted: str) -> Question:
    shown = answer.text[:_MOST_SHOWN]
    repair = load("repair").render(answer=shown, problems=problems, wanted=wanted)
    return replace(question, user=f"{question.user}\n\n{repair.user}")


def _merged(
    line: _Line,
    form: Form[T],
    parsed: Parsed[T] | None,
    second: Answer,
    again: Parsed[T] | None,
) -> Asked[T]:
    """Both answers as one. What was sent again takes the place of the good item it is the same as."""
    if parsed is None:
        if again is None:
            raise _failed(second)
        return line.asked(_items(again), again.rejected, second)
    if again is None:
        return line.asked(_items(parsed), parsed.rejected, second)
    kept = list(_items(parsed))
    places = {form.same(item): place for place, item in reversed(list(enumerate(kept)))}
    wanting = {one.index for one in parsed.wanting}
    asked_for = {form.same(item) for index, item in parsed.items if index in wanting}
    mended = 0
    for _, item in again.items:
        same = form.same(item)
        if same not in places:
            kept.append(item)
            mended += 1
        elif same in asked_for:
            kept[places[same]] = item
    left = parsed.rejected[mended + len(again.rejected) :]
    return line.asked(tuple(kept), (*left, *again.rejected), second)


def _is_empty(answer: Answer) -> bool:
    """Whether it says nothing at all, or only thinks."""
    return not loose_json.without_thinking(answer.text)


def _failed(second: Answer) -> ModelFailed:
    empty = _is_empty(second)
    what = "an empty answer" if empty else "no JSON that can be read"
    return ModelFailed(
        f"{second.model} gave {what}, asked twice", reason="empty" if empty else "malformed"
    )
