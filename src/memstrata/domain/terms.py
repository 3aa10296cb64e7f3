"""Text to search terms, the same for index and query: English stems, CJK bigrams, plain numbers.

Characters are folded first: NFKC, case, accents of Latin letters. A run of CJK characters becomes
its overlapping pairs and, alone, its last character; so a query of one character is a prefix search
over terms that start with it and still finds it at a run's end.
"""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import Stemmer

from memstrata.domain.lazy import Regex

_CJK: Final = (
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_HAS_CJK: Final = Regex(f"[{_CJK}]")
_WORD: Final = rf"(?:(?![{_CJK}])[^\W_])+"
_TOKEN: Final = Regex(
    rf"(?P<cjk>[{_CJK}]+)|(?P<word>{_WORD}(?:(?:['’](?=[^\W\d_])|(?<=\d)\.(?=\d)){_WORD})*)"
)
_LATIN_MARK: Final = Regex("[\u0300-\u036f]")
_LONGEST: Final = 64
"""Longer runs are keys, hashes or noise; their first 64 characters find them."""
_MOST_CHARACTERS: Final = 20_000
"""Of a query; more cannot matter among so few terms."""

STOP_WORDS: Final = frozenset(
    """a about after all also am an and any are as at be because been but by can could did do does
    doing down each for from had has have having he her here hers him his how i if in into is it its
    just me more most my myself no nor not now of off on once only or other our ours out over own
    same she should so some such than that the their theirs them then there these they this those
    through to too under until up very was we were what when where which while who whom why will
    with would you your yours im ive dont didnt doesnt isnt wasnt whats thats youre""".split()
)
"""English words that a query drops; the index keeps them."""

CJK_STOP_TERMS: Final = frozenset(
    """什么 怎么 怎样 哪里 哪个 哪些 为什 多少 是否 我们 你们 他们 她们 它们 这个 那个 这些 那些 一个 一下
    一些 可以 能够 没有 因为 所以 但是 如果 以及 还是 就是 不是 已经 现在 时候 么时 的时 请问 知道 告诉 诉我
    的是 了吗 是什 用什 么用""".split()
)


@dataclass(frozen=True, slots=True, order=True)
class Term:
    """One query term; `prefix` for a lone CJK character, which matches every term it starts."""

    text: str
    prefix: bool = False


# A Stemmer object may serve one thread at a time.
_local = threading.local()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stemmer = getattr(_local, "english", None)
    if stemmer is None:
        stemmer = _local.english = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word)).replace("'", "")


def fold(text: str) -> str:
    """NFKC, case folded, accents off (the combining marks of Latin, Greek and Cyrillic)."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return folded
    bare = _LATIN_MARK.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare)


def is_cjk(text: str) -> bool:
    """Whether Chinese, Japanese or Korean characters stand in it."""
    return _HAS_CJK.search(text) is not None


def index_terms(text: str) -> list[str]:
    """Every term of `text` in order, repeats kept: what the full-text index stores."""
    found: list[str] = []
    for token in _TOKEN.finditer(fold(text)):
        run = token[0]
        if token.lastgroup == "cjk":
            found.extend(map("".join, pairwise(run)))
            found.append(run[-1])
        else:
            found.append(_stem(run.replace("’", "'")[:_LONGEST]))
    return [term for term in found if term]


def query_terms(text: str, most: int = 192) -> tuple[Term, ...]:
    """The distinct terms that a search for `text` looks up, at most `most`, stop words dropped.

    Of a longer text its beginning and its end count: what a person pastes stands before the question
    or behind it. A query of nothing but stop words keeps them.
    """
    kept: dict[Term, None] = {}
    dropped: dict[Term, None] = {}
    for token in _TOKEN.finditer(fold(_ends(text))):
        run = token[0]
        if token.lastgroup == "cjk":
            terms = [Term("".join(p)) for p in pairwise(run)] or [Term(run, prefix=True)]
        else:
            word = run.replace("’", "'")
            terms = [Term(_stem(word[:_LONGEST]))]
            if word.replace("'", "") in STOP_WORDS:
                dropped.update(dict.fromkeys(terms))
                continue
        for term in terms:
            (dropped if term.text in CJK_STOP_TERMS else kept)[term] = None
    found = [term for term in kept or dropped if term.text]
    if len(found) > most:
        found = found[: most - most // 2] + found[len(found) - most // 2 :]
    return tuple(found)


def _ends(text: str) -> str:
    """`text`, or its beginning and its end, both without the word that was cut through."""
    half = _MOST_CHARACTERS // 2
    if len(text) <= 2 * half:
        return text
    begin, end = text[:half].rsplit(None, 1), text[-half:].split(None, 1)
    return "\n".join((*begin[:1], *end[-1:]))


def similarity(one: str, other: str) -> float:
    """Token Jaccard of two texts, 0 to 1; two texts without terms are alike only when equal."""
    first, second = frozenset(index_terms(one)), frozenset(index_terms(other))
    if not first and not second:
        return float(fold(one).split() == fold(other).split())
    return len(first & second) / len(first | second)
