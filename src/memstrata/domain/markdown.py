"""A memory as a Markdown file: YAML front matter and the body.

Front matter is read as plain text values and typed by us: YAML's own guesses would turn the name
`no` into false and `2026-10-31` into a date.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final

from memstrata.domain import checks, codec
from memstrata.domain.memory import MAX_DESCRIPTION, MAX_NAME, Memory, shorten, tidy
from memstrata.domain.scope import Key
from memstrata.errors import Corrupt, Invalid

if TYPE_CHECKING:
    import yaml

_FRONT: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENED: Final = re.compile(r"\A---[ \t]*\r?\n[\w-]+:(?:\s|\Z)")
_MERGE_MARK: Final = re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE)
_LIKE_MARK: Final = re.compile(r"^(\\*)(?=<{7} |>{7} )", re.MULTILINE)
_ESCAPED_MARK: Final = re.compile(r"^\\(?=\\*(?:<{7} |>{7} ))", re.MULTILINE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DEEPEST: Final = 16
"""How deep unknown front matter may nest: what is read must be writable again."""
_STEM: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


def render(memory: Memory, *, owner: str = "", ref: str | None = None, quotes: bool = True) -> str:
    """The file of `memory`; see `codec.to_fields` for `owner`, `ref` and `quotes`."""
    fields = codec.to_fields(memory, owner=owner, ref=ref, quotes=quotes)
    body = fields.pop("body", "")
    return with_front(fields, str(body))


def with_front(fields: Mapping[str, object], body: str) -> str:
    """Fields as front matter, and a body."""
    import yaml  # a tenth of a start-up, and most turns neither write nor read a memory's file

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    front = yaml.dump(dict(fields), Dumper=dumper, allow_unicode=True, sort_keys=False, width=2**20)
    # A body may talk about merge conflicts; a backslash (Markdown's own) keeps it from looking like one.
    shown = _LIKE_MARK.sub(r"\\\1", body)
    return f"---\n{front}---\n" + (f"\n{shown}\n" if shown else "")


def fields_of(text: str) -> dict[str, object]:
    """The fields of a text that `with_front` made and a person edited, as plain texts, `body` among them.

    Raises:
        Invalid: it has no front matter, or one that cannot be read.
    """
    try:
        text = _decoded(text.encode("utf-8", "replace"), "the text")
        front = _FRONT.match(text)
        if front is None:
            raise Invalid("text", "has no fields between two lines of ---")
        body = _ESCAPED_MARK.sub("", tidy(text[front.end() :]))
        return {**_front(front[1], "the text"), **({"body": body} if body else {})}
    except Corrupt as error:
        raise Invalid("text", str(error)) from error


def digest(data: bytes) -> str:
    """The content hash of a file's bytes: with the version it is what compare-and-swap compares."""
    return hashlib.sha256(data).hexdigest()[:32]


def parse(data: bytes, path: str, key: Key, *, now: datetime, zone: tzinfo) -> Memory:
    """The memory in a file's bytes. `path` names it in errors; its stem is the name of a file without front matter.

    Raises:
        Corrupt: empty, not UTF-8, merge-conflict markers, front matter that is no YAML or never ends, a field
            that is wrong.
    """
    text = _decoded(data, path)
    if not text.strip():
        raise Corrupt(path, "is empty; delete the file if the memory is to go")
    stem = path.rpartition("/")[2].removesuffix(".md")
    front = _FRONT.match(text)
    fields, body = (_front(front[1], path), text[front.end() :]) if front else ({}, text)
    fields = {"name": stem[:MAX_NAME], **fields, "body": _ESCAPED_MARK.sub("", tidy(body))}
    if not fields.get("description"):
        fields |= _described(str(fields["body"]), stem)
    try:
        return codec.from_fields(fields, key, id=id_of(stem), now=now, zone=zone)
    except Invalid as error:
        line = _line_of(text, front.end() if front else 0, error.field)
        raise Corrupt(path, str(error), line) from error


