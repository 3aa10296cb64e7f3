"""The way back: from a ref, a node or a graph to the full text; which tasks there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from memstrata.domain import checks, insertion
from memstrata.domain.canvas import Graph, file_name, render
from memstrata.domain.insertion import REMOVED, Task
from memstrata.domain.offload_state import Kept, Session
from memstrata.domain.scope import Realm
from memstrata.errors import Invalid, NotFound
from memstrata.pipelines import sessions
from memstrata.pipelines.offload import archive
from memstrata.pipelines.offload.host import Host
from memstrata.pipelines.sessions import Spot, Standing
from memstrata.pipelines.world import World

Within = Literal["session", "workspace"]
SCOPES: Final = ("session", "workspace")
MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 60_000
"""Of one answer."""
WIDE: Final = 2_000
"""Characters of a line; what is longer counts as several."""
ARGUMENTS: Final = ":arguments"
"""Behind a tool_call_id: the arguments of the call instead of its result."""
_BREAKS: Final = re.compile(rf"[^\n]{{0,{WIDE - 1}}}(?:\n|[^\n]|\Z)")


class Recalled(str):
    """An archived text, or the part of it that was asked for.

    Where that is all and nothing was masked, it is the text and nothing else. `lines` is how many there
    are in all, `start` and `shown` which of them these are, `masked` the secrets that were not kept.
    """

    lines: int
    start: int
    shown: int
    masked: int

    __slots__ = ("lines", "masked", "shown", "start")


@dataclass(frozen=True, slots=True)
class Opened:
    """A task graph: its file, its text, and the results of each node (by tool_call_id)."""

    file: str
    text: str
    goal: str
    results: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A text that a ref leads to, with a line that says what it is."""

    title: str
    text: str
    masked: int


def recall(
    world: World,
    host: Host,
    ref: object,
    *,
    start: int = 1,
    lines: int = 200,
    grep: str | None = None,
) -> Recalled:
    """What a ref leads to: `lines` of it from line `start` on, or those that hold the text `grep`.

    A ref is a tool_call_id, a result_ref, a node or a graph's file; of another session of the workspace
    with its folder in front (`<session>/<ref>`). `<tool_call_id>:arguments` are the call's arguments,
    `removed` the words of messages that were removed. Of several results each has a line that names it.

    Raises:
        Invalid: an argument that is wrong.
        NotFound: nothing is archived under that ref.
        Unavailable: it cannot be read.
    """
    wanted = checks.string("ref", ref)
    first, most = _whole("start", start, 2**53), _whole("lines", lines, MOST_LINES)
    found = list(_sources(world, host, wanted))
    if not found:
        raise NotFound("ref", wanted)
    masked = sum(one.masked for one in found)
    if grep is not None and checks.string("grep", grep):
        return _grepped(found, grep, first, most, masked)
    whole = found[0].text if len(found) == 1 else "\n".join(f"{s.title}\n{s.text}" for s in found)
    return _bounded(whole, first, most, masked)


def text(world: World, host: Host, ref: object) -> str:
    """The whole of one archived result, character for character.

    Raises:
        NotFound: nothing is archived under that ref.
        Unavailable: it cannot be read.
    """
    wanted = checks.string("ref", ref)
    for one in _sources(world, host, wanted):
        return one.text
    raise NotFound("ref", wanted)


