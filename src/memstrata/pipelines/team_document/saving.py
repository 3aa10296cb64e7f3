"""An update saved: merged and, if need be, rewritten by a model without a lock, then stored under it.

Under the lock the document must still be the one that was merged with. Where somebody was quicker it
is merged again there and then, so that of many who save at once each gets through.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Final

from memstrata.domain import team_document
from memstrata.domain.revision import Revision
from memstrata.domain.team_document import Clash, Oversize, Saved, Status, settle
from memstrata.errors import Conflict, ModelFailed, NotFound
from memstrata.pipelines import ask, ledger, revisions
from memstrata.pipelines.revisions import Standing
from memstrata.pipelines.team_document import thread as threads
from memstrata.pipelines.team_document.thread import Author, Thread
from memstrata.pipelines.world import World
from memstrata.prompts import team_document as prompt

PURPOSE: Final = "team"
"""What the ledger books a rewriting under."""
_TRIES: Final = 3
"""How often a document is rewritten when others save meanwhile."""
_SLOWER: Final = 4
"""How much longer than a batch's answer a whole document's may take."""
_SPARE: Final = 500
"""Tokens beyond the document's own that its rewriting may have."""


@dataclass(frozen=True, slots=True)
class SaveResult:
    """What came of a save: `memory_md` is the document afterwards, `rev` its revision.

    `status` is saved, no_op or error, `reason` then says why. `retained` are lines that the update left
    out and that stay; of each of the `conflicts` both versions stand in the document.
    """

    status: Status
    message: str
    memory_md: str
    rev: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    diff_warnings: tuple[str, ...] = ()
    format_warnings: tuple[str, ...] = ()
    retained: tuple[str, ...] = ()
    conflicts: tuple[Clash, ...] = ()
    notice: str | None = None


def save(
    world: World,
    thread: Thread,
    updated: object,
    *,
    base_rev: int | None = None,
    expected_rev: int | None = None,
    allow_deletions: bool = False,
    author: str | None = None,
    message: str | None = None,
) -> SaveResult:
    """Save a whole new document, made from revision `base_rev`, else from what the thread was shown last.

    With `expected_rev` that is what it was made from, and nothing is merged.

    Raises:
        Invalid: an argument other than the document; what is wrong with that is in the result.
        Denied: this user may not write.
        Conflict: the document is at another revision than `expected_rev`, or others saved again and
            again while it was rewritten; nothing was saved.
        Corrupt: the file was changed by hand into something that cannot be taken over.
        Unavailable: disk or database said no; nothing was saved.
    """
    by = threads.author(thread, author, message)
    threads.writer(world, thread)
    standing = revisions.stand(world, thread.document)
    given = base_rev if expected_rev is None else expected_rev
    base = threads.base(world, thread, standing, given)
    if base is None and not standing.text:
        base = 0  # nothing is there that could be deleted
    update = _Update(
        updated,
        None if base is None else _base_text(world, thread, standing, base),
        None if expected_rev is None else base,
        allow_deletions,
        threads.people(world, thread),
    )
    found, met = _stored(world, by, update, standing)
    if found.status == "saved" and base == met and not (found.retained or found.notice):
        threads.note(world, thread, found.rev)  # nothing is in there that the writer does not know
    return SaveResult(**{one.name: getattr(found, one.name) for one in fields(SaveResult)})


@dataclass(frozen=True, slots=True)
class _Update:
    """An update with what decides on it; None for a base that is unknown.

    `only_on` is the one revision that it may meet, None for any.
    """

    updated: object
    base: str | None
    only_on: int | None
    allow_deletions: bool
    people: tuple[str, ...]

    def on(self, world: World, thread: Thread, standing: Standing) -> Saved | Oversize:
        """What becomes of it on the document as it stands.

        Raises:
            Conflict: it may not meet that.
        """
        if self.only_on not in (None, standing.rev):
            raise Conflict(
                f"the document is at revision {standing.rev}, not {self.only_on}; not saved",
                base=self.only_on,
                current=standing.rev,
            )
        return team_document.save(
            standing.text,
            self.updated,
            rev=standing.rev,
            base=self.base,
            visibility=thread.visibility,
            find=world.scanner.scan,
            allow_deletions=self.allow_deletions,
            people=self.people,
        )


@dataclass(slots=True)
class _Attempt:
    """One attempt to store an update: what comes of it on the revision `met`."""

    world: World
    by: Author
    update: _Update
    met: int
    found: Saved | Oversize

    @property
    def changed(self) -> bool:
        """Whether the document becomes another."""
        return isinstance(self.found, Saved) and self.found.rev != self.met

    def write(self, standing: Standing) -> Revision | None:
        """The new revision, under the lock; None where there is none, or a model must be asked first."""
        if standing.rev != self.met:
            self.met = standing.rev
            self.found = self.update.on(self.world, self.by.thread, standing)
        if isinstance(self.found, Oversize) or not self.changed:
            return None
        text, markers = self.found.memory_md, self.found.markers
        return self.by.revision(self.world, standing, "save", text, markers=markers)


def _stored(world: World, by: Author, update: _Update, standing: Standing) -> tuple[Saved, int]:
    """What came of an update, stored if there was something to store, and the revision that it met."""
    thread = by.thread
    for _ in range(_TRIES):
        fitting = _fitting(world, thread, update.on(world, thread, standing))
        attempt = _Attempt(world, by, update, standing.rev, fitting)
        if not attempt.changed:
            return fitting, attempt.met
        standing = revisions.change(world, thread.document, attempt.write)
        if isinstance(attempt.found, Saved):
            return attempt.found, attempt.met
    raise Conflict(
        "others saved each time that the document was rewritten to fit; not saved",
        current=standing.rev,
    )


def _base_text(world: World, thread: Thread, standing: Standing, rev: int) -> str | None:
    """The text of the base; None where it is gone."""
    try:
        return threads.text_of(world, thread, standing, rev)
    except NotFound:
        return None


# -- what is too long -----------------------------------------------------------------------------


def _fitting(world: World, thread: Thread, found: Saved | Oversize) -> Saved:
    """What is too long is rewritten by the model, where there is one. No lock is held."""
    if isinstance(found, Saved):
        return found
    text, problem = _rewritten(world, thread, found.text)
    settled = settle(found, text)
    return replace(settled, warnings=(*settled.warnings, problem)) if problem else settled


def _rewritten(world: World, thread: Thread, text: str) -> tuple[str | None, str]:
    """The model's shorter document; or None, and why, if a model is set."""
    chosen = world.extractor(thread.realm, thread.session)
    if chosen.model is None:
        return None, ""
    if paused := ledger.paused(world):
        return None, f"The document was not rewritten: {paused}."
    try:
        answer = ask.write(
            chosen.model,
            prompt.compaction(text),
            purpose=PURPOSE,
            name=chosen.name,
            deadline=_SLOWER * world.settings.extraction.deadline_seconds,
            most_tokens=_SPARE + world.tokens.count(text),
            book=partial(ledger.book, world, thread.realm, ""),
        )
    except ModelFailed as error:
        return None, f"The document was not rewritten: {error.message}."
    return answer, ""
