"""The SQLite vectors: the contract, and what can happen to a file that is begun anew rather than repaired."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contracts.vectors import (
    ANN,
    ANNS,
    EMBEDDING,
    OTHER,
    TALK,
    VectorsContract,
    check,
    digest,
    ended,
    ids,
    row,
    rows,
    run,
    start,
    top,
    vector,
)
from tests.faults.disks import Disk

from memstrata.adapters.sqlite.vectors import SqliteVectors
from memstrata.adapters.sqlite.vectors_file import PAGE, SQL
from memstrata.errors import Unavailable
from memstrata.ports import Near, Shelf, Vectored, Vectors


def opened(folder: Path, **given: object) -> SqliteVectors:
    """The vectors in a folder, begun."""
    found = SqliteVectors(folder / "vectors.db", **given)  # type: ignore[arg-type]
    found.begin(EMBEDDING)
    return found


def opening(folder: Path) -> str:
    """The same as a script, not begun."""
    return (
        "from pathlib import Path\n"
        "from memstrata.adapters.sqlite.vectors import SqliteVectors\n"
        f"vectors = SqliteVectors(Path({str(folder)!r}) / 'vectors.db')\n"
    )


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteVectors]:
    found = opened(tmp_path)
    yield found
    found.close()


class TestSqliteVectors(VectorsContract):
    @pytest.fixture
    def vectors(self, sqlite: SqliteVectors) -> Vectors:
        return sqlite

    @pytest.fixture
    def opening(self, tmp_path: Path) -> str:
        return opening(tmp_path)


class TestLargeShelves(VectorsContract):
    """The same where every shelf but the smallest is scanned by signs."""

    @pytest.fixture
    def vectors(self, tmp_path: Path) -> Iterator[Vectors]:
        found = opened(tmp_path, large=3)
        yield found
        found.close()

    @pytest.fixture
    def opening(self, tmp_path: Path) -> str:
        return opening(tmp_path)


def fill(vectors: Vectors, count: int = 200, shelf: Shelf = ANNS, width: int = 200) -> None:
    """Put vectors in parts, each of `width` numbers so that a page holds few."""
    made = [Vectored(f"m{n:04}", digest(n), vector(n, width)) for n in range(count)]
    for at in range(0, count, 20):
        vectors.put(shelf, made[at : at + 20])


def found(vectors: Vectors, width: int = 200, limit: int = 9_999) -> list[Near]:
    """What a search among them finds."""
    return vectors.scores(ANNS, vector("?", width)).top(limit)


def raw(folder: Path) -> apsw.Connection:
    """Another program's connection to the file."""
    return apsw.Connection(str(folder / "vectors.db"))