def _whole(field: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(field, f"{checks.shown(value)} is not between 1 and {most}")
    return value


# -- which texts ------------------------------------------------------------------------------------


def _sources(world: World, host: Host, wanted: str) -> Iterator[_Source]:
    standing = sessions.stand(world, host.spot, host.standing)
    host.standing = standing
    bare = wanted.strip(" \t\r\n\"'`[]")
    for form in dict.fromkeys((wanted, bare)):
        here = list(_of_session(world, standing, form))
        if here:
            yield from here
            return
    wanted = bare
    folder, slash, rest = wanted.partition("/")
    if slash:
        for spot in _spots(world, host, folder):
            yield from _of_session(world, sessions.stand(world, spot), rest)


def _spots(world: World, host: Host, folder: str) -> Iterator[Spot]:
    """The sessions of the same owner and workspace that a folder may be of."""
    for head in world.store.offload_heads(host.spot.realm, host.spot.workspace):
        if head.folder == folder:
            yield Spot(host.spot.realm, head.workspace, head.session)


def _of_session(world: World, standing: Standing, wanted: str) -> Iterator[_Source]:
    session = standing.session
    if wanted == REMOVED or wanted.removeprefix(f"{REMOVED}-").isdecimal():
        yield from _words(world, standing, wanted)
        return
    bare, asks, _ = wanted.rpartition(ARGUMENTS)
    for one in _kept(session, bare if asks else wanted):
        try:
            ref = archive.read(world, standing, one.file)
        except NotFound:
            continue
        said = ref.arguments if asks else ref.text
        yield _Source(f"== {one.key}: {one.entry.tool_call}", said, one.masked)


def _kept(session: Session, wanted: str) -> list[Kept]:
    found = session.by_key.get(wanted)
    if found is not None:
        return [found]
    named = wanted.rpartition("/")[2]
    by_file = [one for one in session.kept if named in (one.file, one.file.removesuffix(".md"))]
    if by_file:
        return by_file
    nodes = {session.home(wanted)} | _nodes_of(session, named)
    at_node = [one for one in session.kept if one.entry.node_id in nodes]
    return at_node or [one for one in session.kept if one.call == wanted]


def _nodes_of(session: Session, file: str) -> set[str]:
    for graph in session.graphs:
        if file in (file_name(graph), file_name(graph).removesuffix(".mmd")):
            return {node.id for node in graph.nodes}
    return set()


def _words(world: World, standing: Standing, wanted: str) -> Iterator[_Source]:
    folder = standing.folder.within(sessions.REFS)
    for name in world.vault.scan(folder) or {}:
        stem = name.removesuffix(".md")
        if stem.startswith(f"{REMOVED}-") and wanted in (REMOVED, stem):
            yield _Source(f"== {stem}", archive.read(world, standing, name).text, 0)


# -- how much of them -------------------------------------------------------------------------------


def _bounded(whole: str, start: int, most: int, masked: int) -> Recalled:
    lines = _lines(whole)
    chosen: list[str] = []
    size = 0
    for line in lines[start - 1 : start - 1 + most]:
        size += len(line)
        if chosen and size > MOST_CHARACTERS:
            break
        chosen.append(line)
    body = "".join(chosen)
    if start > 1 or len(chosen) < len(lines):
        end = start + len(chosen) - 1
        told = f"[lines {start}–{end} of {len(lines)}, {len(whole):,} characters in all"
        more = f"; start={end + 1} goes on]" if end < len(lines) else "]"
        body = f"{body.removesuffix(chr(10))}\n{told}{more}"
    return _recalled(body, len(lines), start, len(chosen), masked)


def _grepped(found: list[_Source], grep: str, start: int, most: int, masked: int) -> Recalled:
    wanted = grep.casefold()
    hits: list[str] = []
    total = 0
    for one in found:
        lines = _lines(one.text)
        total += len(lines)
        mine = [
            f"{number}: {_around(line, wanted)}"
            for number, line in enumerate(lines, start=1)
            if wanted in line.casefold()
        ]
        if mine and len(found) > 1:
            hits.append(one.title)
        hits += mine
    told = sum(not one.startswith("== ") for one in hits)
    chosen = hits[start - 1 : start - 1 + most]
    while len(chosen) > 1 and sum(map(len, chosen)) > MOST_CHARACTERS:
        chosen = chosen[: len(chosen) // 2]
    end = start - 1 + len(chosen)
    more = f"; start={end + 1} goes on" if end < len(hits) else ""
    head = f"[{told} of {total} lines hold {checks.shown(grep)}{more}]"
    return _recalled("\n".join((*chosen, head)), total, start, len(chosen), masked)


def _around(line: str, wanted: str) -> str:
    """A line, or what stands around the words in a long one."""
    line = line.removesuffix("\n")
    at = line.casefold().find(wanted)
    if len(line) <= WIDE // 2 or at < 0:
        return line
    start = max(0, at - WIDE // 4)
    return f"…{line[start : at + len(wanted) + WIDE // 4]}…"


def _lines(whole: str) -> list[str]:
    """The lines with their ends; what is longer than `WIDE` is several."""
    return [found for found in _BREAKS.findall(whole) if found]


def _recalled(body: str, lines: int, start: int, shown: int, masked: int) -> Recalled:
    if masked:
        body = f"[{masked} secrets are masked: they were never stored]\n{body}"
    found = Recalled(body)
    found.lines, found.start, found.shown, found.masked = lines, start, shown, masked
    return found


# -- tasks ------------------------------------------------------------------------------------------


def tasks(
    world: World, host: Host, *, scope: Within = "session", limit: int = 20
) -> tuple[Task, ...]:
    """The tasks of the session, or with scope `workspace` those of the owner's other sessions there too,
    newest first.

    Raises:
        Invalid: the argument that is wrong.
        Unavailable: the database said no.
    """
    most = _whole("limit", limit, 1_000)
    if scope not in SCOPES:
        raise Invalid("scope", f"{checks.shown(scope)} is none of {', '.join(SCOPES)}")
    host.standing = sessions.stand(world, host.spot, host.standing)
    found = [insertion.task(graph) for graph in host.standing.session.graphs]
    if scope == "workspace":
        for head, other in sessions.neighbours(world, host.spot):
            found += [insertion.task(graph, head.folder) for graph in other.graphs]
    return tuple(sorted(found, key=lambda one: (one.updated, one.file), reverse=True)[:most])


def all_tasks(world: World, realm: Realm, workspace: str, *, limit: int = 20) -> tuple[Task, ...]:
    """The tasks of every session of an owner in a workspace (its key, `""`: none), newest first; each file
    with the folder of its session in front.

    Raises:
        Invalid: `limit`.
        Unavailable: the database said no.
    """
    most = _whole("limit", limit, 1_000)
    found = [
        insertion.task(graph, head.folder)
        for head in world.store.offload_heads(realm, workspace)
        for graph in sessions.stand(world, Spot(realm, workspace, head.session)).session.graphs
    ]
    return tuple(sorted(found, key=lambda one: (one.updated, one.file), reverse=True)[:most])


def sessions_of(world: World, realm: Realm, workspace: str, ref: str) -> list[str]:
    """The sessions of a workspace in which a ref is looked for, the one that it names alone."""
    heads = world.store.offload_heads(realm, workspace)
    named = [one.session for one in heads if ref.startswith(f"{one.folder}/")]
    return named or [one.session for one in heads]


def open_task(world: World, host: Host, file: object) -> Opened:
    """The graph of a file, as `tasks` names it.

    Raises:
        NotFound: there is no such graph in this session or workspace.
        Unavailable: the database said no.
    """
    wanted = checks.string("file", file).strip()
    host.standing = sessions.stand(world, host.spot, host.standing)
    folder, slash, name = wanted.partition("/")
    if not slash:
        return _opened(host.standing.session, wanted, "")
    for spot in _spots(world, host, folder):
        return _opened(sessions.stand(world, spot).session, name, f"{folder}/")
    raise NotFound("task", wanted)


def _opened(session: Session, name: str, prefix: str) -> Opened:
    for graph in session.graphs:
        names = (file_name(graph), file_name(graph).removesuffix(".mmd"), f"{graph.number:03d}")
        if name in names:
            results = tuple(_results(session, graph, prefix))
            return Opened(f"{prefix}{file_name(graph)}", render(graph), graph.goal, results)
    raise NotFound("task", f"{prefix}{name}")


def _results(session: Session, graph: Graph, prefix: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in graph.nodes:
        keys = (one.key for one in session.kept if one.entry.node_id == node.id)
        yield f"{prefix}{node.id}", tuple(f"{prefix}{key}" for key in keys)
