"""Saving an update, without doing it: what would be stored, what is refused, what the writer is told.

A document that is too long is the one thing that needs a model. So saving has two steps, both pure:
`save` answers `Saved`, or `Oversize` for the shell to have rewritten; `settle` makes a `Saved` of that.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from memstrata.domain.team_document import guard, incoming, limits, validate
from memstrata.domain.team_document.grammar import Document, Marker, markers, parse, render
from memstrata.domain.team_document.injection import Visibility
from memstrata.domain.team_document.merge import Clash, Merged, merge
from memstrata.domain.team_document.units import units
from memstrata.domain.team_document.validate import Find, Reason

Status = Literal["saved", "no_op", "error"]

REWRITTEN: Final = "Memory was automatically rewritten to fit within limits."
UNKNOWN_BASE: Final = (
    "It is not known which revision this update was made from: nothing was deleted."
)


@dataclass(frozen=True, slots=True)
class Saved:
    """What comes of an update: `memory_md` is the document afterwards, `rev` its revision.

    `saved` with the revision it had before means that the document is the same already. `retained`
    are lines that the update left out and that stay. `markers` (entry as written → its marker) belong
    into the revision's record: the text no longer shows them.
    """

    status: Status
    message: str
    memory_md: str
    rev: int
    reason: Reason | None = None
    warnings: tuple[str, ...] = ()
    diff_warnings: tuple[str, ...] = ()
    format_warnings: tuple[str, ...] = ()
    retained: tuple[str, ...] = ()
    conflicts: tuple[Clash, ...] = ()
    notice: str | None = None
    markers: tuple[tuple[str, Marker], ...] = ()


@dataclass(frozen=True, slots=True)
class Oversize:
    """A document that is too long to be stored and otherwise in order. `text` is what is to be rewritten."""

    text: str
    _saving: _Saving = field(repr=False)
    _merged: Merged = field(repr=False)
    _markers: tuple[tuple[str, Marker], ...] = field(repr=False)
    _warnings: tuple[str, ...] = field(repr=False)


def save(
    current: str,
    updated: object,
    *,
    rev: int,
    base: str | None,
    visibility: Visibility,
    find: Find,
    allow_deletions: bool = False,
    people: Collection[str] = (),
) -> Saved | Oversize:
    """What becomes of `updated`, a whole new document made from `base`, when the stored one is `current`.

    `rev` is the revision of `current`; `base` the text that the writer was shown, None when that is not
    known. `find` is the scanner of the sensitive gate. `allow_deletions` sets the deletion guard aside,
    for a person who deletes on purpose. `people` are names that make a heading personal.

    Nothing that can be sent is raised on; what cannot be saved is a `Saved` of status `error` whose
    `memory_md` is `current`. The caller compares and swaps on `rev`.
    """
    saving = _Saving(current, parse(current), rev, visibility, find, tuple(people))
    if problem := validate.text_problem(updated):
        return saving.refused("text", problem)
    if len(str(updated)) > limits.INPUT:
        return saving.refused("size", validate.size_problem(Document(), len(str(updated))))
    text = incoming.trimmed(str(updated))
    if incoming.says_nothing(text):
        return Saved("no_op", "Nothing to save; memory is unchanged.", current, rev)
    update = incoming.read(text, saving.before)
    if not update.document.sections:
        return saving.refused("heading", validate.NO_HEADING)
    merged = merge(
        None if base is None else parse(base),
        saving.before,
        update,
        allow_deletions=allow_deletions,
    )
    return saving.finish(
        merged,
        warnings=validate.dropped(update.dropped) + ((UNKNOWN_BASE,) if base is None else ()),
        marked=markers(saving.before) + markers(update.document),
    )


def settle(oversize: Oversize, rewritten: str | None) -> Saved:
    """What becomes of a document that was too long, with what a model made of it; None: there is no model.

    The rewritten document must be one, fit, hold no new personal heading and nothing sensitive, and
    still say every line (`guard.uncovered`); else nothing is saved and the error is that of the size.
    """
    saving, merged = oversize._saving, oversize._merged
    problem = validate.size_problem(merged.document, len(oversize.text))
    if rewritten is None:
        return saving.refused("size", problem)
    shorter = saving.rewritten(rewritten, merged.document)
    if isinstance(shorter, str):
        return saving.refused("size", f"{problem} The automatic rewriting was not used: {shorter}")
    found = saving.finish(
        replace(merged, document=shorter), warnings=oversize._warnings, marked=oversize._markers
    )
    if isinstance(found, Oversize):
        return saving.refused("size", f"{problem} The automatic rewriting is too long as well.")
    if found.status == "error":
        return saving.refused(
            "size", f"{problem} The automatic rewriting was not used: {found.message}"
        )
    return replace(found, notice=REWRITTEN)


@dataclass(frozen=True, slots=True)
class _Saving:
    """What an update is put on, and the rules for it."""

    current: str
    before: Document
    rev: int
    visibility: Visibility
    find: Find
    people: tuple[str, ...]

    def refused(self, reason: Reason, message: str) -> Saved:
        """Nothing is saved."""
        return Saved("error", message, self.current, self.rev, reason)

    def rewritten(self, answer: str, whole: Document) -> Document | str:
        """A model's answer as the document in place of `whole`, or why it cannot be."""
        if validate.text_problem(answer) or len(answer) > limits.INPUT:
            return "it is no text of a usable length."
        update = incoming.read(incoming.trimmed(answer), whole)
        if not update.document.sections:
            return validate.NO_HEADING
        lost = guard.uncovered(*(units(one) for one in (whole, update.document)))
        if lost:
            return f"it leaves out {len(lost)} of the lines."
        return update.document

    def finish(
        self,
        merged: Merged,
        *,
        warnings: tuple[str, ...],
        marked: tuple[tuple[str, Marker], ...],
    ) -> Saved | Oversize:
        """Scope, the sensitive gate and the size, on the document as it would be stored."""
        text = render(merged.document)
        team = self.visibility == "team"
        scope, held = (
            validate.scope(self.before, merged.document, self.people) if team else ("", ())
        )
        if scope:
            return self.refused("scope", scope)
        secret, known = validate.sensitive(self.current, text, self.find)
        if secret:
            return self.refused("sensitive", secret)
        if len(text) > limits.HARD:
            return Oversize(text, self, merged, marked, warnings)
        return self.saved(text, merged, (*warnings, *held, *known), marked)

    def saved(
        self,
        text: str,
        merged: Merged,
        warnings: tuple[str, ...],
        marked: tuple[tuple[str, Marker], ...],
    ) -> Saved:
        """The outcome, with everything the writer should know."""
        changed = text != self.current
        kept = set(map(str, merged.document.entries))
        return Saved(
            "saved",
            _message(changed, merged),
            text,
            self.rev + changed,
            warnings=warnings + validate.soft_limit(len(text)),
            diff_warnings=validate.changes(
                self.before, merged.document, len(self.current), len(text)
            ),
            format_warnings=validate.bullets(merged.document),
            retained=merged.retained,
            conflicts=merged.conflicts,
            markers=tuple(dict.fromkeys(one for one in marked if one[0] in kept)),
        )


def _message(changed: bool, merged: Merged) -> str:
    told = ["Memory saved." if changed else "Memory is the same already."]
    if merged.retained:
        told.append(f"Lines that the update left out and that stay: {len(merged.retained)}.")
    if merged.conflicts:
        told.append(
            f"Lines that somebody else changed too, both versions stay: {len(merged.conflicts)}."
        )
    return " ".join(told)
