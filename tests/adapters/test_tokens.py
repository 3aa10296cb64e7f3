"""The tokenizer: known counts, offline, loaded late."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from memstrata.adapters.tokens_toktok import BUNDLED, ToktokTokenizer
from memstrata.errors import Invalid
from memstrata.ports import Tokenizer

COUNTS = {
    "": (0, 0),
    " ": (1, 1),
    "hello world": (2, 2),
    "antidisestablishmentarianism": (6, 6),
    "我喜欢喝乌龙茶，不加糖。": (20, 10),
    "<|endoftext|>": (7, 7),
}
"""Text: tokens in cl100k_base and in o200k_base."""


@pytest.mark.promise("tokens.exact")
@pytest.mark.parametrize("text, counts", COUNTS.items())
def test_counts_are_exact(text: str, counts: tuple[int, int]) -> None:
    tokenizers: tuple[Tokenizer, Tokenizer] = ToktokTokenizer("cl100k_base"), ToktokTokenizer()
    assert tuple(one.count(text) for one in tokenizers) == counts


@pytest.mark.promise("tokens.exact")
@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_encoding_counts(name: str) -> None:
    tokenizer = ToktokTokenizer(name)
    assert tokenizer.name == name
    assert tokenizer.count("hello world") == 2


def test_the_newest_is_the_default() -> None:
    assert ToktokTokenizer().name == "o200k_base"


@pytest.mark.parametrize("name", ["p50k_base", "", "O200K_BASE", "jev"])
def test_an_unknown_encoding_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        ToktokTokenizer(name)
    assert caught.value.field == "tokens.tokenizer"
    assert all(known in caught.value.problem for known in BUNDLED)


LATE = """
import sys
from memstrata.adapters.tokens_toktok import ToktokTokenizer
tokenizer = ToktokTokenizer()
assert "toktok" not in sys.modules
tokenizer.count("x")
assert "toktok" in sys.modules
"""


def test_the_tables_are_loaded_at_the_first_count() -> None:
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", LATE], env=environment, check=True)
