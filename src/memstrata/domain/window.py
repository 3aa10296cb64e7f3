"""A host's message list as one kind of value: OpenAI chat, OpenAI responses items, Anthropic blocks, mixed.

Nothing of the host's is ever changed: what becomes of a message is a new one, and the others are passed
on as they are. What is in none of the known shapes is carried along untouched.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal

Kind = Literal["system", "user", "assistant", "result", "other"]
"""`user`: real words of the user; `result`: nothing but tool results; `other`: in no known shape."""
Count = Callable[[str], int]

CONTEXT: Final = "current_task_context"
"""The tag of the block with the graph of the task."""
OTHERS: Final = "other_tasks"
"""The tag of the lines about other tasks, behind it or alone."""
HISTORY: Final = "history_task_context"
"""The tag of the block that stands in front for what was removed."""
_OWN: Final = re.compile(
    rf"<({CONTEXT}|{OTHERS}|{HISTORY})[ >].*</(?:{CONTEXT}|{OTHERS}|{HISTORY})>", re.DOTALL
)
PER_MESSAGE: Final = 4
"""Tokens of a message besides its words: role, separators (OpenAI's own count for its chat format)."""
IMAGE: Final = 1_000
"""Tokens that a picture or a file is taken for; its bytes are no words."""

_SYSTEM: Final = ("system", "developer")
_SIGNED_BLOCKS: Final = ("thinking", "redacted_thinking")
_SIGNED_CALLS: Final = ("extra_content", "thought_signature", "reasoning_details")
_MEDIA: Final = (
    *("image", "image_url", "input_image", "input_audio", "audio", "document", "file"),
    *("input_file", "video", "video_url"),
)
_TEXTS: Final = ("text", "input_text", "output_text", "refusal", "summary_text")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool; `arguments` as JSON text, `at` its number among the calls of its message."""

    id: str
    name: str
    arguments: str
    at: int


@dataclass(frozen=True)
class Result:
    """What a call came to. `at` is the block it stands in, None where it is the whole message."""

    id: str
    text: str
    at: int | None = None

    @cached_property
    def digest(self) -> str:
        """The hash of the text: an id may be used twice."""
        return digest(self.text)


@dataclass(frozen=True, slots=True)
class Item:
    """One message. `identity` is the same at every later call, whatever was folded in it meanwhile.

    `signed`: it holds thinking or reasoning that its provider checks, so it is kept as it is or
    removed whole. `words` are its other texts, `media` the number of pictures and files.
    """

    index: int
    identity: str
    kind: Kind
    words: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    signed: bool = False
    thinks: bool = False
    media: int = 0

    def tokens(self, count: Count) -> int:
        """What it takes of the window."""
        texts = [*self.words, *(one.text for one in self.results)]
        for call in self.calls:
            texts += call.name, call.arguments
        return PER_MESSAGE + IMAGE * self.media + sum(map(count, texts))


@dataclass(frozen=True)
class Window:
    """A list without our own blocks. `units` are the items that must stay together, by their numbers.

    `folded`: our block for what was removed stood in the list, so the host keeps what it was given.
    """

    messages: tuple[object, ...]
    items: tuple[Item, ...]
    units: tuple[tuple[int, ...], ...]
    folded: bool = False

    @cached_property
    def last_user(self) -> int:
        """The number of the last real user message, -1 for none."""
        users = (one.index for one in reversed(self.items) if one.kind == "user")
        return next(users, -1)

    @cached_property
    def lead(self) -> int:
        """How many system messages stand in front."""
        others = (one.index for one in self.items if one.kind != "system")
        return next(others, len(self.items))

    @property
    def results(self) -> list[tuple[Item, Result]]:
        """Every result with its message, in order."""
        return [(item, one) for item in self.items for one in item.results]

    @cached_property
    def calls(self) -> dict[str, Call]:
        """The calls by id; of an id used twice the newest."""
        return {call.id: call for item in self.items for call in item.calls}


def digest(text: str) -> str:
    """16 hexadecimal digits of a text's hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# -- reading ----------------------------------------------------------------------------------------


def view(messages: Iterable[object]) -> Window:
    """`messages` as a window. Anything can be looked at; nothing raises."""
    kept: list[object] = []
    read: list[Item] = []
    seen: dict[str, int] = {}
    folded = False
    for raw in messages:
        ours = own_block(raw)
        if ours:
            folded = folded or ours == HISTORY
            continue
        item = _item(raw, len(kept))
        number = seen[item.identity] = seen.get(item.identity, 0) + 1
        if number > 1:
            item = replace(item, identity=f"{item.identity}#{number}")
        kept.append(raw)
        read.append(item)
    return Window(tuple(kept), tuple(read), _units(read), folded)


def own_block(raw: object) -> str:
    """The tag of a message that is a block of ours and nothing else, `""` for any other."""
    fields = _fields(raw)
    if fields is None or fields.get("role") != "user":
        return ""
    content = fields.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str) and len(content) == 1:
        block = _fields(content[0])
        content = block.get("text") if block else None
    if not isinstance(content, str):
        return ""
    found = _OWN.fullmatch(content.strip())
    return found[1] if found else ""


