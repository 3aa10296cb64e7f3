"""A document replaced as a whole, on purpose: an older revision brought back, or all of it emptied."""

from __future__ import annotations

from collections.abc import Callable

from memstrata.domain import checks
from memstrata.domain.revision import Revision
from memstrata.domain.team_document import validate
from memstrata.errors import Conflict, Invalid, NotFound, Refused
from memstrata.pipelines import revisions
from memstrata.pipelines.revisions import Standing
from memstrata.pipelines.team_document import thread as threads
from memstrata.pipelines.team_document.saving import SaveResult
from memstrata.pipelines.team_document.thread import Thread
from memstrata.pipelines.world import World


def restore(world: World, thread: Thread, rev: int, *, author: str | None = None) -> SaveResult:
    """Bring revision `rev` back, as a new one.

    Raises:
        Denied: this user may not write.
        NotFound: no such revision.
        Refused: it holds what may not be kept, and the document does not.
        Corrupt, Unavailable: as `save`.
    """
    return _restored(world, thread, lambda standing: rev, author)


def undo(world: World, thread: Thread, *, author: str | None = None) -> SaveResult:
    """Take the newest revision back; after an undo the one before that.

    Raises:
        Invalid: there is nothing to go back to.
        Denied, NotFound, Refused, Corrupt, Unavailable: as `restore`.
    """
    return _restored(world, thread, _one_before, author)


def reset(
    world: World, thread: Thread, *, confirm: int | None = None, author: str | None = None
) -> SaveResult:
    """Empty the document; its revisions stay. `confirm` is the revision that is to be emptied.

    Raises:
        Denied: this user may not write.
        Invalid: an editor, who is no owner, did not confirm.
        Conflict: the document is at another revision than the confirmed one; nothing was changed.
        Corrupt, Unavailable: as `save`.
    """
    by = threads.author(thread, author)
    if threads.writer(world, thread) == "editor" and confirm is None:
        raise Invalid("confirm", "an editor confirms with the revision that is to be emptied")

    def empty(standing: Standing) -> Revision | None:
        if confirm not in (None, standing.rev):
            raise Conflict(
                f"the document is at revision {standing.rev}, not {checks.shown(confirm)}; not emptied",
                base=confirm,
                current=standing.rev,
            )
        return by.revision(world, standing, "reset", "") if standing.text else None

    return _replaced(world, thread, empty, "Memory is empty.")


def _one_before(standing: Standing) -> int:
    newest = standing.revision
    rev = 0 if newest is None else (newest.restored or newest.rev) - 1
    if rev == 0:
        raise Invalid("rev", "there is no revision to go back to; `reset` empties a document")
    return rev


def _restored(
    world: World, thread: Thread, older: Callable[[Standing], int], author: str | None
) -> SaveResult:
    by = threads.author(thread, author)
    threads.writer(world, thread)

    def bring_back(standing: Standing) -> Revision | None:
        rev = older(standing)
        text = threads.text_of(world, thread, standing, rev)
        if rev == 0:
            raise NotFound("revision", "0")  # the empty document: that is what `reset` is for
        if text == standing.text:
            return None
        if problem := validate.sensitive(standing.text, text, world.scanner.scan)[0]:
            raise Refused("sensitive", "sensitive", problem)
        return by.revision(world, standing, "restore", text, restored=rev)

    return _replaced(world, thread, bring_back, "Memory restored.")


def _replaced(
    world: World, thread: Thread, write: Callable[[Standing], Revision | None], done: str
) -> SaveResult:
    written: list[Revision] = []

    def noted(standing: Standing) -> Revision | None:
        made = write(standing)
        written[:] = [made] if made else []
        return made

    standing = revisions.change(world, thread.document, noted)
    if written:
        return SaveResult("saved", done, standing.text, standing.rev)
    return SaveResult("no_op", "Memory is the same already.", standing.text, standing.rev)
