"""What a model may answer, read item by item: a good one is kept, a bad one reported with its number and why.

The schemas that go out are written by hand: short, without unions and references, so that strict
providers and small grammars take them. What comes back is read more leniently than they say.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from memstrata.domain.candidate import Change
from memstrata.domain.canvas.graph import STATUSES, Status
from memstrata.domain.memory import MAX_BODY, MAX_ENTITIES, MAX_NAME, TYPE_ALIASES, TYPES, Type
from memstrata.domain.persona import LAYERS, Layer
from memstrata.domain.ruling import RULINGS, Ruling
from memstrata.domain.scope import SCOPES, Scope
from memstrata.domain.staging import Do
from memstrata.prompts import loose_json
from memstrata.prompts.template import one_line

RULING_ALIASES: Final[Mapping[str, Ruling]] = {"store": "add", "skip": "noop"}

Op = Literal[
    "add_node", "set_status", "set_summary", "link", "merge", "assign", "progress", "patch"
]
OPS: Final[tuple[Op, ...]] = get_args(Op)
OPERATION_ALIASES: Final[Mapping[str, str]] = {
    "operation": "op",
    "type": "op",
    "action": "op",
    "id": "node",
    "node_id": "node",
    "name": "node",
    "source": "node",
    "from": "node",
    "to": "target",
    "title": "label",
    "tool_call_ids": "calls",
    "tool_calls": "calls",
    "tool_call_id": "calls",
}
STATUS_ALIASES: Final[Mapping[str, Status]] = {
    "completed": "done",
    "complete": "done",
    "finished": "done",
    "success": "done",
    "succeeded": "done",
    "in_progress": "doing",
    "active": "doing",
    "running": "doing",
    "ongoing": "doing",
    "on_hold": "paused",
    "waiting": "paused",
    "failed": "blocked",
    "error": "blocked",
    "dead_end": "blocked",
}
"""Never a plan's word (todo, pending): a node is what happened."""

_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_DAY: Final = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[T ]\d\d:.*)?", re.DOTALL)
_NOTHING: Final = frozenset(("", "null", "none", "n/a", "unknown"))


def _clean(value: object) -> object:
    """Text that a memory can hold: no control character, no half of a character."""
    return _CONTROL.sub(" ", value).strip() if isinstance(value, str) else value


def _line(value: object) -> object:
    found = _clean(value)
    return one_line(found) if isinstance(found, str) else found


