"""What every keeper of vectors keeps: inherit `VectorsContract`, provide `vectors` and `opening`."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from memstrata.domain.scope import Realm
from memstrata.errors import Conflict, Internal, Unavailable
from memstrata.ports import Near, Shelf, Vector, Vectored, Vectors

EMBEDDING = "words-1 mean 24"
OTHER = "words-2 mean 24"
DIMENSION = 24
SPACE = "orchard"
ANN = Realm(SPACE, "ann")
ANNS = Shelf(ANN, "user", "")
TALK = Shelf(ANN, "message", "ws-1")
CLOSE = 1e-3
"""How far a score may be from the cosine: vectors may be stored with half the precision."""


def vector(seed: object, dimension: int = DIMENSION) -> Vector:
    """A vector of unit length, the same for the same seed."""
    dice = Random(repr(seed))
    return unit([dice.gauss(0, 1) for _ in range(dimension)])


def unit(numbers: Sequence[float]) -> Vector:
    """Numbers as a vector of unit length."""
    length = math.sqrt(sum(one * one for one in numbers)) or 1.0
    return struct.pack(f"<{len(numbers)}f", *(one / length for one in numbers))


def cosine(one: Vector, other: Vector) -> float:
    """Of two vectors of unit length."""
    a, b = (struct.unpack(f"<{len(v) // 4}f", v) for v in (one, other))
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def digest(seed: object) -> bytes:
    """Something like the hash of a text."""
    return Random(f"digest {seed!r}").randbytes(16)


def row(id: str, seed: object = None) -> Vectored:
    """The vector of a text with that id; `seed` (the id itself) tells what the text was."""
    what = id if seed is None else seed
    return Vectored(id, digest(what), vector(what))


def rows(*ids: str) -> list[Vectored]:
    """The vectors of some texts."""
    return [row(id) for id in ids]


def top(
    vectors: Vectors, shelf: Shelf = ANNS, query: object = "?", limit: int = 9_999
) -> list[Near]:
    """The nearest to a query."""
    return vectors.scores(shelf, vector(query)).top(limit)


def ids(vectors: Vectors, shelf: Shelf = ANNS) -> set[str]:
    """The ids that a search of a shelf finds, which must be those that it holds."""
    found = [near.id for near in top(vectors, shelf)]
    assert len(found) == len(set(found)) == len(vectors.scores(shelf, vector("?")))
    assert set(found) == vectors.held(shelf).keys()
    return set(found)


def check(vectors: Vectors, shelf: Shelf, expected: dict[str, Vectored]) -> None:
    """Everything a shelf says is as it should be for these vectors."""
    assert vectors.held(shelf) == {one.id: one.digest for one in expected.values()}
    assert vectors.counts(shelf.realm.space).get(shelf, 0) == len(expected)
    scores = vectors.scores(shelf, vector("?"))
    found = scores.top(len(expected) + 1)
    assert len(scores) == len(found) == len(expected)
    assert [near.score for near in found] == sorted((near.score for near in found), reverse=True)
    for near in found:
        assert near.digest == expected[near.id].digest
        assert near.score == pytest.approx(cosine(expected[near.id].vector, vector("?")), abs=CLOSE)
    assert scores.of(list(expected)) == {near.id: near for near in found}


class VectorsContract:
    """One suite for every keeper of vectors."""

    @pytest.fixture
    def vectors(self) -> Iterator[Vectors]:
        """An empty one, begun with `EMBEDDING`."""
        raise NotImplementedError

    @pytest.fixture
    def opening(self) -> str:
        """Python that another process runs to have the same as `vectors`, not begun."""
        raise NotImplementedError

    # -- searching -------------------------------------------------------------------------------

    def test_an_empty_shelf_answers_nothing(self, vectors: Vectors) -> None:
        scores = vectors.scores(ANNS, vector("?"))
        assert (len(scores), scores.top(5), scores.of(["m1"])) == (0, [], {})
        assert (vectors.held(ANNS), vectors.reached(ANNS), vectors.counts(SPACE)) == ({}, 0, {})
        assert vectors.lost() == ""

    def test_the_nearest_come_first_with_their_cosines(self, vectors: Vectors) -> None:
        there = {id: row(id) for id in (f"m{n}" for n in range(50))}
        vectors.put(ANNS, list(there.values()))
        check(vectors, ANNS, there)
        assert top(vectors, query="m7", limit=1)[0].id == "m7"
        assert top(vectors, query="m7", limit=1)[0].score == pytest.approx(1, abs=CLOSE)

    @pytest.mark.parametrize("limit", [0, 1, 2, 9, 10, 11, 10_000])
    def test_as_many_as_wanted(self, vectors: Vectors, limit: int) -> None:
        vectors.put(ANNS, rows(*(f"m{n}" for n in range(10))))
        assert top(vectors, limit=limit) == top(vectors)[:limit]
        assert len(top(vectors)) == 10

    def test_of_equal_ones_the_smaller_id_comes_first(self, vectors: Vectors) -> None:
        names = [f"m{n:03}" for n in range(203)]
        Random(1).shuffle(names)
        for at in range(0, 203, 29):
            vectors.put(ANNS, [row(id, "same") for id in names[at : at + 29]])
        assert [near.id for near in top(vectors)] == sorted(names)
        assert len({near.score for near in top(vectors)}) == 1
        assert [near.id for near in top(vectors, limit=7)] == sorted(names)[:7]

    def test_some_are_asked_for(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1", "m2", "m3"))
        vectors.put(TALK, rows("m4"))
        scores = vectors.scores(ANNS, vector("?"))
        assert scores.of(["m3", "m4", "m1", "nobody", "m3"]).keys() == {"m1", "m3"}
        assert scores.of([]) == {}
        everyone = {near.id: near for near in scores.top(3)}
        assert scores.of(["m3", "m1"]) == {id: everyone[id] for id in ("m1", "m3")}

    def test_a_vector_of_zeros_is_near_nothing(self, vectors: Vectors) -> None:
        nothing = unit([0.0] * DIMENSION)
        vectors.put(ANNS, [Vectored("empty", b"", nothing), row("m1")])
        assert vectors.scores(ANNS, vector("m1")).of(["empty"])["empty"].score == 0
        assert [near.score for near in vectors.scores(ANNS, nothing).top(5)] == [0, 0]

    # -- writing ---------------------------------------------------------------------------------

    def test_shelves_do_not_meet(self, vectors: Vectors) -> None:
        shelves = [
            ANNS,
            TALK,
            Shelf(ANN, "message", ""),
            Shelf(ANN, "message", "ws-2"),
            Shelf(ANN, "agent", "ws-1"),
            Shelf(Realm(SPACE, ""), "project", "ws-1"),
            Shelf(Realm(SPACE, "bob"), "user", ""),
            Shelf(Realm("quarry", "ann"), "user", ""),
        ]
        for n, shelf in enumerate(shelves):
            vectors.put(shelf, [row("same", n), row(f"m{n}")], reached=n + 1)
        for n, shelf in enumerate(shelves):
            check(vectors, shelf, {"same": row("same", n), f"m{n}": row(f"m{n}")})
            assert vectors.reached(shelf) == n + 1
        assert vectors.counts(SPACE) == dict.fromkeys(shelves[:-1], 2)
        vectors.drop(ANNS, ["same"])
        assert ids(vectors) == {"m0"}
        assert vectors.counts(SPACE)[ANNS] == 1
        assert all("same" in ids(vectors, shelf) for shelf in shelves[1:])

    def test_a_new_vector_takes_the_place_of_the_old(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1", "m2", "m3"))
        top(vectors)
        vectors.put(ANNS, [row("m2", "another text"), row("m4")])
        names = {"m1": "m1", "m2": "another text", "m3": "m3", "m4": "m4"}
        check(vectors, ANNS, {id: row(id, seed) for id, seed in names.items()})

    def test_the_last_of_the_same_id_counts(self, vectors: Vectors) -> None:
        vectors.put(ANNS, [row("m1", "a"), row("m2"), row("m1", "b")])
        check(vectors, ANNS, {"m1": row("m1", "b"), "m2": row("m2")})

    def test_what_was_dropped_is_not_found(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1", "m2", "m3"))
        top(vectors)
        vectors.drop(ANNS, ["m2", "nobody"])
        check(vectors, ANNS, {id: row(id) for id in ("m1", "m3")})
        vectors.drop(ANNS, ["m1", "m3"])
        vectors.drop(ANNS, ["m1"])
        vectors.drop(TALK, ["m1"])
        check(vectors, ANNS, {})
        vectors.put(ANNS, rows("m2"))
        check(vectors, ANNS, {"m2": row("m2")})

    def test_how_far_a_shelf_is_filled(self, vectors: Vectors) -> None:
        vectors.put(TALK, rows("m1", "m2"), reached=2)
        vectors.put(TALK, rows("m3"))
        assert vectors.reached(TALK) == 2
        vectors.put(TALK, [], reached=9)
        assert vectors.reached(TALK) == 9
        vectors.drop(TALK, ["m1"])
        assert (vectors.reached(TALK), vectors.reached(ANNS)) == (9, 0)
        vectors.put(Shelf(ANN, "message", "quiet"), [], reached=4)
        assert vectors.reached(Shelf(ANN, "message", "quiet")) == 4
        assert vectors.counts(SPACE) == {TALK: 2}

    @pytest.mark.parametrize("hash", [b"", b"\x00\xff\x00", bytes(32)])
    def test_any_id_and_any_digest(self, vectors: Vectors, hash: bytes) -> None:
        names = ["s1\nm1", "蜂蜜", 'it\'s "m" %_*', "x" * 512, "\U0001f41d", " ", "", "M1", "m1 "]
        there = {id: Vectored(id, hash, vector(id)) for id in names}
        vectors.put(ANNS, list(there.values()))
        check(vectors, ANNS, there)
        vectors.put(ANNS, rows("m1"))
        vectors.drop(ANNS, names)
        assert ids(vectors) == {"m1"}

    def test_what_is_no_vector_is_not_taken(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1"))
        broken = {
            "longer": vector("x", DIMENSION + 1),
            "none": b"",
            "half": vector("x")[:-2],
            "nan": struct.pack(f"<{DIMENSION}f", math.nan, *[0.0] * (DIMENSION - 1)),
            "infinite": struct.pack(f"<{DIMENSION}f", math.inf, *[0.0] * (DIMENSION - 1)),
            "huge": struct.pack(f"<{DIMENSION}f", *[3e38] * DIMENSION),
            "long": struct.pack(f"<{DIMENSION}f", *[1.0] * DIMENSION),
        }
        for name, one in broken.items():
            with pytest.raises(Internal):
                vectors.put(ANNS, [row("m2"), Vectored(name, b"", one)])
            with pytest.raises(Internal):
                vectors.scores(ANNS, one)
        check(vectors, ANNS, {"m1": row("m1")})

    def test_whatever_is_put_and_dropped(self, vectors: Vectors) -> None:
        dice = Random(2)
        there: dict[str, Vectored] = {}
        for step in range(120):
            chosen = [f"m{dice.randrange(40)}" for _ in range(dice.randrange(1, 5))]
            if dice.random() < 0.4:
                vectors.drop(ANNS, chosen)
                there = {id: one for id, one in there.items() if id not in chosen}
            else:
                new = {id: row(id, (id, step)) for id in chosen}
                vectors.put(ANNS, list(new.values()))
                there |= new
            if dice.random() < 0.7:
                check(vectors, ANNS, there)
        check(vectors, ANNS, there)

    # -- whose vectors ---------------------------------------------------------------------------

    def test_another_embedder_begins_anew(self, vectors: Vectors) -> None:
        assert vectors.begin(EMBEDDING) is False
        vectors.put(ANNS, rows("m1"), reached=3)
        assert vectors.begin(EMBEDDING) is False
        assert ids(vectors) == {"m1"}
        assert vectors.begin(OTHER) is True
        assert vectors.begin(OTHER) is False
        assert (vectors.counts(SPACE), vectors.reached(ANNS), vectors.held(ANNS)) == ({}, 0, {})
        short = Vectored("m1", b"", vector(1, 8))
        vectors.put(ANNS, [short])
        assert vectors.scores(ANNS, short.vector).top(5)[0].id == "m1"
        assert vectors.lost() == ""

    def test_another_embedder_takes_nothing_where_nothing_was(self, vectors: Vectors) -> None:
        vectors.put(TALK, [], reached=5)
        assert vectors.begin(OTHER) is False
        assert vectors.reached(TALK) == 0

    def test_whose_vectors_must_be_said(self, vectors: Vectors) -> None:
        with pytest.raises(Internal):
            vectors.begin("")

    def test_clearing(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1", "m2"), reached=7)
        vectors.put(TALK, rows("m3"))
        vectors.clear()
        for shelf in (ANNS, TALK):
            check(vectors, shelf, {})
        assert (vectors.counts(SPACE), vectors.reached(ANNS), vectors.lost()) == ({}, 0, "")
        vectors.put(ANNS, rows("m9"))
        check(vectors, ANNS, {"m9": row("m9")})

    # -- threads and processes -------------------------------------------------------------------

    def test_threads_put_drop_and_search_at_once(self, vectors: Vectors) -> None:
        ready = threading.Barrier(6)

        def write(name: str) -> None:
            ready.wait(30)
            for n in range(15):
                vectors.put(ANNS, rows(f"{name}{n}", f"{name}{n}-gone"))
                vectors.drop(ANNS, [f"{name}{n}-gone"])

        def search(_: str) -> None:
            ready.wait(30)
            seen: set[str] = set()
            for _look in range(40):
                found = top(vectors)
                assert all(near.digest == digest(near.id) for near in found)
                lasting = {near.id for near in found if not near.id.endswith("gone")}
                assert seen <= lasting
                seen = lasting

        with ThreadPoolExecutor(6) as pool:
            work = [pool.submit(write, name) for name in "abc"]
            work += [pool.submit(search, "") for _ in range(3)]
            for one in work:
                one.result()
        assert ids(vectors) == {f"{name}{n}" for name in "abc" for n in range(15)}

    def test_what_another_process_changes_is_seen(self, vectors: Vectors, opening: str) -> None:
        vectors.put(ANNS, rows("m1", "m2", "m3"))
        top(vectors)
        run(
            opening,
            "vectors.begin(EMBEDDING)\n"
            "assert ids(vectors) == {'m1', 'm2', 'm3'}\n"
            "vectors.put(ANNS, [row('m2', 'another text'), row('m4')])\n"
            "vectors.drop(ANNS, ['m1'])\n"
            "vectors.put(TALK, [row('m5')], reached=5)\n",
        )
        names = {"m2": "another text", "m3": "m3", "m4": "m4"}
        check(vectors, ANNS, {id: row(id, seed) for id, seed in names.items()})
        check(vectors, TALK, {"m5": row("m5")})
        assert vectors.reached(TALK) == 5

    def test_processes_put_at_once(self, vectors: Vectors, opening: str) -> None:
        script = (
            "vectors.begin(EMBEDDING)\n"
            "for n in range(20):\n"
            "    vectors.put(ANNS, [row(f'{NAME}{n}')])\n"
            "    found = {near.id for near in top(vectors)}\n"
            "    assert {f'{NAME}{i}' for i in range(n + 1)} <= found\n"
        )
        others = [start(opening, f"NAME = {name!r}\n{script}") for name in "ab"]
        for n in range(20):
            vectors.put(ANNS, rows(f"here{n}"))
            top(vectors)
        for other in others:
            ended(other)
        assert ids(vectors) == {f"{name}{n}" for name in ("here", "a", "b") for n in range(20)}

    def test_the_embedder_that_was_changed_elsewhere(self, vectors: Vectors, opening: str) -> None:
        vectors.put(ANNS, rows("m1"))
        top(vectors)
        run(
            opening,
            f"assert vectors.begin({OTHER!r}) is True\n"
            "assert ids(vectors) == set()\n"
            "vectors.put(ANNS, [row('theirs')])\n",
        )
        with pytest.raises(Conflict):
            vectors.put(ANNS, rows("m2"))
        with pytest.raises(Unavailable):
            vectors.scores(ANNS, vector("?"))
        assert (vectors.held(ANNS), vectors.counts("orchard")) == ({}, {}), "none is ours"
        assert vectors.begin(EMBEDDING) is True
        vectors.put(ANNS, rows("m2"))
        assert ids(vectors) == {"m2"}

    def test_some_that_are_held(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1", "m2"))
        every = vectors.held(ANNS)
        assert vectors.held(ANNS, ["m2", "unknown"]) == {"m2": every["m2"]}
        assert vectors.held(ANNS, []) == {}

    def test_expecting_takes_nothing_away(self, vectors: Vectors, opening: str) -> None:
        vectors.put(ANNS, rows("m1"), reached=7)
        script = (
            "from memstrata.errors import Conflict, Unavailable\n"
            f"vectors.expect({OTHER!r})\n"
            "assert (vectors.held(ANNS), vectors.reached(ANNS)) == ({}, 0)\n"
            "assert vectors.counts('orchard') == {}\n"
            "for work, error in ((lambda: vectors.put(ANNS, [row('m2')]), Conflict),\n"
            "                    (lambda: vectors.scores(ANNS, vector('?')), Unavailable)):\n"
            "    try:\n"
            "        work()\n"
            "    except error:\n"
            "        continue\n"
            "    raise AssertionError('it was allowed')\n"
        )
        run(opening, script)
        assert (ids(vectors), vectors.reached(ANNS)) == ({"m1"}, 7)

    def test_whoever_did_not_begin_may_only_look(self, vectors: Vectors, opening: str) -> None:
        vectors.put(ANNS, rows("m1"))
        script = (
            "from memstrata.errors import Internal\n"
            "assert vectors.held(ANNS).keys() == {'m1'}\n"
            "assert vectors.counts('orchard') == {ANNS: 1}\n"
            "for work in (lambda: vectors.put(ANNS, [row('m2')]),\n"
            "             lambda: vectors.scores(ANNS, vector('?'))):\n"
            "    try:\n"
            "        work()\n"
            "    except Internal:\n"
            "        continue\n"
            "    raise AssertionError('it was allowed')\n"
        )
        run(opening, script)
        assert ids(vectors) == {"m1"}

    def test_after_closing_nothing_goes(self, vectors: Vectors) -> None:
        vectors.put(ANNS, rows("m1"))
        vectors.close()
        vectors.close()
        with pytest.raises(Internal):
            vectors.held(ANNS)
        with pytest.raises(Internal):
            vectors.put(ANNS, rows("m2"))


_NAMES = "from tests.contracts.vectors import ANNS, EMBEDDING, TALK, ids, row, top, vector\n"


def start(opening: str, script: str) -> subprocess.Popen[str]:
    """Run a script in a process of its own, after `opening`."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", f"{_NAMES}{opening}\n{script}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    """Wait for it, and see that nothing went wrong; gives what it printed."""
    out, err = process.communicate(timeout=90)
    assert (process.returncode, err) == (0, "")
    return out


def run(opening: str, script: str) -> str:
    """Both."""
    return ended(start(opening, script))