def bytes_of(folder: Path) -> bytes:
    """Every byte of the file and of what lies beside it."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


# -- the file --------------------------------------------------------------------------------------


def test_the_files_are_the_owners_alone(tmp_path: Path) -> None:
    vectors = SqliteVectors(tmp_path / "new" / "home" / "vectors.db")
    assert list(tmp_path.iterdir()) == []
    vectors.begin(EMBEDDING)
    vectors.put(ANNS, rows("m1"))
    names = ("vectors.db", "vectors.db-wal", "vectors.db-shm")
    modes = {file.name: file.stat().st_mode & 0o777 for file in vectors.path.parent.iterdir()}
    assert modes == dict.fromkeys(names, 0o600)
    vectors.close()
    assert [file.name for file in vectors.path.parent.iterdir()] == ["vectors.db"]


def test_what_was_put_is_there_after_reopening(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as vectors:
        vectors.put(ANNS, rows("m1", "m2"), reached=2)
        before = top(vectors)
    with closing(opened(tmp_path)) as vectors:
        assert (top(vectors), vectors.reached(ANNS), vectors.lost()) == (before, 2, "")


def test_every_statement_finds_its_rows_by_an_index(sqlite: SqliteVectors) -> None:
    """Cost grows with the shelf that is asked for, not with the file."""
    ids(sqlite)
    with closing(raw(sqlite.path.parent)) as db:
        for name, sql in SQL.items():
            if name.startswith("create_"):
                continue
            plan = db.execute(f"EXPLAIN QUERY PLAN {sql}", defaultdict(lambda: None)).fetchall()
            steps = [str(step[3]) for step in plan]
            scanned = {hit[1] for one in steps if (hit := re.match(r"SCAN (\w+)", one))}
            assert scanned <= {"json_each", "meta"} or name in ("any", "forget_shelves"), (
                name,
                steps,
            )
            if name in ("held", "rows"):
                assert "COVERING INDEX vector_ids" in steps[0]
        (page,) = db.execute("PRAGMA page_size").fetchall()
        assert page == (PAGE,)


def test_without_numpy_it_says_so_and_tells_what_it_can(sqlite: SqliteVectors) -> None:
    sqlite.put(ANNS, rows("m1"), reached=3)
    script = (
        "import sys\n"
        "assert 'numpy' not in sys.modules\n"
        "assert vectors.begin(EMBEDDING) is False\n"
        "assert vectors.held(ANNS).keys() == {'m1'}\n"
        "assert (vectors.reached(ANNS), vectors.counts('orchard')) == (3, {ANNS: 1})\n"
        "assert 'numpy' not in sys.modules\n"
        "sys.modules['numpy'] = None\n"
        "from memstrata.errors import Unavailable\n"
        "for work in (lambda: vectors.put(ANNS, [row('m2')]),\n"
        "             lambda: vectors.scores(ANNS, vector('?'))):\n"
        "    try:\n"
        "        work()\n"
        "    except Unavailable as error:\n"
        "        assert 'need numpy 2' in error.message\n"
        "        continue\n"
        "    raise AssertionError('it went')\n"
        "vectors.drop(ANNS, ['m1'])\n"
    )
    run(opening(sqlite.path.parent), script)
    assert ids(sqlite) == set()


# -- what is stored --------------------------------------------------------------------------------


def clustered(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Vectors of unit length around 40 directions, which themselves lean to one side, as encoders' do."""
    dice = np.random.default_rng(seed)
    middles = dice.standard_normal((40, dimension)) + 1
    made = middles[dice.integers(0, 40, count)] + 0.8 * dice.standard_normal((count, dimension))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float32)


def vectored(numbers: NDArray[np.float32], first: int = 0) -> list[Vectored]:
    """Texts with these vectors."""
    return [Vectored(f"m{n:05}", digest(n), one.tobytes()) for n, one in enumerate(numbers, first)]


def test_storing_with_half_the_precision_changes_no_ranking(sqlite: SqliteVectors) -> None:
    numbers, queries = clustered(1_500, 896, 1), clustered(20, 896, 2)
    sqlite.put(ANNS, vectored(numbers))
    for query in queries:
        exact = numbers.astype(np.float64) @ query.astype(np.float64)
        best = sorted(range(len(exact)), key=lambda n: -exact[n])
        hits = sqlite.scores(ANNS, query.tobytes()).top(1_500)
        assert [hit.id for hit in hits[:10]] == [f"m{n:05}" for n in best[:10]]
        assert all(abs(hit.score - exact[int(hit.id[1:])]) < 1e-5 for hit in hits)


