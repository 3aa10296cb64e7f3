"""Retrievers that need no engine: what any store could do, and two whose figures are known."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

import apsw

from memstrata.bench.corpus import Corpus, Question
from memstrata.domain import fusion
from memstrata.ports import Embedder

Ranker = Callable[[str], Sequence[str]]
"""A text to ids, best first."""
Retriever = Callable[[Question], Sequence[str]]
"""A question to message ids, best first."""

DEPTH: Final = 100
"""So many hits a question, of every system."""
_BATCH: Final = 32
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")


# -- full text ------------------------------------------------------------------------------------


def porter(texts: Mapping[str, str], limit: int = 10) -> Ranker:
    """Plain FTS5, `porter unicode61`, words joined by OR, bm25."""
    return _plain(texts, "porter unicode61", _words, limit)


def bigram(texts: Mapping[str, str], limit: int = 10) -> Ranker:
    """Plain FTS5 over pairs of characters, joined by OR, bm25."""
    spaced = {id: " ".join(_pairs(text)) for id, text in texts.items()}
    return _plain(spaced, "unicode61", _pairs, limit)


def _plain(
    texts: Mapping[str, str], tokenizer: str, terms: Callable[[str], list[str]], limit: int
) -> Ranker:
    db = apsw.Connection(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = '{tokenizer}')")
    ids = list(texts)
    rows = enumerate(texts.values())
    db.executemany("INSERT INTO plain (rowid, text) VALUES (?, ?)", rows)
    sql = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT ?"

    def rank(text: str) -> list[str]:
        match = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(text)))
        return [ids[row] for (row,) in db.execute(sql, (match, limit))] if match else []

    return rank


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _pairs(text: str) -> list[str]:
    return [word[at : at + 2] for word in _words(text) for at in range(max(1, len(word) - 1))]


def chinese(texts: Mapping[str, str]) -> bool:
    """Whether at least a third of the characters are Chinese."""
    whole = "".join(texts.values())
    return 3 * len(_CHINESE.findall(whole)) >= len(whole)


# -- vectors --------------------------------------------------------------------------------------


def dense(
    texts: Mapping[str, str],
    embedder: Embedder,
    limit: int = 10,
    told: Callable[[str, int, int], None] | None = None,
) -> Ranker:
    """The engine's embedder alone: every text compared with the query by its cosine, exactly.

    `told` hears how many texts have a vector.

    Raises:
        Unavailable: the embedder gives no vectors now.
    """
    import numpy as np

    ids, all_texts = list(texts), list(texts.values())
    vectors: list[bytes] = []
    for at in range(0, len(ids), _BATCH):
        vectors += embedder.embed(all_texts[at : at + _BATCH], "passage")
        if told is not None:
            told("embedding", len(vectors), len(ids))
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(ids), -1)

    @cache  # the fusion asks the same again, and embedding a query is what takes time
    def rank(text: str) -> list[str]:
        query = np.frombuffer(embedder.embed([text], "query")[0], "<f4")
        nearest = np.argsort(-(matrix @ query), kind="stable")
        return [ids[place] for place in nearest[:limit]]

    return rank


# -- retrievers -----------------------------------------------------------------------------------


def baselines(
    corpus: Corpus,
    embedder: Embedder | None,
    told: Callable[[str, int, int], None] | None = None,
) -> dict[str, Retriever]:
    """FTS5 alone; with an embedder also vectors alone, and the two by reciprocal rank fusion."""
    pairs = chinese(corpus.texts)
    made = (bigram if pairs else porter)(corpus.texts, len(corpus.texts))
    name = "FTS5 character bigrams" if pairs else "FTS5 porter unicode61"
    found = {name: _of_what_is_known(corpus, made)}
    if embedder is not None:
        vectors = dense(corpus.texts, embedder, len(corpus.texts), told)
        found["dense"] = _of_what_is_known(corpus, vectors)
        found[f"RRF({fusion.RRF_K}) of both"] = _fused(dict(found))
    return found


def _of_what_is_known(corpus: Corpus, ranker: Ranker) -> Retriever:
    def retrieve(question: Question) -> list[str]:
        known = set(corpus.known(question))
        return [id for id in ranker(question.text) if id in known][:DEPTH]

    return retrieve


def _fused(lanes: Mapping[str, Retriever]) -> Retriever:
    def retrieve(question: Question) -> list[str]:
        scores = fusion.rrf({name: one(question) for name, one in lanes.items()})
        return sorted(scores, key=lambda id: -scores[id])[:DEPTH]

    return retrieve


def perfect(corpus: Corpus) -> Retriever:
    """Finds exactly the evidence: what it does not reach, nothing can."""
    first = {session: id for id, session in reversed(list(corpus.sessions.items()))}
    if corpus.level == "session":
        return lambda question: [first[one] for one in sorted(question.evidence)]
    return lambda question: sorted(question.evidence)


def chance(corpus: Corpus, seed: int) -> Retriever:
    """What is known in an order by chance: messages, or sessions by one message each."""
    dice = random.Random(seed)

    def retrieve(question: Question) -> list[str]:
        known = corpus.known(question)
        if corpus.level == "session":
            known = list({corpus.sessions[id]: id for id in reversed(known)}.values())
        return dice.sample(known, min(DEPTH, len(known)))

    return retrieve
