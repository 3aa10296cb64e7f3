"""`Memory.team(workspace)` and `Memory.private()`: one document and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal

from memstrata.domain import checks
from memstrata.domain.plain import Json
from memstrata.domain.team_document import Authored, Saved, Visibility
from memstrata.errors import Invalid
from memstrata.pipelines import team_document as pipeline
from memstrata.pipelines.team_document import RevisionInfo, SaveResult, Shown, Thread
from memstrata.pipelines.world import World
from memstrata.prompts import team_delegation, team_document
from memstrata.prompts.team_delegation import Delegated
from memstrata.prompts.team_document import Guidance
from memstrata.prompts.template import Rendered

Shape = Literal["openai", "anthropic"]
_SHAPES: Final[Mapping[Shape, Callable[[Visibility], dict[str, object]]]] = {
    "openai": team_document.openai_tool,
    "anthropic": team_document.anthropic_tool,
}


class MemoryDocument:
    """A workspace's team document or a user's private one, as one thread works on it.

    Before each call of the model that follows the user's words or a tool's, the host puts `block()`
    behind the system prompt; `prompt()` and `tool()` tell the model how to keep the document, and
    `update_memory` answers when it calls the tool. What `read` and `block` gave is what the thread's
    next save is taken to be made from.
    """

    def __init__(self, world: World, thread: Thread, place: str) -> None:
        self._world = world
        self._thread = thread
        self._place = place

    @property
    def shown(self) -> int | None:
        """The revision that this object was shown last, from which its next save is taken to be made."""
        return self._thread.shown

    @shown.setter
    def shown(self, rev: int | None) -> None:
        self._thread.shown = rev

    def read(self, *, rev: int | None = None) -> Shown:
        """The document as it stands; with `rev` an older revision, which does not count as shown.

        Raises:
            Denied: this user may not read it.
            NotFound: no such revision.
            Unavailable: the disk or the database said no.
        """
        return pipeline.read(self._world, self._thread, rev)

    def save(
        self,
        markdown: str,
        *,
        base_rev: int | None = None,
        expected_rev: int | None = None,
        allow_deletions: bool = False,
        author: str | None = None,
        message: str | None = None,
    ) -> SaveResult:
        """Save a whole new document, merged line by line with what others saved meanwhile.

        It is taken to be made from revision `base_rev`, else from what this thread was shown last; where
        neither is known nothing is deleted. With `expected_rev` nothing is merged: the document must be
        at that revision. `allow_deletions` sets the deletion guard aside. `author` is
        the user unless given, `message` the id of the message that led to it. What cannot be saved is
        told in the result.

        Raises:
            Invalid: `base_rev`, `expected_rev`, `author` or `message`.
            Denied: this user may not write.
            Conflict: the document is at another revision than `expected_rev`, or others saved each time
                that it was rewritten to fit; nothing was saved.
            Corrupt: the file was changed by hand into something that cannot be taken over.
            Unavailable: the disk or the database said no; nothing was saved.
        """
        return pipeline.save(
            self._world,
            self._thread,
            markdown,
            base_rev=base_rev,
            expected_rev=expected_rev,
            allow_deletions=allow_deletions,
            author=author,
            message=message,
        )

    def reset(self, *, confirm: int | None = None, author: str | None = None) -> SaveResult:
        """Empty the document; its revisions stay. `confirm` names the revision that is to be emptied.

        Raises:
            Denied: this user may not write.
            Invalid: an editor, who is no owner, did not confirm.
            Conflict: the document is at another revision than the confirmed one; nothing was changed.
            Corrupt, Unavailable: as `save`.
        """
        return pipeline.reset(self._world, self._thread, confirm=confirm, author=author)

    def history(self) -> tuple[RevisionInfo, ...]:
        """Every revision without its text, oldest first.

        Raises:
            Denied: this user may not read it.
            Unavailable: the disk or the database said no.
        """
        return pipeline.history(self._world, self._thread)

    def entries(self) -> tuple[Authored[RevisionInfo], ...]:
        """The lines of the document under their headings, each with the revision that brought it.

        Raises:
            Denied: this user may not read it.
            Unavailable: the disk or the database said no.
        """
        return pipeline.entries(self._world, self._thread)

    def diff(self, old: int, new: int | None = None) -> str:
        """What changed from revision `old` to `new` (the present one), as a unified diff; 0 is the empty document.

        Raises:
            Denied: this user may not read it.
            NotFound: no such revision.
            Unavailable: the disk or the database said no.
        """
        return pipeline.diff(self._world, self._thread, old, new)

    def restore(self, rev: int, *, author: str | None = None) -> SaveResult:
        """Bring an older revision back, as a new one.

        Raises:
            Denied: this user may not write.
            NotFound: no such revision.
            Refused: it holds what may not be kept, and the document does not.
            Corrupt, Unavailable: as `save`.
        """
        return pipeline.restore(self._world, self._thread, rev, author=author)

    def undo(self, *, author: str | None = None) -> SaveResult:
        """Take the newest revision back; after an undo the one before that.

        Raises:
            Invalid: there is nothing to go back to.
            Denied, NotFound, Refused, Corrupt, Unavailable: as `restore`.
        """
        return pipeline.undo(self._world, self._thread, author=author)

    def block(self) -> str:
        """The document between its tags, for the system prompt; an empty one too. Never store it.

        Raises:
            Denied: this user may not read it.
            Unavailable: the disk or the database said no.
        """
        return pipeline.block(self._world, self._thread)

    def prompt(self) -> Guidance:
        """What the model is told so that it keeps the document: `protocol`, `tool`, `examples`."""
        return pipeline.guidance(self._world, self._thread)

    def tool(self, shape: Shape = "openai") -> dict[str, object]:
        """`update_memory` as OpenAI's chat completions or Anthropic's messages take a tool.

        Raises:
            Invalid: another shape.
        """
        if shape not in _SHAPES:
            raise Invalid("shape", f"{checks.shown(shape)} is none of {', '.join(_SHAPES)}")
        return _SHAPES[shape](self._thread.visibility)

    def update_memory(self, arguments: object, *, message: str | None = None) -> dict[str, Json]:
        """Answer a call of the tool `update_memory`: a save's result, or an error that the model can read.

        `arguments` are as the provider sent them, an object or its JSON text. Nothing is raised.
        """
        return pipeline.update_memory(self._world, self._thread, arguments, message=message)

    def delegation(self, request: str) -> Rendered:
        """The prompt (`system`, `user`) of a sub-agent that keeps this document for a supervisor."""
        return team_delegation.delegation(
            self._thread.visibility, self._place, request, today=self._world.moment().today
        )

    def delegated(self, answer: str, saves: Iterable[SaveResult] = ()) -> Delegated:
        """The sub-agent's answer as the supervisor may believe it; `saves` are what its calls came to."""
        done = [Saved(one.status, one.message, one.memory_md, one.rev) for one in saves]
        return team_delegation.delegated(answer, done)