def test_a_large_shelf_finds_what_an_exact_scan_finds(tmp_path: Path) -> None:
    numbers, queries = np.split(clustered(6_060, 128, 3), [6_000])
    with closing(opened(tmp_path, large=5_999)) as vectors:
        vectors.put(ANNS, vectored(numbers[:5_999]))
        exact = [vectors.scores(ANNS, query.tobytes()) for query in queries]
        assert {type(one).__name__ for one in exact} == {"ExactScores"}
        vectors.put(ANNS, vectored(numbers[5_999:], 5_999))
        kept = 0
        scores = vectors.scores(ANNS, queries[0].tobytes())
        for query in queries:
            scores = vectors.scores(ANNS, query.tobytes())
            assert type(scores).__name__ == "SignScores"
            cosines = numbers @ query
            best = {f"m{n:05}" for n in np.argsort(-cosines)[:10]}
            hits = scores.top(10)
            kept += len(best & {hit.id for hit in hits})
            assert all(abs(hit.score - cosines[int(hit.id[1:])]) < 1e-5 for hit in hits)
            some = scores.of(["m00007", "m05999", "nobody"])
            assert some["m00007"].score == pytest.approx(cosines[7], abs=1e-5)
            assert some.keys() == {"m00007", "m05999"}
        assert kept >= 0.99 * 10 * len(queries)
        everything = scores.top(6_000)
        assert len(everything) == 6_000
        assert everything == sorted(everything, key=lambda hit: (-hit.score, hit.id))
        vectors.drop(ANNS, ["m00000"])
        assert type(vectors.scores(ANNS, query.tobytes())).__name__ == "ExactScores"


def test_what_goes_during_a_search_of_a_large_shelf_is_left_out(tmp_path: Path) -> None:
    with closing(opened(tmp_path, large=3)) as vectors:
        vectors.put(ANNS, rows("m1", "m2", "m3", "m4", "m5"))
        scores = vectors.scores(ANNS, vector("?"))
        vectors.drop(ANNS, ["m2"])
        vectors.put(ANNS, rows("m6"))
        assert {near.id for near in scores.top(9)} == {"m1", "m3", "m4", "m5"}
        assert scores.of(["m2", "m3", "m6"]).keys() == {"m3"}
        vectors.clear()
        with pytest.raises(Unavailable, match="begun anew during a search"):
            scores.top(9)


# -- what is in memory -----------------------------------------------------------------------------


def tamper(folder: Path, id: str) -> None:
    """Spoil a vector on the disk, which only somebody who reads it can notice."""
    with closing(raw(folder)) as db:
        db.execute("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE id = ?", (id,))
        assert db.changes() == 1


def test_only_what_came_since_is_read(sqlite: SqliteVectors) -> None:
    sqlite.put(ANNS, rows("m1", "m2", "m3"))
    before = top(sqlite)
    tamper(sqlite.path.parent, "m1")
    assert top(sqlite) == before
    sqlite.put(ANNS, rows("m4"))
    sqlite.drop(ANNS, ["m3"])
    sqlite.put(ANNS, [row("m2", "another text")])
    names = {"m1": "m1", "m2": "another text", "m4": "m4"}
    check(sqlite, ANNS, {id: row(id, seed) for id, seed in names.items()})
    with closing(opened(sqlite.path.parent)) as other, pytest.raises(Unavailable, match="damaged"):
        top(other)


@pytest.mark.parametrize("large", [0, 50_000])
def test_what_was_searched_last_stays_in_memory(tmp_path: Path, large: int) -> None:
    with closing(opened(tmp_path, cache=1, large=large)) as vectors:
        vectors.put(ANNS, rows("m1"))
        vectors.put(TALK, rows("m2"))
        before = top(vectors)
        tamper(tmp_path, "m1")
        if not large:  # it compares what it reads
            with pytest.raises(Unavailable):
                top(vectors)
            return
        assert top(vectors) == before
        top(vectors, TALK)
        with pytest.raises(Unavailable):
            top(vectors)


def test_scores_do_not_move(sqlite: SqliteVectors) -> None:
    sqlite.put(ANNS, rows("m1", "m2", "m3"))
    untouched, asked = (sqlite.scores(ANNS, vector("?")) for _ in range(2))
    before = asked.top(9)
    for n in range(40):
        sqlite.put(ANNS, [row("m2", n), row(f"n{n}")])
        top(sqlite)
    sqlite.drop(ANNS, ["m1"])
    top(sqlite)
    for scores in (asked, untouched):
        assert (scores.top(9), len(scores)) == (before, 3)
        assert scores.of(["m1", "m2", "n1"]).keys() == {"m1", "m2"}
    assert {near.id: near.digest for near in before}["m2"] == digest("m2")


# -- erasure ---------------------------------------------------------------------------------------