def _word(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _type(value: object) -> object:
    word = _word(value)
    return TYPE_ALIASES.get(word, word) if isinstance(word, str) else word


def _ruling(value: object) -> object:
    word = _word(value)
    return RULING_ALIASES.get(word, word) if isinstance(word, str) else word


def _whole(value: object) -> object:
    """80.0 and "80" are 80."""
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,9}(?:\.0+)?\s*", value):
        return int(float(value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _score(value: object) -> object:
    """8, 8.4, "8" and "8/10" are 8; beyond the ends is at them."""
    if isinstance(value, str) and (
        found := re.fullmatch(r"\s*(\d{1,4}(?:\.\d+)?)\s*(?:/\s*10\s*)?", value)
    ):
        value = float(found[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return value
    return round(min(10.0, max(0.0, value)))


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _op(value: object) -> object:
    """An operation's name however it is written: `addNode`, `add-node`, `update_status`."""
    if not isinstance(value, str):
        return value
    bare = (
        re.sub(r"[^a-z]+", "", value.lower()).replace("update", "set").replace("replace", "patch")
    )
    forms = {form: op for op in OPS for form in _op_forms(op)}
    return forms.get(bare, value)


def _op_forms(op: Op) -> tuple[str, str, str]:
    bare = _bare(op)
    return bare, bare.removeprefix("set"), bare.removesuffix("node")


def _status(value: object) -> object:
    word = _word(value)
    return STATUS_ALIASES.get(re.sub(r"[\s-]+", "_", word), word) if isinstance(word, str) else word


def _call_ids(value: object) -> object:
    found = _some(value)
    if not isinstance(found, list):
        return found
    lines = [_line(_number_as_text(one)) for one in found]
    return list(dict.fromkeys(line for line in lines if isinstance(line, str) and line))[:200]


def _some(value: object) -> object:
    """A list where one thing may stand for itself."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [value] if isinstance(value, Mapping) else value


def _names(value: object) -> object:
    found = _some(value)
    if not isinstance(found, list):
        return found
    names = [_line(one) for one in found if isinstance(one, str)]
    kept = [name for name in names if isinstance(name, str) and 0 < len(name) <= MAX_NAME]
    return list(dict.fromkeys(kept))[:MAX_ENTITIES]


def _ids(value: object) -> object:
    found = _some(value)
    if not isinstance(found, list):
        return found
    return list(
        dict.fromkeys(one_line(one).strip("[]() ") for one in found if isinstance(one, str))
    )


def _day(value: object, *, last: bool) -> object:
    """A day; a month or a year alone stands for its first or `last` day."""
    if not isinstance(value, str):
        return value
    parts = _DAY.fullmatch(value.strip())
    if parts is None or parts[3]:
        return parts[0].strip()[:10] if parts else value
    year, month = int(parts[1]), int(parts[2] or (12 if last else 1))
    if not (year >= 1 and 1 <= month <= 12):
        return value
    return date(year, month, calendar.monthrange(year, month)[1] if last else 1)


Text = Annotated[str, BeforeValidator(_clean)]
Line = Annotated[str, BeforeValidator(_line)]
FirstDay = Annotated[date | None, BeforeValidator(lambda value: _day(value, last=False))]
LastDay = Annotated[date | None, BeforeValidator(lambda value: _day(value, last=True))]


class Item(BaseModel):
    """Unknown fields are passed over; what says nothing (null, "", "none") counts as left out."""

    # Built when a model first answers.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _said(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        fields = {_bare(name): name for name in cls.model_fields}
        named = {fields.get(_bare(str(name)), str(name)): inner for name, inner in value.items()}
        return {
            name: inner
            for name, inner in cls._named(named).items()
            if inner is not None
            and not (isinstance(inner, str) and inner.strip().lower() in _NOTHING)
        }

    @classmethod
    def _named(cls, fields: Mapping[str, object]) -> Mapping[str, object]:
        """`fields` under the names that they have here."""
        return fields


class QuoteItem(Item):
    """Where an item is from: the id of a message as it was shown, and words of it."""

    message: Line = Field(min_length=1, max_length=256)
    quote: str = Field(min_length=1)


class CandidateItem(Item):
    """One proposed memory, as the model put it. Nothing in it is believed before the gates have seen it."""

    scope: Annotated[Scope, BeforeValidator(_word)]
    type: Annotated[Type, BeforeValidator(_type)]
    name: Line = Field(min_length=1)
    description: Line = Field(min_length=1, max_length=MAX_BODY)
    evidence: Annotated[tuple[QuoteItem, ...], BeforeValidator(_some)] = Field(
        min_length=1, max_length=20
    )
    body: Text = Field("", max_length=MAX_BODY)
    confidence: float = Field(0.8, ge=0, le=1, allow_inf_nan=False)
    priority: Annotated[int | None, BeforeValidator(_whole)] = Field(None, ge=-1, le=100)
    entities: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    subject: Line = Field("user", max_length=MAX_NAME)
    slot: Line = Field("", max_length=MAX_NAME)
    change: Annotated[Change, BeforeValidator(_word)] = "states"
    scene: Line = Field("", max_length=MAX_BODY)
    happened_from: FirstDay = None
    happened_until: LastDay = None
    valid_until: LastDay = None


class SummaryItem(Item):
    """What stands for one tool result, and how well it can take its place (0 to 10)."""

    tool_call_id: Annotated[Line, BeforeValidator(_number_as_text)] = Field(
        min_length=1, max_length=256
    )
    summary: Line = Field(min_length=1, max_length=4_000)
    score: Annotated[int, BeforeValidator(_score)] = Field(5, ge=0, le=10)


class BoundaryItem(Item):
    """Whether a prompt ends a task, goes on with one, or begins one."""

    taskCompleted: bool
    isLongTask: bool
    isContinuation: bool = False
    continuationGraph: Annotated[Line, BeforeValidator(_number_as_text)] = Field("", max_length=200)
    newTaskLabel: Line = Field("", max_length=200)


class GraphOperationItem(Item):
    """One thing to do to a task graph: which fields it needs depends on `op`."""

    op: Annotated[Op, BeforeValidator(_op)]
    node: Line = Field("", max_length=256)
    label: Line = Field("", max_length=4_000)
    status: Annotated[Status | None, BeforeValidator(_status)] = None
    summary: Line = Field("", max_length=4_000)
    after: Line = Field("", max_length=256)
    target: Line = Field("", max_length=256)
    nodes: Annotated[tuple[str, ...], BeforeValidator(_call_ids)] = ()
    calls: Annotated[tuple[str, ...], BeforeValidator(_call_ids)] = ()
    progress: Annotated[int | None, BeforeValidator(_whole)] = Field(None, ge=-1_000, le=1_000)
    start_line: Annotated[int | None, BeforeValidator(_whole)] = None
    end_line: Annotated[int | None, BeforeValidator(_whole)] = None
    content: Text = Field("", max_length=20_000)

    @classmethod
    def _named(cls, fields: Mapping[str, object]) -> Mapping[str, object]:
        """As other writers name them; what numbers lines is a patch, said or not."""
        found = dict(fields)
        for other, name in OPERATION_ALIASES.items():
            if other in found:
                found.setdefault(name, found.pop(other))
        if "op" not in found and "start_line" in found:
            found["op"] = "patch"
        return found


class DecisionItem(Item):
    """What one candidate, counted from 1, does to what is known; `target` is an id as it was shown."""

    candidate: Annotated[int, BeforeValidator(_whole)] = Field(ge=1)
    decision: Annotated[Ruling, BeforeValidator(_ruling)]
    target: Line = Field("", max_length=256)
    reason: Line = Field("", max_length=2_000)


class ProposalItem(Item):
    """What several memories, named as they were shown, may become: one of them, or a general rule."""

    kind: Annotated[Literal["merge", "elevate"], BeforeValidator(_word)]
    ids: Annotated[tuple[str, ...], BeforeValidator(_ids)] = Field(min_length=2, max_length=50)
    name: Line = Field(min_length=1, max_length=MAX_BODY)
    description: Line = Field(min_length=1, max_length=MAX_BODY)
    body: Text = Field(min_length=1, max_length=MAX_BODY)


class OperationItem(Item):
    """One use of the file tools."""

    do: Annotated[Do, BeforeValidator(_word)]
    file: Line = Field("", max_length=1_000)
    content: Text = Field("", max_length=MAX_BODY)
    old: Text = Field("", max_length=MAX_BODY)
    new: Text = Field("", max_length=MAX_BODY)


class LineItem(Item):
    """One line of a persona, and the ids of what it rests on, as they were shown."""

    layer: Annotated[Layer, BeforeValidator(_word)]
    text: Line = Field(min_length=1, max_length=2_000)
    cites: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()


T = TypeVar("T", bound=Item)


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item that cannot be used: its number in the answer (from 0), why, and its name if it has one."""

    index: int
    reason: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """What an answer holds. `cut`: it ends in the middle; `wanting`: what good items lack, by number."""

    items: tuple[tuple[int, T], ...]
    rejected: tuple[Rejected, ...]
    wanting: tuple[Rejected, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """The form of an answer: an object whose `key` holds a list of `item`s.

    `same` is what tells two items apart; `lacks` says what a good item should still be asked for once.
    """

    key: str
    item: type[T]
    shape: Mapping[str, object]
    same: Callable[[T], object]
    lacks: Callable[[T], str]
    name: str = ""
    """What a prompt calls the form, where its key is another's too."""

    @property
    def schema(self) -> dict[str, object]:
        """The JSON schema of the whole answer."""
        listed = {"type": "array", "items": dict(self.shape)}
        return _object({self.key: listed}, (self.key,))

    def parse(self, text: str) -> Parsed[T] | None:
        """The items in a model's answer; None when it holds no such list."""
        names = {form for name in self.item.model_fields for form in (name.lower(), _snake(name))}
        found = loose_json.find(text, self.key, names)
        if found is None:
            return None
        items: list[tuple[int, T]] = []
        rejected: list[Rejected] = []
        for index, value in enumerate(found.values):
            if isinstance(value, loose_json.Broken):
                rejected.append(Rejected(index, value.reason))
                continue
            try:
                items.append((index, self.item.model_validate(value)))
            except ValidationError as error:
                rejected.append(Rejected(index, _why(error), _name(value)))
        wanting = [
            Rejected(index, lack, getattr(item, "name", ""))
            for index, item in items
            if (lack := self.lacks(item))
        ]
        return Parsed(tuple(items), tuple(rejected), tuple(wanting), found.cut)


def _bare(name: str) -> str:
    """A field's name however it is written: `newTaskLabel`, `new_task_label`, `New task label`."""
    return re.sub(r"[\s_-]+", "", name).lower()


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _name(value: object) -> str:
    name = value.get("name") if isinstance(value, Mapping) else None
    return str(_line(name))[:MAX_NAME] if isinstance(name, str) else ""


def _why(error: ValidationError) -> str:
    """Every fault, without the words that were given: those are the conversation's."""
    faults = [
        f"{'.'.join(map(str, one['loc'])) or 'item'}: {one['msg']}"
        for one in error.errors(include_input=False, include_url=False)
    ]
    return "; ".join(faults[:6])


def _object(properties: Mapping[str, object], required: Sequence[str]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


_TEXT: Final[dict[str, Any]] = {"type": "string"}
_FLAG: Final[dict[str, Any]] = {"type": "boolean"}


def _lacks_reason(item: CandidateItem) -> str:
    """A rule or decision carries why and how to apply it, when that was said."""
    if item.type not in ("feedback", "project") or item.body:
        return ""
    return 'body: add "**Why:** … **How to apply:** …" if it was said, else leave it out again'


CANDIDATES: Final = Form(
    key="candidates",
    item=CandidateItem,
    shape=_object(
        {
            "scope": {"type": "string", "enum": list(SCOPES)},
            "type": {"type": "string", "enum": list(TYPES)},
            "name": _TEXT,
            "description": _TEXT,
            "evidence": {
                "type": "array",
                "items": _object({"message": _TEXT, "quote": _TEXT}, ("message", "quote")),
            },
            "confidence": {"type": "number"},
            "priority": {"type": "integer"},
            "entities": {"type": "array", "items": _TEXT},
            "subject": _TEXT,
            "slot": _TEXT,
            "change": {"type": "string", "enum": ["states", "ends"]},
            "scene": _TEXT,
            "body": _TEXT,
            "happened_from": _TEXT,
            "happened_until": _TEXT,
            "valid_until": _TEXT,
        },
        ("scope", "type", "name", "description", "evidence", "confidence"),
    ),
    same=lambda item: (item.scope, item.name.casefold(), item.description.casefold()),
    lacks=_lacks_reason,
)

DECISIONS: Final = Form(
    key="decisions",
    item=DecisionItem,
    shape=_object(
        {
            "candidate": {"type": "integer"},
            "decision": {"type": "string", "enum": list(RULINGS)},
            "target": _TEXT,
            "reason": _TEXT,
        },
        ("candidate", "decision", "target", "reason"),
    ),
    same=lambda item: item.candidate,
    lacks=lambda _: "",
)

PROPOSALS: Final = Form(
    key="proposals",
    item=ProposalItem,
    shape=_object(
        {
            "kind": {"type": "string", "enum": ["merge", "elevate"]},
            "ids": {"type": "array", "items": _TEXT},
            "name": _TEXT,
            "description": _TEXT,
            "body": _TEXT,
        },
        ("kind", "ids", "name", "description", "body"),
    ),
    same=lambda item: (item.kind, item.ids),
    lacks=lambda _: "",
)

OPERATIONS: Final = Form(
    key="operations",
    item=OperationItem,
    shape=_object(
        {
            "do": {"type": "string", "enum": list(get_args(Do))},
            "file": _TEXT,
            "content": _TEXT,
            "old": _TEXT,
            "new": _TEXT,
        },
        ("do",),
    ),
    same=lambda item: (item.do, item.file, item.content, item.old, item.new),
    lacks=lambda _: "",
)

LINES: Final = Form(
    key="lines",
    item=LineItem,
    shape=_object(
        {
            "layer": {"type": "string", "enum": list(LAYERS)},
            "text": _TEXT,
            "cites": {"type": "array", "items": _TEXT},
        },
        ("layer", "text", "cites"),
    ),
    same=lambda item: item.text.casefold(),
    lacks=lambda _: "",
)

ENTRIES: Final = Form(
    key="entries",
    item=SummaryItem,
    shape=_object(
        {"tool_call_id": _TEXT, "summary": _TEXT, "score": {"type": "integer"}},
        ("tool_call_id", "summary", "score"),
    ),
    same=lambda item: item.tool_call_id,
    lacks=lambda _: "",
)

BOUNDARY: Final = Form(
    key="boundary",
    item=BoundaryItem,
    shape=_object(
        {
            "taskCompleted": _FLAG,
            "isLongTask": _FLAG,
            "isContinuation": _FLAG,
            "continuationGraph": _TEXT,
            "newTaskLabel": _TEXT,
        },
        ("taskCompleted", "isLongTask", "isContinuation", "continuationGraph", "newTaskLabel"),
    ),
    same=lambda _: "the one there is",
    lacks=lambda _: "",
)

GRAPH_OPERATIONS: Final = Form(
    key="operations",
    name="graph_operations",
    item=GraphOperationItem,
    shape=_object(
        {
            "op": {"type": "string", "enum": list(OPS)},
            "node": _TEXT,
            "label": _TEXT,
            "status": {"type": "string", "enum": list(STATUSES)},
            "summary": _TEXT,
            "after": _TEXT,
            "target": _TEXT,
            "nodes": {"type": "array", "items": _TEXT},
            "calls": {"type": "array", "items": _TEXT},
            "progress": {"type": "integer"},
            "start_line": {"type": "integer"},
            "end_line": {"type": "integer"},
            "content": _TEXT,
        },
        ("op",),
    ),
    same=lambda item: item,
    lacks=lambda _: "",
)

FORMS: Final[Mapping[str, Form[Any]]] = {
    form.name or form.key: form
    for form in (
        CANDIDATES,
        DECISIONS,
        PROPOSALS,
        OPERATIONS,
        LINES,
        ENTRIES,
        BOUNDARY,
        GRAPH_OPERATIONS,
    )
}
"""The forms by the name that a prompt file's `answer` gives them."""