def _fields(raw: object) -> Mapping[str, Any] | None:
    """A message or a block as a mapping; the objects of the providers' libraries know how."""
    if isinstance(raw, Mapping):
        return raw
    dump = getattr(raw, "model_dump", None)
    if not callable(dump):
        return None
    found = dump(exclude_none=True)
    return found if isinstance(found, Mapping) else None


def _item(raw: object, index: int) -> Item:
    fields = _fields(raw)
    if fields is None:
        return Item(index, f"odd {digest(repr(raw))}", "other", (repr(raw),))
    kind, role = fields.get("type"), fields.get("role")
    if isinstance(kind, str) and kind not in ("message", "") and not isinstance(role, str):
        return _response_item(fields, kind, index)
    if not isinstance(role, str):
        return _odd(fields, index)
    if role in ("tool", "function"):
        result = Result(_id(fields, "tool_call_id", "name"), flat(fields.get("content")))
        return Item(index, f"result {result.id}", "result", results=(result,))
    return _message(fields, role, index)


def _odd(fields: Mapping[str, Any], index: int) -> Item:
    text = _json(fields)
    return Item(index, f"odd {digest(text)}", "other", (text,))


def _response_item(fields: Mapping[str, Any], kind: str, index: int) -> Item:
    """An item of OpenAI's responses: a call, its output, reasoning, or what only its provider reads."""
    if kind.endswith("_call_output"):
        result = Result(_id(fields, "call_id", "id"), flat(fields.get("output")))
        return Item(index, f"result {result.id}", "result", results=(result,))
    if kind in ("function_call", "custom_tool_call"):
        given = fields.get("arguments") if kind == "function_call" else fields.get("input")
        call = Call(_id(fields, "call_id", "id"), str(fields.get("name") or ""), flat(given), 0)
        return Item(index, f"call {call.id}", "assistant", calls=(call,))
    text = _json(fields)
    if kind == "reasoning":
        name = f"reasoning {fields.get('id') or digest(text)}"
        return Item(index, name, "assistant", (text,), signed=True, thinks=True)
    if kind.endswith("_call") and isinstance(fields.get("call_id"), str):
        call = Call(_id(fields, "call_id", "id"), kind, text, 0)
        return Item(index, f"call {call.id}", "assistant", calls=(call,), signed=True)
    return _odd(fields, index)


def _message(fields: Mapping[str, Any], role: str, index: int) -> Item:
    words: list[str] = []
    calls: list[Call] = []
    results: list[Result] = []
    media, signed = 0, False
    content = fields.get("content")
    for at, block in enumerate(_blocks(content)):
        kind = block.get("type")
        if kind == "tool_use":
            calls.append(_used(block, len(calls)))
        elif kind == "tool_result":
            results.append(Result(_id(block, "tool_use_id"), flat(block.get("content")), at))
        elif kind in _MEDIA:
            media += 1
        elif kind in _TEXTS:
            words.append(flat(block.get(kind if kind == "refusal" else "text")))
        else:
            signed = signed or kind in _SIGNED_BLOCKS
            words.append(_json(block))
    calls += _chat_calls(fields, len(calls))
    if isinstance(content, str):
        words.append(content)
    if calls and not signed:
        told = _json(fields.get("tool_calls"))
        signed = any(name in told for name in _SIGNED_CALLS)
    if fields.get("reasoning_content"):
        words.append(flat(fields["reasoning_content"]))
    item = Item(
        index, "", _kind(role, words, results, media), tuple(words), tuple(calls), tuple(results)
    )
    return replace(item, identity=_identity(item, role), signed=signed, media=media)


def _identity(item: Item, role: str) -> str:
    """By its calls and results where it has some: their texts may be folded by the next time."""
    ids = [f"call {one.id}" for one in item.calls] + [f"result {one.id}" for one in item.results]
    return " ".join(ids) or f"{role} {digest(chr(0).join(item.words))}"


def _kind(role: str, words: Sequence[str], results: Sequence[Result], media: int) -> Kind:
    if role in _SYSTEM:
        return "system"
    if role == "assistant":
        return "assistant"
    if role != "user":
        return "other"
    spoken = media or any(one.strip() for one in words)
    return "result" if results and not spoken else "user"


