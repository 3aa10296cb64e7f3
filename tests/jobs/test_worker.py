"""Working jobs off: what the progress says."""

from __future__ import annotations

from memstrata import Memory


def test_progress_counts_what_waits_in_every_session(memory: Memory) -> None:
    for session, count in (("one", 2), ("two", 1)):
        chat = memory.session(session)
        chat.commit([{"role": "user", "content": f"Sentence {n}."} for n in range(count)])
    memory.drain()
    memory.session("two").commit([{"role": "user", "content": "A later one."}])
    memory.session("three").commit([{"role": "user", "content": "Another."}])
    told: list[tuple[str, int, int]] = []
    done = memory.drain(lambda *given: told.append(given))
    assert done.messages == 2
    assert told == [("extracting", 1, 2), ("extracting", 2, 2)]