def pieces(data: bytes) -> set[bytes]:
    """Every 12 bytes in a row."""
    return {data[at : at + 12] for at in range(len(data) - 11)}


def stored(folder: Path) -> dict[str, bytes]:
    """The bytes of each vector as they are in the file, by id."""
    with closing(raw(folder)) as db:
        return {str(id): bytes(v) for id, v in db.execute("SELECT id, vector FROM vectors")}


@pytest.mark.parametrize("order", ["shelf by shelf", "by turns"])
def test_of_what_was_dropped_no_byte_is_left(sqlite: SqliteVectors, order: str) -> None:
    folder = sqlite.path.parent
    shelves = [ANNS, TALK, Shelf(ANN, "agent", "cook")]
    todo = [(shelf, n) for shelf in shelves for n in range(60)]
    if order == "by turns":
        Random(1).shuffle(todo)
    for shelf, n in todo:
        name = f"text-{shelf.kind}-{n}!"
        sqlite.put(shelf, [Vectored(name, digest(name), vector(name, 300))])
    there = stored(folder)
    gone = {name: there[name] for name in Random(2).sample(sorted(there), 60)}
    for shelf in shelves:
        sqlite.drop(shelf, [name for name in gone if f"-{shelf.kind}-" in name])
    data = bytes_of(folder)
    left = pieces(data)
    for name, blob in gone.items():
        assert not pieces(blob) & left, name
        assert name.encode() not in data
        assert digest(name) not in data
    assert all(blob in data for name, blob in there.items() if name not in gone)


@pytest.mark.parametrize(
    "wipe",
    [
        lambda vectors: vectors.begin(OTHER),
        lambda vectors: vectors.clear(),
        lambda vectors: vectors.drop(ANNS, ["m0001"]),
    ],
)
def test_of_what_was_replaced_or_wiped_no_byte_is_left(
    sqlite: SqliteVectors, wipe: Callable[[SqliteVectors], object]
) -> None:
    folder = sqlite.path.parent
    fill(sqlite, 40)
    top_before = found(sqlite)
    gone = stored(folder)["m0001"]
    sqlite.put(ANNS, [Vectored("m0001", b"", vector("another text", 200))])
    wipe(sqlite)
    assert not pieces(gone) & pieces(bytes_of(folder))
    assert len(found(sqlite)) < len(top_before)
    assert bytes_of(folder).count(b"m0001") == 0


def test_a_file_that_is_wiped_again_and_again_does_not_grow(sqlite: SqliteVectors) -> None:
    sizes = []
    for n in range(6):
        sqlite.begin(EMBEDDING if n % 2 else OTHER)
        fill(sqlite, 40)
        sizes.append(len(bytes_of(sqlite.path.parent)))
    assert len(set(sizes[1:])) == 1
    full = []
    for _ in range(6):
        sqlite.drop(ANNS, [f"m{n:04}" for n in range(40)])
        fill(sqlite, 40)
        sqlite.drop(ANNS, ["nobody"])
        full.append(sqlite.path.stat().st_size)
    assert max(full) <= full[0] + 2 * PAGE


def test_what_a_reader_keeps_in_the_log_is_said_and_goes_the_next_time(tmp_path: Path) -> None:
    with closing(opened(tmp_path, patience=0.05)) as vectors:
        fill(vectors, 40)
        gone = stored(tmp_path)["m0001"]
        reader = raw(tmp_path)
        reader.execute("BEGIN; SELECT count(*) FROM vectors")
        with pytest.raises(Unavailable, match="still in its log"):
            vectors.drop(ANNS, ["m0001"])
        assert len(found(vectors)) == 39
        assert pieces(gone) & pieces(bytes_of(tmp_path))
        reader.close()
        vectors.drop(ANNS, ["m0001"])
        assert not pieces(gone) & pieces(bytes_of(tmp_path))


# -- damage ----------------------------------------------------------------------------------------


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def scribbled(path: Path) -> None:
    path.write_bytes(b"a note, not a database " * 2_000)


def beheaded(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(100))