def _blocks(content: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        for one in content:
            yield (
                {"type": "text", "text": one}
                if isinstance(one, str)
                else _fields(one)
                or {
                    "type": "odd",
                    "text": repr(one),
                }
            )


def _used(block: Mapping[str, Any], at: int) -> Call:
    return Call(_id(block, "id"), str(block.get("name") or ""), _json(block.get("input")), at)


def _chat_calls(fields: Mapping[str, Any], first: int) -> list[Call]:
    found: list[Call] = []
    given = fields.get("tool_calls")
    for raw in given if isinstance(given, Sequence) and not isinstance(given, str) else ():
        call = _fields(raw) or {}
        function = _fields(call.get("function")) or _fields(call.get("custom")) or {}
        arguments = function.get("arguments", function.get("input"))
        name = str(function.get("name") or "")
        found.append(Call(_id(call, "id"), name, flat(arguments), first + len(found)))
    old = _fields(fields.get("function_call"))
    if old is not None:
        name = str(old.get("name") or "")
        found.append(Call(name, name, flat(old.get("arguments")), first + len(found)))
    return found


def _id(fields: Mapping[str, Any], *names: str) -> str:
    for name in names:
        found = fields.get(name)
        if isinstance(found, str | int) and str(found):
            return str(found)
    return f"anonymous-{digest(_json(fields))}"


def flat(content: object) -> str:
    """The text of a content: texts joined, anything else as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    blocks = list(_blocks(content))
    if blocks and all(block.get("type") in _TEXTS for block in blocks):
        return "\n".join(flat(block.get("text")) for block in blocks)
    return _json(content)


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _plain(value: object) -> object:
    fields = _fields(value)
    return repr(value) if fields is None else dict(fields)


# -- what belongs together --------------------------------------------------------------------------


def _units(items: Sequence[Item]) -> tuple[tuple[int, ...], ...]:
    """Calls with their results, reasoning with what follows it, calls that were made at once."""
    home = list(range(len(items)))

    def root(index: int) -> int:
        while home[index] != index:
            index = home[index]
        return index

    def join(one: int, other: int) -> None:
        first, second = sorted((root(one), root(other)))
        home[second] = first

    open_calls: dict[str, int] = {}
    for item in items:
        for result in item.results:
            if result.id in open_calls:
                join(open_calls[result.id], item.index)
        for call in item.calls:
            open_calls[call.id] = item.index
    for one, following in pairwise(items):
        if one.thinks or (_is_bare_call(one) and _is_bare_call(following)):
            join(one.index, following.index)
    units: dict[int, list[int]] = {}
    for index in range(len(items)):
        units.setdefault(root(index), []).append(index)
    return tuple(tuple(unit) for unit in units.values())


def _is_bare_call(item: Item) -> bool:
    return item.kind == "assistant" and bool(item.calls) and not item.words


# -- writing ----------------------------------------------------------------------------------------


def rewritten(
    raw: object, item: Item, results: Mapping[int | None, str], arguments: Mapping[int, str]
) -> object:
    """A copy of a message with other results (by their place) and other arguments (by call)."""
    fields = dict(_fields(raw) or {})
    if None in results:
        key = "content" if "role" in fields else "output"
        fields[key] = results[None]
    content = fields.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        fields["content"] = _blocks_anew(content, results, arguments)
    if arguments and item.calls:
        _calls_anew(fields, item, arguments)
    return fields


def _blocks_anew(
    content: Sequence[object], results: Mapping[int | None, str], arguments: Mapping[int, str]
) -> list[object]:
    found: list[object] = []
    calls = 0
    for at, raw in enumerate(content):
        block = _fields(raw)
        if block is not None and block.get("type") == "tool_use":
            if calls in arguments:
                found.append({**block, "input": json.loads(arguments[calls])})
            else:
                found.append(raw)
            calls += 1
        elif block is not None and at in results:
            found.append({**block, "content": results[at]})
        else:
            found.append(raw)
    return found


def _calls_anew(fields: dict[str, Any], item: Item, arguments: Mapping[int, str]) -> None:
    if fields.get("type") == "function_call" and 0 in arguments:
        fields["arguments"] = arguments[0]
    given = fields.get("tool_calls")
    if isinstance(given, Sequence) and not isinstance(given, str):
        first = len(item.calls) - len(given)
        calls: list[object] = []
        for at, raw in enumerate(given, start=first):
            call = _fields(raw)
            if call is not None and at in arguments and "function" in call:
                function = {**(_fields(call["function"]) or {}), "arguments": arguments[at]}
                calls.append({**call, "function": function})
            else:
                calls.append(raw)
        fields["tool_calls"] = calls


def compacted(arguments: str, ref: str, longest: int = 200, shown: int = 80) -> str:
    """The arguments of a call with their long texts cut, still JSON; the same where there is none.

    `ref` leads to the whole of them.
    """
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments

    def cut(value: Any) -> Any:
        if isinstance(value, str) and len(value) > longest:
            return f"{value[:shown]}… [{len(value) - shown} characters more: {ref}:arguments]"
        if isinstance(value, dict):
            return {name: cut(one) for name, one in value.items()}
        if isinstance(value, list):
            return [cut(one) for one in value]
        return value

    if not isinstance(given, dict):
        return arguments
    found = cut(given)
    return arguments if found == given else json.dumps(found, ensure_ascii=False)