def names_itself(data: bytes) -> bool:
    """Whether a file's front matter names its id: then nobody wrote the same bytes by hand a second time."""
    front = _FRONT.match(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    return front is not None and re.search(r"^id:", front[1], re.MULTILINE) is not None


def id_of(stem: str) -> str:
    """The id of a file that names none: its stem where that is an id, else a hash of it."""
    return (
        stem if _STEM.fullmatch(stem) else f"mem_{hashlib.sha256(stem.encode()).hexdigest()[:26]}"
    )


def _decoded(data: bytes, path: str) -> str:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt(path, "is not UTF-8", error.object[: error.start].count(b"\n") + 1) from error
    mark = _MERGE_MARK.search(text)
    if mark and {line[:7] for line in _MERGE_MARK.findall(text)} >= {"<<<<<<<", ">>>>>>>"}:
        raise Corrupt(path, "holds merge-conflict markers", text.count("\n", 0, mark.start()) + 1)
    if _OPENED.match(text) and not _FRONT.match(text):
        raise Corrupt(path, "front matter is opened with --- and never closed", 1)
    return text


def _front(front: str, path: str) -> dict[str, object]:
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if "*" in front:
            _refuse_aliases(yaml.parse(front, Loader=loader), path)
        found = yaml.load(front, Loader=loader)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise Corrupt(
            path, f"front matter is no YAML: {problem}", _yaml_line(error, front)
        ) from error
    except RecursionError as error:
        raise Corrupt(path, "front matter nests too deep", 2) from error
    if found in (None, ""):
        return {}
    if not isinstance(found, Mapping):
        raise Corrupt(path, "front matter is no mapping of fields", 2)
    if _depth(found) > _DEEPEST:
        raise Corrupt(path, f"front matter nests deeper than {_DEEPEST}", 2)
    return {str(name): value for name, value in found.items()}


def _refuse_aliases(events: Iterable[Any], path: str) -> None:
    """An alias can stand for itself or, nested, for more than any memory holds; nobody needs one here."""
    from yaml import AliasEvent

    for event in events:
        if isinstance(event, AliasEvent):
            line = event.start_mark.line + 2 if event.start_mark else 2
            raise Corrupt(path, f"front matter uses the YAML alias *{event.anchor}", line)


def _yaml_line(error: yaml.YAMLError, front: str) -> int | None:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 2
    control = _CONTROL.search(front)
    return front.count("\n", 0, control.start()) + 2 if control else None


def _depth(value: object) -> int:
    inner = (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    )
    return 1 + max(map(_depth, inner), default=0)


def _described(body: str, stem: str) -> dict[str, object]:
    """The first line as description; one that has to be cut stays whole in the body."""
    first, _, rest = body.strip().partition("\n")
    line = first.lstrip("#").strip()
    if not line:
        return {"description": stem}
    if len(line) <= MAX_DESCRIPTION:
        return {"description": line, "body": rest.strip("\n")}
    return {"description": shorten(line, "")[0]}


def _line_of(text: str, body: int, field: str) -> int:
    """Where `field` stands; the body begins at character `body`. What stands nowhere is missing at the top."""
    top = re.split(r"[.\[]", field)[0]
    found = re.compile(rf"^{re.escape(top)}:", re.MULTILINE).search(text, 0, body)
    if found is None:
        found = _CONTROL.search(text, body)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def index(memories: list[tuple[str, Memory]]) -> str:
    """`MEMORY.md` of (file name, memory) pairs: one line each, in a stable order."""
    lines = [
        f"- [{_plain(memory.name)}]({name}) — {_plain(memory.description)}"
        for name, memory in sorted(memories, key=lambda pair: (pair[1].name.casefold(), pair[0]))
    ]
    return "".join(f"{line}\n" for line in lines)


_NO_MARKUP: Final = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›"})


def _plain(text: str) -> str:
    return " ".join(text.translate(_NO_MARKUP).split())


def checked_name(name: str) -> str:
    """A name as `add` takes it: one line, at most 120 characters.

    Raises:
        Invalid: it is empty or too long.
    """
    return " ".join(checks.text("name", name, most=MAX_NAME).split())
