"""Gate 3 on a batch: a model rules on what is like something known, the rules decide on the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from memstrata.domain.candidate import Candidate
from memstrata.domain.memory import Memory
from memstrata.domain.plan import Verdict
from memstrata.domain.ruling import Given, Objection
from memstrata.pipelines import ask
from memstrata.pipelines.ask import Call
from memstrata.pipelines.draft import Draft
from memstrata.pipelines.world import Extractor, World
from memstrata.prompts import evolve as prompt
from memstrata.prompts.answers import DECISIONS

EVOLUTION: Final = "evolution"
"""The purpose under which the ledger books these calls."""
Shown = Sequence[Sequence[Memory]]
_UNREAD: Final = Objection("it gave none that can be read", review=False)


def judge(
    world: World,
    draft: Draft,
    candidates: Sequence[Candidate],
    chosen: Extractor,
    book: Callable[[Call], None],
) -> tuple[Verdict, ...]:
    """The verdict on each candidate, in order; the draft is what they come to.

    All candidates that pass the other gates and are like something known cost one call together;
    the others none.

    Raises:
        ModelFailed: the model gave no answer that could be read.
        Unavailable: disk or database said no.
    """
    refused = [draft.refused(candidate) for candidate in candidates]
    passed = [one for one, no in zip(candidates, refused, strict=True) if no is None]
    rulings = iter(_rulings(world, draft, passed, chosen, book))
    return tuple(
        draft.decide(candidate, next(rulings)) if no is None else no
        for candidate, no in zip(candidates, refused, strict=True)
    )


def _rulings(
    world: World,
    draft: Draft,
    candidates: Sequence[Candidate],
    chosen: Extractor,
    book: Callable[[Call], None],
) -> list[Given | Objection | None]:
    """What was ruled on each candidate; None where nothing was asked."""
    found: list[Given | Objection | None] = [None] * len(candidates)
    if chosen.model is None:
        return found
    every = [draft.shown(candidate) for candidate in candidates]
    asked = [number for number, memories in enumerate(every) if memories]
    if not asked:
        return found
    shown = [every[number] for number in asked]
    answer = ask.ask(
        chosen.model,
        prompt.question([candidates[number] for number in asked], shown),
        DECISIONS,
        purpose=EVOLUTION,
        name=chosen.name,
        deadline=world.settings.extraction.deadline_seconds,
        book=book,
    )
    given, rejected = prompt.rulings(answer.items, shown)
    objections = {one.index: Objection(one.reason) for one in rejected}
    for place, number in enumerate(asked):
        if place in given:
            found[number] = _given(given[place], shown[place])
        else:
            found[number] = objections.get(place, _UNREAD)
    return found


def _given(ruled: prompt.Ruled, shown: Sequence[Memory]) -> Given:
    by_id = {memory.id: memory for memory in shown}
    return Given(ruled.ruling, by_id.get(ruled.target), frozenset(by_id))
