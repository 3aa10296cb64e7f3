"""Reads: only from the reader's own view, a page at a time, with where it came from and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.doubles import FakeClock

from memstrata import Invalid, Memory, MemstrataError, NotFound
from memstrata.pipelines.read import Record


def commit(memory: Memory, id: str, text: str, **chat: object) -> None:
    """One message, extracted."""
    asked = {"session": "s", **chat}
    session = memory.session(str(asked.pop("session")), **asked)  # type: ignore[arg-type]
    session.commit([{"role": "user", "id": id, "content": text, "said_at": "2026-01-05"}])
    memory.drain()


def said_no(call: Callable[[], object]) -> tuple[str, str, dict[str, object]]:
    """How a read was refused: type, text and what a machine reads."""
    with pytest.raises(MemstrataError) as caught:
        call()
    return type(caught.value).__name__, str(caught.value), caught.value.detail()


# -- whose ----------------------------------------------------------------------------------------------


@pytest.mark.promise("visibility.unknown")
def test_what_is_not_ones_own_answers_as_what_is_not_there(memory: Memory, tmp_path: Path) -> None:
    kiln, mill = tmp_path / "kiln", tmp_path / "mill"
    kiln.mkdir()
    mill.mkdir()
    commit(memory, "m-ana", "I live in Tarnow.", user="ana")
    commit(memory, "m-kiln", "We use Redis for caching.", user="ana", workspace=kiln)
    (home,) = memory.list(user="ana").items
    (cache,) = memory.list(user="ana", workspace=kiln, scope="project").items
    coder = memory.add(name="n", description="d", scope="agent", agent="coder")
    hidden: list[tuple[str, dict[str, object]]] = [
        (home.id, {}),
        (home.id, {"user": "ben"}),
        (cache.id, {"user": "ana"}),
        (cache.id, {"user": "ana", "workspace": mill}),
        (coder.id, {}),
        (coder.id, {"agent": "tester"}),
        (coder.id, {"agent": "coder", "user": "ana"}),
        ("m-ana", {}),
        ("m-ana", {"user": "ben"}),
        ("m-kiln", {"user": "ana"}),
        ("m-kiln", {"user": "ana", "workspace": mill}),
        ("m-kiln", {"user": "ben", "workspace": kiln}),
    ]
    for id, view in hidden:
        verbs = (
            (memory.trace,) if id.startswith("m-") else (memory.get, memory.history, memory.trace)
        )
        for verb in verbs:
            mine = said_no(lambda verb=verb, id=id, view=view: verb(id, **view))  # type: ignore[misc]
            none = said_no(lambda verb=verb, view=view: verb("mem_none", **view))  # type: ignore[misc]
            assert mine[0] == "NotFound"
            assert repr(mine).replace(id, "ID") == repr(none).replace("mem_none", "ID")
    assert memory.get(home.id, user="ana") == home
    assert memory.trace("m-kiln", user="ana", workspace=kiln).message is not None


@pytest.mark.promise("visibility.user")
@pytest.mark.promise("visibility.project")
def test_counts_verdicts_and_names_tell_nothing_of_others(memory: Memory, tmp_path: Path) -> None:
    commit(memory, "m1", "I live in Tarnow. I think I prefer oat milk.", user="ana")
    for read in (memory.list, memory.why):
        assert read(user="ben").items == ()
        assert read(user="ana").items != ()
    state = memory.status()
    assert (state.messages, state.sessions, state.memories, state.verdicts) == (0, 0, {}, {})
    memory.add(name="home", description="The name is free for another", user="ben")
    assert memory.search_conversations("Tarnow", user="ben") == ()
    assert memory.search_conversations("Tarnow", session="s", user="ben") == ()
    commit(memory, "m2", "Where is the kiln?", user="ana", session="w", workspace=tmp_path)
    assert memory.search_conversations("kiln", user="ana") == (), "said in another workspace"
    assert len(memory.search_conversations("kiln", user="ana", workspace=tmp_path)) == 1
    assert memory.search_conversations("kiln", user="ben", workspace=tmp_path) == ()


@pytest.mark.promise("visibility.project")
def test_a_read_binds_no_workspace(memory: Memory, tmp_path: Path) -> None:
    assert memory.search("x", workspace=tmp_path) == ()
    assert memory.list(workspace=tmp_path).items == ()
    assert memory.workspace_of(tmp_path) is None
    assert list(tmp_path.glob("*/.memstrata")) == []
    assert not (memory.home / "workspaces.json").exists()
    with pytest.raises(Invalid) as caught:
        memory.list(workspace=tmp_path / "nowhere")
    assert caught.value.field == "workspace"


# -- pages ----------------------------------------------------------------------------------------------


@pytest.mark.promise("read.pages")
def test_pages_stay_right_while_others_are_added(memory: Memory) -> None:
    made = [memory.add(name=f"n{n}", description="d").id for n in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = memory.list(limit=3, cursor=cursor)
        seen += [one.id for one in page.items]
        cursor = page.cursor
        if cursor is None:
            break
        made.append(memory.add(name=f"late {len(made)}", description="d").id)
    assert seen == made
    assert len(memory.list(limit=len(made)).items) == len(made)
    assert memory.list(limit=len(made)).cursor is None


@pytest.mark.promise("read.pages")
def test_the_newest_first_a_page_at_a_time(memory: Memory) -> None:
    made = [memory.add(name=f"n{number}", description=f"d{number}").id for number in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        page = memory.list(newest=True, limit=3, cursor=cursor)
        seen += [one.id for one in page.items]
        if (cursor := page.cursor) is None:
            break
        memory.add(name=f"later {len(seen)}", description="d")
    assert seen == made[::-1]


@pytest.mark.promise("read.pages")
def test_verdicts_in_pages_newest_first(memory: Memory) -> None:
    towns = ("Tarnow", "Krosno", "Sanok", "Gdynia", "Lublin")
    for n, town in enumerate(towns):
        commit(memory, f"m{n}", f"I think I live in {town}.", session=f"s{n}")
    numbers: list[int] = []
    cursor: str | None = None
    for _ in range(3):
        page = memory.why(limit=2, cursor=cursor)
        numbers += [row.number for row in page.items]
        cursor = page.cursor
    assert cursor is None
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == 5
    with pytest.raises(Invalid):
        memory.why(cursor="x")


@pytest.mark.promise("read.pages")
def test_a_list_is_filtered(memory: Memory, clock: FakeClock, tmp_path: Path) -> None:
    owl = memory.add(name="owl", description="An owl", type="episodic")
    old = memory.add(name="old", description="Gone", valid_until="2020-01-01")
    kiln = memory.add(
        name="kiln", description="Hot", scope="project", type="project", workspace=tmp_path
    )

    def listed(**asked: object) -> list[str]:
        return [one.id for one in memory.list(workspace=tmp_path, **asked).items]  # type: ignore[arg-type]

    assert listed() == [owl.id, old.id, kiln.id]
    assert listed(type="episodic") == [owl.id]
    assert listed(status="expired") == [old.id]
    assert listed(status="active") == [owl.id, kiln.id]
    assert listed(scope="project") == [kiln.id]
    assert listed(text="OWL") == [owl.id]
    assert listed(text="gon", status="active") == []
    for wrong in ({"status": "sold"}, {"type": "owl"}, {"scope": "tree"}, {"limit": 0}):
        with pytest.raises(Invalid):
            listed(**wrong)


# -- where from -------------------------------------------------------------------------------------------


@pytest.mark.promise("read.trace")
def test_a_memory_leads_to_its_quote_and_back(memory: Memory) -> None:
    commit(memory, "m1", "By the way, I live in Tarnow. Where is the market?")
    (home,) = memory.list().items
    trace = memory.trace(home.id)
    assert trace.record == home
    (source,) = trace.sources
    assert source.message is not None
    assert source.message.id == "m1"
    quoted = source.evidence
    assert source.message.content[quoted.start : quoted.end] == quoted.quote
    assert "I live in Tarnow" in quoted.quote
    assert "market" not in quoted.quote
    back = memory.trace("m1")
    assert back.message == source.message
    assert back.derived == (home,)
    commit(memory, "m1", "Nothing of the kind", session="other")
    assert memory.trace("m1", session="s").derived == (home,)
    assert memory.trace("m1", session="other").derived == ()
    with pytest.raises(NotFound):
        memory.trace("m1", session="third")


@pytest.mark.promise("read.trace")
def test_a_chain_of_successors(memory: Memory, clock: FakeClock) -> None:
    made: list[Record] = []
    for year in (2026, 2027, 2028):
        clock.set(datetime(year, 1, 1, 12, tzinfo=UTC))
        made.append(
            memory.add(name="sale", description=f"Sale {year}", valid_until=f"{year}-02-01")
        )
    first, second, third = made
    assert [one.id for one in memory.trace(first.id).successors] == [second.id, third.id]
    assert [one.id for one in memory.trace(third.id).superseded] == [second.id]
    assert memory.get(first.id).superseded_by == second.id


@pytest.mark.promise("read.ended")
def test_what_has_ended_is_readable_and_says_why(memory: Memory, clock: FakeClock) -> None:
    commit(memory, "m1", "I live in Tarnow.")
    clock.advance(days=1)
    memory.session("s").commit(
        [{"role": "user", "content": "I live in Krosno.", "said_at": "2026-02-01"}]
    )
    memory.drain()
    (old,) = memory.list(status="invalid").items
    (new,) = memory.list(status="active").items
    read = memory.get(old.id)
    assert (read.status, read.superseded_by) == ("invalid", new.id)
    assert read.invalid_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert read.retired_at == clock.now()
    assert [line.verb for line in memory.history(old.id)] == ["add", "supersede"]
    assert memory.search("Tarnow", kinds=("memory",)) == ()
    hits = memory.search("Tarnow", kinds=("memory",), include_invalid=True)
    assert [(hit.id, hit.status) for hit in hits] == [(old.id, "invalid")]
