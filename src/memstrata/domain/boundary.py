"""Where one task ends and another begins: a judgement, and what it does to the active graph.

::

    completed, continuing another known graph   that graph is active
    completed, a new long task                  a new graph
    completed, neither                          none is active
    not completed                               the active graph stays; none yet and long: a new one
    no judgement (it failed)                    the active graph stays
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from memstrata.domain import terms
from memstrata.domain.canvas.graph import Graph, file_name, slug
from memstrata.domain.lazy import Regex

RESULTS_OF_A_LONG_TASK: Final = 4
"""So many results under one prompt make a task long, whatever the prompt said."""
WORDS_OF_A_LONG_TASK: Final = 12
_SHARED: Final = 2
"""Content words that a prompt shares with a graph which it goes on with, …"""
_SHARE_OF_MANY: Final = 0.2
"""… and the part of the prompt's own that they are at least."""
_SHARE_OF_ONE: Final = 0.34
"""The same where it is a single word."""
_FEW: Final = 4
"""A prompt of so few content words says nothing by itself: it goes on with what is there."""

_WORK: Final = Regex(
    r"\b(?:fix|implement|add|write|build|create|refactor|debug|find|investigate|migrate|update|test"
    r"|analy[sz]e|review|research|compare|deploy|set ?up|install|convert|port|remove|rename|optimi[sz]e"
    r"|book|plan|prepare|draft|translate|summari[sz]e|check)\b"
    r"|修复|实现|添加|编写|构建|创建|重构|调试|查找|调查|迁移|更新|测试|分析|审查|研究|比较|部署|安装|优化|翻译|整理|检查",
    re.IGNORECASE,
)
_GOES_ON: Final = Regex(
    r"\s*(?:(?:yes|yeah|yep|ok|okay|sure|no|right|please|and|also|but|then|now|so|great|good|thanks?"
    r"|thank you|perfect|continue|go (?:on|ahead)|proceed|carry on|keep going|next|try|again|retry"
    r"|resume|back to|as before|still|why|what about)\b"
    r"|继续|接着|好的?|可以|行|是的|对|嗯|然后|再|还有|另外再|重试|谢谢|为什么)",
    re.IGNORECASE,
)
_ANOTHER: Final = Regex(
    r"\s*(?:new task|another (?:task|topic|question|thing)|different (?:task|topic|question|thing)"
    r"|something else|forget (?:that|it|about)|now for something|switching|unrelated"
    r"|新任务|另一个|换个|别的|下一个任务|不管这个)",
    re.IGNORECASE,
)
_POLITE: Final = terms.STOP_WORDS | {
    "please",
    "kindly",
    "hi",
    "hello",
    "hey",
    "need",
    "want",
    "new",
}
_PLACE: Final = Regex(r"[\w.-]+/[\w./-]+|\b[\w-]+\.[a-z]{1,4}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model or the rules say about a prompt.

    `continuation_graph` names a graph by its file, label or number, `new_task_label` a new task.
    """

    completed: bool
    long: bool
    continuation: bool = False
    continuation_graph: str = ""
    new_task_label: str = ""


@dataclass(frozen=True, slots=True)
class Keep:
    """The active graph stays, if there is one."""


@dataclass(frozen=True, slots=True)
class Activate:
    """The graph of that number is active from here on."""

    number: int


@dataclass(frozen=True, slots=True)
class Start:
    """A new graph of that label is active from here on."""

    label: str


@dataclass(frozen=True, slots=True)
class Deactivate:
    """No graph is active from here on."""


Transition: TypeAlias = Keep | Activate | Start | Deactivate


def decide(
    judgement: Judgement | None, active: Graph | None, graphs: Sequence[Graph]
) -> Transition:
    """What becomes of the active graph; `graphs` are those of the session.

    With none active a known graph that is continued becomes active, completed or not: there is
    nothing else to keep. Of an unknown graph nothing can be continued.
    """
    if judgement is None:
        return Keep()
    continued = continued_graph(judgement, graphs)
    elsewhere = continued is not None and (active is None or continued.number != active.number)
    if continued and elsewhere and (judgement.completed or active is None):
        return Activate(continued.number)
    if continued and not elsewhere:
        return Keep()
    if judgement.long and (judgement.completed or active is None):
        return Start(slug(judgement.new_task_label))
    return Deactivate() if judgement.completed and active else Keep()


def continued_graph(judgement: Judgement, graphs: Sequence[Graph]) -> Graph | None:
    """The graph that is continued, named by its file, label or number (of several the newest)."""
    named = judgement.continuation_graph.strip().rpartition("/")[2].removesuffix(".mmd")
    if not (judgement.continuation and named):
        return None
    for graph in reversed(graphs):
        names = (file_name(graph).removesuffix(".mmd"), graph.label, f"{graph.number:03d}")
        if named in names or named == str(graph.number):
            return graph
    return None


def by_rules(
    prompt: str, active: Graph | None, graphs: Sequence[Graph], results: int = 0
) -> Judgement:
    """The judgement without a model on a new `prompt` (`""`: a long tool loop without one).

    It goes on with the active graph when it shares content words with it (two that are a fifth of its
    own, or one that is a third), else with the graph with which it shares most; with the active one
    also when it begins like a reply or says next to nothing. Else it is
    another task, and the one before it is taken for completed. A task is long when its prompt has
    twelve content words, or asks for work and names a file or has four; or when `results` (of this
    prompt so far) are four.
    """
    words = _words(prompt)
    long = results >= RESULTS_OF_A_LONG_TASK or _is_long(prompt, words)
    label = _label(prompt)
    if _ANOTHER.match(prompt):
        return Judgement(True, long, new_task_label=label)
    nearest = _nearest(words, graphs)
    here = active is not None and _is_shared(words, active)
    if nearest is not None and not here:
        return Judgement(True, long, True, file_name(nearest), label)
    if active is None:
        return Judgement(False, long, new_task_label=label)
    if here or _follows(prompt, words):
        return Judgement(False, long, True, file_name(active), label)
    return Judgement(True, long, new_task_label=label)


def _label(prompt: str) -> str:
    """The words of a prompt that say something, as a label."""
    words = (word.strip(".,;:!?\"'()") for word in prompt.split())
    return slug(" ".join(word for word in words if word.lower() not in _POLITE))


def _follows(prompt: str, words: frozenset[str]) -> bool:
    return len(words) < _FEW or _GOES_ON.match(prompt) is not None


def _is_long(prompt: str, words: frozenset[str]) -> bool:
    if len(words) >= WORDS_OF_A_LONG_TASK:
        return True
    asks = _WORK.search(prompt) is not None
    return asks and (len(words) >= _FEW or _PLACE.search(prompt) is not None)


def _words(text: str) -> frozenset[str]:
    found = terms.query_terms(text)
    return frozenset(term.text for term in found if term.text not in terms.STOP_WORDS)


def _of(graph: Graph) -> frozenset[str]:
    told = (f"{node.label} {node.summary}" for node in graph.nodes)
    return frozenset(terms.index_terms(" ".join((graph.goal, graph.label, *told))))


def _is_shared(words: frozenset[str], graph: Graph) -> bool:
    shared = len(words & _of(graph))
    part = _SHARE_OF_MANY if shared >= _SHARED else _SHARE_OF_ONE
    return shared > 0 and shared >= part * len(words)


def _nearest(words: frozenset[str], graphs: Sequence[Graph]) -> Graph | None:
    """The graph with most words of the prompt, of several the newest; None when none has enough."""
    shared = [graph for graph in graphs if _is_shared(words, graph)]
    return max(shared, key=lambda one: (len(words & _of(one)), one.number), default=None)
