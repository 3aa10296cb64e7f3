"""Vectors through the whole engine: made in the background, searched beside words, healed when lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock
from tests.stub_embeddings import Reply, StubEmbeddings

from memstrata import Denied, Memory
from memstrata.events import Event

BUNDLED = {"embedding.model": ""}
FACTS = {
    "home": "Lives in Tarnow",
    "drink": "Prefers tea to coffee",
    "sister": "The user's sister is called Odile",
    "work": "Repairs church organs for a living",
}


@pytest.fixture
def seeing(open_memory: Open) -> Memory:
    """A memory with the bundled embedder and a few facts, their vectors made."""
    memory = open_memory(settings=BUNDLED)
    for name, description in FACTS.items():
        memory.add(name=name, description=description)
    memory.session("s").commit([{"role": "user", "content": "Our old dog died in the spring."}])
    memory.drain()
    return memory


def names(memory: Memory, query: str) -> list[str]:
    return [hit.name for hit in memory.search(query, kinds=("memory",))]


def filled(memory: Memory) -> bool:
    made, wanted = memory.status().vectors
    return made == wanted > 0


@pytest.mark.promise("vectors.meaning")
def test_what_shares_no_word_is_found_by_its_meaning(seeing: Memory) -> None:
    assert seeing.status().vectors == (5, 5)
    hits = seeing.search("what is my profession", kinds=("memory",))
    assert hits[0].name == "work"
    assert hits[0].lanes == ("vectors",)
    assert hits.degraded == ()
    assert hits.profile == "measured"
    (said,) = seeing.search_conversations("a pet that passed away")
    assert said.lanes == ("vectors",)
    assert names(seeing, "tea")[0] == "drink"


@pytest.mark.promise("vectors.meaning")
def test_another_language_finds_it_too(seeing: Memory) -> None:
    assert names(seeing, "我住在哪个城市？")[0] == "home"


@pytest.mark.promise("vectors.fresh")
def test_an_edit_by_hand_has_its_vector_made_anew(seeing: Memory) -> None:
    (work,) = [one for one in seeing.list().items if one.name == "work"]
    file = seeing.home / "memory" / "user" / f"{work.id}.md"
    file.write_text(file.read_text().replace("Repairs church organs", "Grows apples and pears"))
    seeing.reconcile()
    assert seeing.status().vectors == (5, 5)
    before = seeing.search("keeps an orchard", kinds=("memory",))
    assert work.id not in [hit.id for hit in before if hit.lanes == ("vectors",)], "of the old text"

    def lanes() -> tuple[str, ...]:
        hits = seeing.search("apples and pears", kinds=("memory",))
        return next(hit.lanes for hit in hits if hit.id == work.id)

    assert lanes() == ("fulltext",), "nor does it weigh beside words"
    assert seeing.drain().vectors == 1
    assert names(seeing, "keeps an orchard")[0] == "work"
    assert lanes() == ("fulltext", "vectors")


@pytest.mark.promise("vectors.fresh")
def test_a_file_that_is_gone_takes_its_vector_along(seeing: Memory) -> None:
    (work,) = [one for one in seeing.list().items if one.name == "work"]
    (seeing.home / "memory" / "user" / f"{work.id}.md").unlink()
    seeing.reconcile()
    seeing.drain()
    assert seeing.status().vectors == (4, 4)
    assert "work" not in names(seeing, "what is my profession")


@pytest.mark.promise("vectors.another-embedder")
def test_another_embedder_refills_and_extracts_nothing(open_memory: Open) -> None:
    memory = open_memory(settings={"embedding.model": ""})
    for number in range(20):
        memory.add(name=f"fact {number}", description=f"The mill has {number} doors")
    memory.drain()
    assert memory.status().vectors == (20, 20)
    verdicts = memory.status().verdicts
    memory.close()
    with StubEmbeddings() as stub:
        remote = {
            "embedding.model": "openai-compatible:tiny",
            "embedding.base_url": stub.url,
            "embedding.api_key": "k",
        }
        other = open_memory(settings=remote)
        assert len(other.list().items) == 20
        hits = other.search("mill doors", limit=20)
        assert len(hits) == 20, "full text goes on meanwhile"
        assert any("another embedder" in one for one in hits.degraded), "and says so"
        assert other.status().vectors == (0, 20)
        done = other.drain()
        assert (done.vectors, done.batches) == (20, 0)
        assert (filled(other), other.status().verdicts) == (True, verdicts)
        assert other.search("mill doors").degraded == ()
        other.close()


@pytest.mark.promise("vectors.another-embedder")
def test_a_look_with_another_embedder_takes_nothing_away(open_memory: Open) -> None:
    memory = open_memory(settings=BUNDLED)
    memory.add(name="work", description=FACTS["work"])
    memory.drain()
    memory.close()
    nobody = {
        "embedding.model": "openai-compatible:x",
        "embedding.base_url": "http://127.0.0.1:1/v1",
    }
    other = open_memory(settings=nobody)
    assert other.search("church organs")[0].name == "work"
    assert other.drain().vectors == 0
    assert other.status().vectors == (0, 1)
    other.close()
    again = open_memory(settings=BUNDLED)
    assert filled(again)
    assert names(again, "what is my profession") == ["work"]


@pytest.mark.promise("vectors.meaning")
def test_naming_a_session_reaches_its_messages_whatever_their_workspace(
    open_memory: Open, tmp_path: Path
) -> None:
    memory = open_memory(settings=BUNDLED)
    chat = memory.session("two", workspace=tmp_path)
    chat.commit([{"role": "user", "content": "We plan to take over Umbra next year."}])
    memory.session("two").commit([{"role": "user", "content": "The cat sleeps on the stove."}])
    memory.drain()
    query = "take over Umbra"
    assert all("Umbra" not in hit.content for hit in memory.search_conversations(query))
    found = memory.search_conversations(query, session="two")
    assert ("Umbra" in found[0].content, found[0].lanes) == (True, ("fulltext", "vectors"))


def test_while_memory_is_off_no_vector_is_touched(open_memory: Open) -> None:
    memory = open_memory(settings=BUNDLED)
    memory.add(name="work", description=FACTS["work"])
    memory.drain()
    memory.close()
    off = open_memory(settings={**BUNDLED, "memory.enabled": False})
    with pytest.raises(Denied):
        off.rebuild_vectors()
    off.close()
    assert filled(open_memory(settings=BUNDLED))


@pytest.mark.promise("vectors.degraded")
def test_an_embedder_that_fails_costs_its_lane_only(open_memory: Open, clock: FakeClock) -> None:
    with StubEmbeddings() as stub:
        remote = {
            "embedding.model": "openai-compatible:tiny",
            "embedding.base_url": stub.url,
            "embedding.api_key": "k",
        }
        stub.say(
            *[Reply(status=500)] * 3
        )  # two shelves and a query; a failed one is not asked again at once
        memory = open_memory(settings=remote)
        heard: list[Event] = []
        memory._world.bus.listen(heard.append)
        memory.add(name="home", description="Lives in Tarnow")
        memory.session("s").commit([{"role": "user", "content": "I prefer tea."}])
        assert memory.drain().vectors == 0
        hits = memory.search("Tarnow")
        assert [hit.name for hit in hits] == ["home"]
        assert any("full text only" in one for one in hits.degraded)
        assert any(one.name == "vectors.unavailable" and one.degraded for one in heard)
        assert any("vectors cannot be made" in one for one in memory.status().degraded)
        assert memory.session("s").recall("Tarnow").status == "matched"
        clock.advance(seconds=60)
        assert memory.drain().vectors == 3, "it heals by itself"
        assert memory.status().degraded == ()
        memory.close()


@pytest.mark.promise("vectors.lost")
@pytest.mark.parametrize("size", [0, 100, 5_000, 20_000])
def test_a_truncated_file_is_begun_anew(open_memory: Open, home: Path, size: int) -> None:
    memory = open_memory(settings=BUNDLED)
    memory.add(name="work", description=FACTS["work"])
    memory.drain()
    memory.close()
    for log in home.glob("vectors.db-*"):
        log.unlink()
    with (home / "vectors.db").open("r+b") as file:
        file.truncate(size)
    again = open_memory(settings=BUNDLED)
    assert next(hit.name for hit in again.search("church organs")) == "work"
    assert again.drain().vectors >= 1
    assert filled(again)
    assert again.status().degraded == ()
    assert names(again, "what is my profession") == ["work"]


@pytest.mark.promise("vectors.rebuild")
def test_rebuilding_clears_and_fills(seeing: Memory) -> None:
    told: list[tuple[str, int, int]] = []
    assert seeing.rebuild_vectors(progress=lambda *one: told.append(one)).vectors == 5
    assert {what for what, _, _ in told} == {"embedding"}
    assert told[-1][1:] == (5, 5)
    assert filled(seeing)


def test_without_vectors_there_is_nothing_to_rebuild(memory: Memory) -> None:
    assert memory.status().embedder == "none: full text only"
    with pytest.raises(Denied, match="switched off"):
        memory.rebuild_vectors()


@pytest.mark.promise("vectors.lost")
def test_an_index_made_anew_embeds_nothing_again(seeing: Memory) -> None:
    seeing.reindex()
    assert seeing.drain().vectors == 0
    assert filled(seeing)


@pytest.mark.promise("vectors.lost")
def test_killed_before_they_are_kept_they_are_made_again(open_memory: Open, home: Path) -> None:
    memory = open_memory(settings=BUNDLED)
    memory.add(name="work", description=FACTS["work"])
    memory.close()
    killed = subprocess.run(
        [sys.executable, "-m", "memstrata", "--home", str(home), "extract"],
        env={
            **os.environ,
            "MEMSTRATA_EMBEDDING__MODEL": "",
            "MEMSTRATA_FAILPOINTS": "embed.made=kill",
        },
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    again = open_memory(settings=BUNDLED)
    assert again.status().vectors == (0, 1)
    assert again.drain().vectors == 1
    assert filled(again)


@pytest.mark.promise("recall.evidence")
def test_what_is_about_nothing_of_it_recalls_nothing(seeing: Memory) -> None:
    recalled = seeing.session("t").recall("How do I sort a list in Python?")
    assert [item.name for item in recalled.items if item.part == "turn"] == []
