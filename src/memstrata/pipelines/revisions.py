"""A document under revisions: its file, which is the truth, and beside it the log of all that it ever said.

`apply.revise` writes the line first, then the file, then the index's note of the line. So a line that
the index does not know was cut off, and is carried out; a file that is neither what its newest
revision says nor what the one before said was changed by hand, and becomes a revision. A file that is
gone or blank is written again: only `reset` empties a document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.domain import checks, layout, markdown, revision
from memstrata.domain.layout import HOME, Place
from memstrata.domain.revision import Revision
from memstrata.domain.team_document import HARD, parse, render, validate
from memstrata.domain.team_document.grammar import markers
from memstrata.errors import Corrupt, Invalid, NotFound
from memstrata.pipelines import apply
from memstrata.pipelines.apply import Step
from memstrata.pipelines.world import Problem, Report, World

BY_HAND: Final = "person"
"""The author of what was changed in the file."""
FILE: Final = "file"
"""The channel that it came through."""
_MERGE_MARK: Final = re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Standing:
    """A document as it stands: its newest revision, None where there never was one.

    `problem`: the file was changed into something that cannot be taken over; it is left as it is,
    and what stood before goes on standing.
    """

    revision: Revision | None = None
    problem: str = ""

    @property
    def rev(self) -> int:
        """The number of the revision, 0 for none."""
        return self.revision.rev if self.revision else 0

    @property
    def text(self) -> str:
        """The document."""
        return self.revision.text if self.revision else ""


def stand(world: World, document: Place) -> Standing:
    """The document as it stands, once what was cut off is finished and hand edits are taken over.

    Raises:
        Unavailable: disk or database said no.
    """
    step, standing = _look(world, document)
    while step is not None:
        _settle(world, document)
        step, standing = _look(world, document)
    return standing


def change(world: World, document: Place, write: Callable[[Standing], Revision | None]) -> Standing:
    """Add the revision that `write` makes of the document as it stands, under the lock; None: no change.

    Returns the document as it stands then.

    Raises:
        Corrupt: the file was changed into something that cannot be taken over.
        Unavailable: disk or database said no; nothing was saved.
    """
    writing = _Writing(world, document, write)
    while writing.standing is None:
        stand(world, document)
        apply.revise(world, document, layout.revisions(document), writing.decide)
    if writing.made is not None:
        made = writing.made
        world.bus.emit(
            "document.written",
            path=str(document),
            verb=made.verb,
            rev=made.rev,
            channel=made.channel,
        )
    return writing.standing


def history(world: World, document: Place) -> Iterator[Revision]:
    """Every revision, oldest first; a line that cannot be read is passed over."""
    return (found for _, found in _lines(world, layout.revisions(document)))


def find(world: World, document: Place, rev: int) -> Revision | None:
    """The revision of that number, None where there is none (any more)."""
    begins = revision.beginning(rev)
    lines = _lines(world, layout.revisions(document), only=lambda line: line.startswith(begins))
    return next((found for _, found in lines), None)


def bring_together(world: World, owners: Sequence[str], report: Report) -> None:
    """Bring file, log and index of every document together, as `stand` does, and say what was done."""
    for document in _documents(world, owners):
        try:
            if document.folder.path:  # the home's own folder is swept with the memories
                world.vault.sweep(document.folder)
            step, standing = _look(world, document)
            while step is not None:
                if done := _settle(world, document):
                    report.actions.append(f"{_done(done)} {document}")
                step, standing = _look(world, document)
            if standing.problem:
                report.problems.append(Problem(str(document), standing.problem))
        except Invalid as error:  # a link, or a folder in a file's place
            report.problems.append(Problem(str(document), error.problem))


def _documents(world: World, owners: Sequence[str]) -> Iterator[Place]:
    for key in world.vault.folders(Place(HOME, "team")):
        try:
            yield layout.team_document(checks.ref("workspace", key))
        except Invalid:
            continue
    yield from map(layout.private_document, owners)


def _done(step: Step) -> str:
    if step.line:
        return "took over what was changed in"
    return "noted the newest revision of" if step.text is None else "wrote again"


# -- what there is --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Seen:
    """File and log as they were read.

    `data` are the file's bytes, none for a blank one. `newest` is the revision of the log's last
    line, which begins at `start`; `known` the one that the index knows to be written, None where the
    index is lost.
    """

    data: bytes
    newest: Revision | None
    start: int
    known: Revision | None

    @property
    def noted(self) -> bool:
        """Whether the index knows of the newest revision."""
        return self.known is self.newest


def _see(world: World, document: Place) -> _Seen:
    log = layout.revisions(document)
    noted = world.store.shards(apply.REVISIONS).get(log.path)
    lines = [] if noted is None else list(_lines(world, log, noted))
    if lines and lines[0][0] == noted:
        (start, newest), known = lines[-1], lines[0][1]
        return _Seen(_data(world, document), newest, start, known)
    for start, newest in list(_lines(world, log))[-1:]:
        return _Seen(_data(world, document), newest, start, None)
    return _Seen(_data(world, document), None, 0, None)


def _lines(
    world: World, log: Place, start: int = 0, only: Callable[[bytes], bool] = lambda _: True
) -> Iterator[tuple[int, Revision]]:
    """The revisions from byte `start` on, each with where its line begins."""
    try:
        for end, line in world.vault.lines(log, start):
            if only(line) and (found := _decoded(line)) is not None:
                yield start, found
            start = end
    except NotFound:
        return


def _decoded(line: bytes) -> Revision | None:
    try:
        return revision.decode(line)
    except Invalid:
        return None


def _data(world: World, document: Place) -> bytes:
    try:
        data, _ = world.vault.read(document)
    except NotFound:
        return b""
    return data if data.strip(b"\xef\xbb\xbf \t\r\n") else b""


# -- what is to be done ---------------------------------------------------------------------------


def _look(world: World, document: Place) -> tuple[Step | None, Standing]:
    """The step that file, log or index need, and how the document stands where they need none."""
    seen = _see(world, document)
    found = _need(world, seen)
    if isinstance(found, str):
        return None, Standing(seen.newest, found)
    return found, Standing(seen.newest)


def _settle(world: World, document: Place) -> Step | None:
    """Take the step that is needed, decided on again under the lock."""

    def decide() -> Step | None:
        return _look(world, document)[0]

    step = apply.revise(world, document, layout.revisions(document), decide)
    if step is not None and step.line:
        world.bus.emit("file.taken_over", path=str(document))
    return step


def _need(world: World, seen: _Seen) -> Step | str | None:
    """The step that is needed, or why what was changed by hand cannot be taken over."""
    newest, known = seen.newest, seen.known
    if newest is None:
        return _taken_over(world, seen) if seen.data else None
    if _says(seen.data, newest) if seen.data else not newest.text:
        return None if seen.noted else Step(start=seen.start)
    if not seen.data or (known is not None and known is not newest and _says(seen.data, known)):
        return Step(text=revision.content(newest.text), start=seen.start)
    return _taken_over(world, seen)


def _says(data: bytes, held: Revision) -> bool:
    """Whether the bytes of a file are that revision; blank lines and the like make no difference."""
    return markdown.digest(data) == held.digest or _rendered(data) == held.text


def _rendered(data: bytes) -> str | None:
    try:
        return render(parse(data.decode()))
    except UnicodeDecodeError:
        return None


def _taken_over(world: World, seen: _Seen) -> Step | str:
    """What was changed by hand as a revision, or why it cannot be one."""
    before = seen.newest.text if seen.newest else ""
    try:
        text = seen.data.decode()
    except UnicodeDecodeError:
        return "is not UTF-8"
    rendered = render(parse(text))
    if not rendered:
        return Step(text=revision.content(before), start=seen.start)
    if problem := _problem(world, before, rendered):
        return problem
    made = Revision(
        rev=(seen.newest.rev if seen.newest else 0) + 1,
        at=world.clock.now(),
        verb="edit",
        author=BY_HAND,
        channel=FILE,
        text=rendered,
        digest=markdown.digest(seen.data),
        markers=markers(parse(text)),
    )
    return Step(line=revision.encode(made))


def _problem(world: World, before: str, text: str) -> str:
    if problem := validate.text_problem(text):
        return problem
    if len(text) > HARD:
        return f"has {len(text):,} characters, at most {HARD:,} are taken"
    if {mark[:7] for mark in _MERGE_MARK.findall(text)} >= {"<<<<<<<", ">>>>>>>"}:
        return "holds merge-conflict markers"
    return validate.sensitive(before, text, world.scanner.scan)[0]


@dataclass(slots=True)
class _Writing:
    """A change on its way: `standing` is how the document stands after it, None until it is done."""

    world: World
    document: Place
    write: Callable[[Standing], Revision | None]
    made: Revision | None = None
    standing: Standing | None = None

    def decide(self) -> Step | None:
        """The step under the lock; none where something must be settled first."""
        needed, standing = _look(self.world, self.document)
        if needed is not None:
            return None
        if standing.problem:
            raise Corrupt(str(self.document), f"{standing.problem}; put the file right first")
        self.made = self.write(standing)
        self.standing = standing if self.made is None else Standing(self.made)
        if self.made is None:
            return None
        return Step(line=revision.encode(self.made), text=revision.content(self.made.text))