def halved(path: Path) -> None:
    os.truncate(path, path.stat().st_size // PAGE // 2 * PAGE)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(apsw.Connection(str(path))) as db:
        db.execute("CREATE TABLE accounts (name TEXT); INSERT INTO accounts VALUES ('somebody')")


def newer(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as db:
        db.execute("PRAGMA user_version = 99; PRAGMA journal_mode = DELETE")


@pytest.mark.parametrize(
    "spoil, why",
    [
        (emptied, "was empty"),
        (scribbled, "damaged or no database"),
        (beheaded, "damaged or no database"),
        (halved, "damaged or no database"),
        (cut, "was cut off"),
        (foreign, "another program's"),
        (newer, "another release"),
    ],
)
@pytest.mark.parametrize("log", [False, True])
def test_a_file_that_cannot_be_read_is_begun_anew(
    tmp_path: Path, spoil: Callable[[Path], None], why: str, log: bool
) -> None:
    with closing(opened(tmp_path)) as vectors:
        fill(vectors)
        old = stored(tmp_path)["m0100"]
    spoil(tmp_path / "vectors.db")
    if log:
        (tmp_path / "vectors.db-shm").write_bytes(b"old" * 20_000)
        if spoil is not cut:
            (tmp_path / "vectors.db-wal").write_bytes(b"old" * 20_000)
    with closing(opened(tmp_path)) as vectors:
        reason = vectors.lost()
        assert why in reason or (log and "damaged" in reason)
        assert vectors.lost() == ""
        check(vectors, ANNS, {})
        assert not pieces(old) & pieces(bytes_of(tmp_path))
        assert b"oldoldold" not in bytes_of(tmp_path)
        vectors.put(ANNS, rows("m1"))
        check(vectors, ANNS, {"m1": row("m1")})
    assert [file.name for file in tmp_path.iterdir()] == ["vectors.db"]
    with closing(opened(tmp_path)) as vectors:
        assert (ids(vectors), vectors.lost()) == ({"m1"}, "")


def use(vectors: SqliteVectors, tries: int = 3) -> list[Near]:
    """Search, put and drop until it goes, as somebody does who is told `Unavailable`."""
    for _ in range(tries):
        with suppress(Unavailable):
            vectors.begin(EMBEDDING)
            hits = found(vectors)
            vectors.held(ANNS)
            vectors.put(ANNS, [Vectored("new", b"new", vector("new", 200))])
            assert vectors.scores(ANNS, vector("new", 200)).top(1)[0].id == "new"
            vectors.drop(ANNS, ["new"])
            return hits
    raise AssertionError("it does not come back")


def test_cut_off_anywhere_it_is_whole_or_begun_anew(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "made")) as vectors:
        fill(vectors)
        whole = found(vectors)
    size = (tmp_path / "made" / "vectors.db").stat().st_size
    for n, length in enumerate([*range(0, size, size // 20), 1, 99, 512, size - 1, size - PAGE]):
        shutil.copytree(tmp_path / "made", tmp_path / str(n))
        os.truncate(tmp_path / str(n) / "vectors.db", length)
        with closing(SqliteVectors(tmp_path / str(n) / "vectors.db")) as vectors:
            assert use(vectors) == []
            assert vectors.lost() != "", length
    with closing(opened(tmp_path / "made")) as vectors:
        assert use(vectors) == whole


def test_damaged_anywhere_it_answers_right_or_is_begun_anew(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "made")) as vectors:
        fill(vectors)
        whole = {near.id: near for near in found(vectors)}
    sound = (tmp_path / "made" / "vectors.db").read_bytes()
    lost = 0
    for seed in range(40):
        dice = Random(seed)
        data = bytearray(sound)
        at, length = dice.randrange(len(data)), dice.choice([1, 8, 100, PAGE])
        junk = dice.choice([bytes(length), dice.randbytes(length)])
        data[at : at + length] = junk[: len(data) - at]
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "vectors.db").write_bytes(data)
        vectors = SqliteVectors(folder / "vectors.db", large=dice.choice([3, 50_000]))
        with closing(vectors):
            hits = use(vectors)
            assert all(whole[near.id] == near for near in hits), seed
            lost += bool(vectors.lost())
    assert 12 < lost < 40


def test_damage_that_a_search_meets_is_gone_the_next_time(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as writer:
        fill(writer)
    with closing(opened(tmp_path)) as vectors, closing(opened(tmp_path)) as other:
        with (tmp_path / "vectors.db").open("r+b") as file:
            file.seek(6 * PAGE)
            file.write(b"\xa5" * 3 * PAGE)
        with pytest.raises(Unavailable, match="it was begun anew"):
            found(vectors)
        assert found(vectors) == []
        assert "damaged" in vectors.lost()
        vectors.put(ANNS, rows("m1"))
        assert ids(other) == {"m1"}
        assert "begun anew by another process" in other.lost()
        other.put(ANNS, rows("m2"))
        assert ids(vectors) == {"m1", "m2"}
        assert (vectors.lost(), other.lost()) == ("", "")


def test_damage_that_beginning_meets_needs_no_second_try(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as vectors:
        fill(vectors, 20)
    with (tmp_path / "vectors.db").open("r+b") as file:
        file.seek(PAGE)
        file.write(b"\xa5" * 4 * PAGE)
    with closing(opened(tmp_path)) as vectors:
        assert "damaged" in vectors.lost()
        assert found(vectors) == []


def test_a_file_that_is_taken_away_is_made_again(sqlite: SqliteVectors) -> None:
    sqlite.put(ANNS, rows("m1"))
    top(sqlite)
    for file in sqlite.path.parent.iterdir():
        file.unlink()
    assert ids(sqlite) == set()
    assert "was removed" in sqlite.lost()
    sqlite.put(ANNS, rows("m2"))
    assert ids(sqlite) == {"m2"}


def test_a_place_that_cannot_be_a_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder" / "vectors.db").mkdir(parents=True)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "vectors.db").symlink_to(tmp_path / "file")
    for folder in (tmp_path / "file", tmp_path / "folder", tmp_path / "link"):
        with pytest.raises(Unavailable, match="cannot be opened"):
            opened(folder)
    assert (tmp_path / "file").read_text() == "x"


def test_what_a_newer_release_took_over_is_left_to_it(sqlite: SqliteVectors) -> None:
    sqlite.put(ANNS, rows("m1"))
    folder = sqlite.path.parent
    shutil.copyfile(sqlite.path, folder / "newer")
    newer(folder / "newer")
    (folder / "newer").rename(sqlite.path)
    for _ in range(2):
        with pytest.raises(Unavailable, match="another release"):
            sqlite.held(ANNS)
    with closing(raw(folder)) as db:
        assert db.pragma("user_version") == 99


# -- other processes -------------------------------------------------------------------------------


def test_killed_while_it_puts_each_part_is_whole_or_absent(
    sqlite: SqliteVectors, tmp_path: Path
) -> None:
    script = (
        "vectors.begin(EMBEDDING)\n"
        "for part in range(100_000):\n"
        "    vectors.put(ANNS, [row(f'{part}-{n}') for n in range(50)], reached=part)\n"
        "    print(part, flush=True)\n"
    )
    known = 0
    for _ in range(3):
        writer = start(opening(tmp_path), script)
        assert writer.stdout is not None
        for _line in range(4):
            known = int(writer.stdout.readline())
        writer.kill()
        writer.communicate(timeout=30)
        with closing(opened(tmp_path)) as vectors:
            parts = {int(id.split("-")[0]) for id in ids(vectors)}
            reached = vectors.reached(ANNS)
            assert ids(vectors) == {f"{part}-{n}" for part in parts for n in range(50)}
            assert set(range(known + 1)) <= parts
            assert reached >= known
            assert vectors.lost() == ""
    assert ids(sqlite) >= {f"{known}-{n}" for n in range(50)}


def test_all_that_find_it_damaged_at_once_begin_one_anew(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as vectors:
        fill(vectors)
    halved(tmp_path / "vectors.db")
    ready = threading.Barrier(6)

    def work(name: str) -> str:
        ready.wait(30)
        with closing(opened(tmp_path)) as mine:
            for n in range(5):
                mine.put(ANNS, rows(f"{name}{n}"))
                assert f"{name}{n}" in {near.id for near in top(mine)}
            return mine.lost()

    script = "vectors.begin(EMBEDDING)\nvectors.put(ANNS, [row('elsewhere')])\n"
    others = [start(opening(tmp_path), script) for _ in range(2)]
    with ThreadPoolExecutor(6) as pool:
        reasons = [one.result() for one in [pool.submit(work, name) for name in "abcdef"]]
    for other in others:
        ended(other)
    with closing(opened(tmp_path)) as vectors:
        assert ids(vectors) == {f"{name}{n}" for name in "abcdef" for n in range(5)} | {"elsewhere"}
        assert vectors.lost() == ""
    assert sum(bool(reason) for reason in reasons) <= 1


def test_processes_that_quarrel_about_the_embedder_lose_nothing_but_vectors(
    sqlite: SqliteVectors, tmp_path: Path
) -> None:
    script = (
        "from memstrata.errors import Conflict, Unavailable\n"
        "for n in range(25):\n"
        "    try:\n"
        "        vectors.begin(OWN)\n"
        "        vectors.put(ANNS, [row(f'{OWN}-{n}')])\n"
        "        assert all(near.id.startswith(OWN) for near in top(vectors))\n"
        "    except (Conflict, Unavailable):\n"
        "        pass\n"
        "vectors.close()\n"
    )
    others = [start(opening(tmp_path), f"OWN = {name!r}\n{script}") for name in ("one", "two")]
    for other in others:
        ended(other)
    assert sqlite.begin(EMBEDDING) in (True, False)
    sqlite.put(ANNS, rows("m1"))
    assert ids(sqlite) == {"m1"}
    with closing(raw(tmp_path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_put_that_another_process_wiped_meanwhile_is_not_acknowledged(
    sqlite: SqliteVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite.put(ANNS, rows("m1"))
    with closing(opened(tmp_path)) as other:
        claim = SqliteVectors._claim

        def wiped(self: SqliteVectors, *given: object) -> None:
            claim(self, *given)  # type: ignore[arg-type]
            other.clear()

        monkeypatch.setattr(SqliteVectors, "_claim", wiped)
        with pytest.raises(Unavailable, match="begun anew by another"):
            sqlite.put(ANNS, rows("m2"))
        monkeypatch.undo()
        sqlite.put(ANNS, rows("m3"))
        assert ids(other) == ids(sqlite) == {"m3"}


def test_a_file_in_use_is_unavailable_in_time_and_still_searched(tmp_path: Path) -> None:
    with closing(opened(tmp_path, patience=0.05)) as vectors, closing(raw(tmp_path)) as other:
        vectors.put(ANNS, rows("m1"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="in use by another process"):
            vectors.put(ANNS, rows("m2"))
        with pytest.raises(Unavailable, match="in use by another process"):
            vectors.drop(ANNS, ["m1"])
        assert ids(vectors) == {"m1"}
        other.execute("ROLLBACK")
        vectors.put(ANNS, rows("m2"))
        assert ids(vectors) == {"m1", "m2"}


_FORK = """
import os
import threading
from tests.contracts.vectors import rows, top
vectors.begin(EMBEDDING)
vectors.put(ANNS, rows("m1", "m2"))
top(vectors)

def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    return pid

def write(name):
    for n in range(10):
        vectors.put(ANNS, rows(f"{name}{n}"))
        found = {near.id for near in top(vectors)}
        assert {"m1", "m2", f"{name}{n}"} <= found, found
"""


def test_parent_and_child_of_a_fork_both_go_on(sqlite: SqliteVectors, tmp_path: Path) -> None:
    script = """
children = [child(lambda: write("one")), child(lambda: (write("two"), vectors.close()))]
write("parent")
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
vectors.close()
"""
    run(opening(tmp_path), _FORK + script)
    names = {f"{name}{n}" for name in ("one", "two", "parent") for n in range(10)}
    assert ids(sqlite) == {"m1", "m2"} | names


def test_a_fork_while_another_thread_searches(sqlite: SqliteVectors, tmp_path: Path) -> None:
    script = """
done = threading.Event()

def search():
    while not done.is_set():
        assert len(top(vectors)) >= 2

threads = [threading.Thread(target=search) for _ in range(3)]
for thread in threads:
    thread.start()
for n in range(8):
    assert os.waitpid(child(lambda: write(f"c{n}-")), 0)[1] == 0
done.set()
for thread in threads:
    thread.join()
"""
    run(opening(tmp_path), _FORK + script)
    assert len(ids(sqlite)) == 82


# -- a disk that fails -----------------------------------------------------------------------------


@pytest.fixture
def disk() -> Iterator[Disk]:
    found = Disk()
    yield found
    found.unregister()


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_on_a_disk_that_fails_at_any_write_nothing_is_half_there(
    tmp_path: Path, disk: Disk, error: type[apsw.Error]
) -> None:
    def work(vectors: SqliteVectors) -> None:
        vectors.put(ANNS, [row(f"new{n}") for n in range(30)] + [row("m1", "new")], reached=9)
        vectors.drop(ANNS, ["m2"])

    old = {id: row(id) for id in ("m1", "m2", "m3")}
    put = old | {f"new{n}": row(f"new{n}") for n in range(30)} | {"m1": row("m1", "new")}
    dropped = {id: one for id, one in put.items() if id != "m2"}
    calls, loud = 1, 0
    while True:
        folder = tmp_path / str(calls)
        with closing(opened(folder, vfs=disk.name)) as vectors:
            vectors.put(ANNS, list(old.values()), reached=3)
            top(vectors)
            disk.fail(calls, error, stays=False)
            with suppress(Unavailable):
                work(vectors)
                loud -= 1
            failed = disk.calls >= calls
            disk.heal()
            there = vectors.held(ANNS)
            whole = next(
                one
                for one in (old, put, dropped)
                if {id: text.digest for id, text in one.items()} == there
            )
            check(vectors, ANNS, whole)
            assert vectors.reached(ANNS) == (3 if whole is old else 9)
            work(vectors)
            check(vectors, ANNS, dropped)
            assert vectors.lost() == ""
        if not failed:
            break
        calls, loud = calls + 1, loud + 1
    assert calls > 10
    assert loud > calls // 2


def test_a_file_that_could_not_be_made_is_made_the_next_time(tmp_path: Path, disk: Disk) -> None:
    for spoilt in (False, True):
        calls = 1
        while True:
            folder = tmp_path / f"{spoilt}{calls}"
            folder.mkdir()
            if spoilt:
                scribbled(folder / "vectors.db")
            vectors = SqliteVectors(folder / "vectors.db", vfs=disk.name)
            disk.fail(calls, apsw.FullError, stays=True)
            with suppress(Unavailable):
                vectors.begin(EMBEDDING)
            failed = disk.calls >= calls
            disk.heal()
            vectors.begin(EMBEDDING)
            vectors.put(ANNS, rows("m1"))
            assert ids(vectors) == {"m1"}
            vectors.close()
            assert [file.name for file in folder.iterdir()] == ["vectors.db"]
            if not failed:
                break
            calls += 1
        assert calls > 5


def test_a_full_disk_says_so_and_is_still_searched(tmp_path: Path, disk: Disk) -> None:
    with closing(opened(tmp_path, vfs=disk.name)) as vectors:
        vectors.put(ANNS, rows("m1"))
        disk.fail(1, apsw.FullError, stays=True)
        with pytest.raises(Unavailable, match="the disk is full"):
            vectors.put(ANNS, rows("m2"))
        assert ids(vectors) == {"m1"}
        disk.heal()
        vectors.put(ANNS, rows("m3"))
        assert ids(vectors) == {"m1", "m3"}
