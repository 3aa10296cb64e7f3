"""A small language model does what a large one is meant to do, end to end. Writes real_model.md.

It needs the package `xllamacpp` and a GGUF file, by `--data` or `$REAL_MODEL_GGUF`; without them it
says so and writes nothing. A conversation is committed once as a whole (one call for all of it) and
once turn by turn, as in life, without background (`extraction.overlap = 0`: a small model takes facts
from it). The same home then gets a second one that repeats, changes and ends
what the first said. What is kept counts as right when its description holds the words of a fact that
no other took; everything else that is kept is shown as beside them.
Run it from the root of the repository: python -m bench.real_model --data model.gguf
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import urllib3

from bench import common
from memstrata import Memory
from memstrata.adapters.model_pydantic_ai import PydanticAiModel
from memstrata.domain.plan import Verdict
from memstrata.pipelines.extract import EXTRACTION
from memstrata.pipelines.read import Record
from memstrata.ports import Answer, Question
from memstrata.prompts.answers import CANDIDATES
from memstrata.prompts.template import load

OUT: Final = Path(__file__).with_suffix(".md")
RUNNER: Final = "xllamacpp"
FILE: Final = "REAL_MODEL_GGUF"
"""The variable that names the model's file."""
NAME: Final = "openai-compatible:local"
DEADLINE: Final = 900
"""Seconds for one call: a dozen tokens a second is what one thread gives."""
_HEAD: Final = 4_096
_NAMED: Final = re.compile(rb"general\.name\x08\0\0\0.{8}([ -~]+?)(?=.\0{7}general\.)", re.DOTALL)
"""A text in a GGUF file's head: key, kind, length, the text; then the length of the next key."""
_SERVER: Final = """
import sys
import xllamacpp

wanted = xllamacpp.CommonParams()
wanted.model.path = sys.argv[1]
wanted.n_ctx = 8192
wanted.n_gpu_layers = 0
wanted.cache_ram_mib = 0
wanted.ui = False
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(wanted)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
"""Serves until its standard input ends, so also when whoever started it is killed."""

Turn = tuple[str, str]
"""What the user said, and the assistant."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a careful reader would keep: its description holds all of `words` and none of `unless`.

    Both in lower case.
    """

    label: str
    words: tuple[str, ...]
    unless: tuple[str, ...] = ()

    def is_said(self, description: str) -> bool:
        """Whether `description` says it."""
        told = description.casefold()
        return all(word in told for word in self.words) and not any(
            word in told for word in self.unless
        )


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation on one day, and what of it lasts."""

    day: str
    turns: tuple[Turn, ...]
    facts: tuple[Fact, ...] = ()
    ended: tuple[Fact, ...] = ()
    """What held before and is over by what is said here."""


@dataclass(frozen=True, slots=True)
class Story:
    """A conversation and the one that comes back to it."""

    first: Talk
    later: Talk


ENGLISH: Final = Story(
    Talk(
        "2026-03-14T10:00:00+00:00",
        (
            (
                "Hi! I'm Marta Quill. I work as a bookbinder at Fern & Folio in Aldhaven.",
                "Nice to meet you, Marta.",
            ),
            (
                "I'm allergic to hazelnuts, so never suggest a dessert with hazelnuts.",
                "Understood, no hazelnuts.",
            ),
            (
                "Always keep your answers short, three sentences at most. I don't read long ones.",
                "Three sentences at most, then.",
            ),
            (
                "Which glue dries fastest on linen?",
                "PVA dries in about an hour; wheat paste takes a day.",
            ),
            (
                "For the spring catalogue we decided to print on 120 g paper, not on 90 g.",
                "120 g it is.",
            ),
            (
                "My brother Ivo visited me last Saturday and we planted two quince trees.",
                "That sounds like a good day.",
            ),
            ("I drink black coffee every morning, no sugar.", "Simple and good."),
        ),
        (
            Fact("her name", ("marta",)),
            Fact("her work", ("bookbinder",)),
            Fact("her employer", ("fern",)),
            Fact("her town", ("aldhaven",)),
            Fact("the allergy", ("allergic", "hazelnut")),
            Fact("no such desserts", ("dessert", "hazelnut")),
            Fact("short answers", ("three sentences",)),
            Fact("the paper", ("120 g",)),
            Fact("Ivo's visit", ("ivo",)),
            Fact("black coffee", ("black coffee",)),
        ),
    ),
    Talk(
        "2026-05-20T10:00:00+00:00",
        (
            ("As always, I drink black coffee every morning, no sugar.", "Noted."),
            ("I left Fern & Folio. I now work at Harbour Press in Tollmouth.", "Congratulations!"),
            (
                "My doctor says I'm no longer allergic to hazelnuts, so forget that allergy.",
                "Good news.",
            ),
        ),
        (Fact("the new employer", ("harbour press",)), Fact("black coffee", ("black coffee",))),
        (
            Fact("the old employer", ("fern",), ("left", "no longer", "former", "used to")),
            Fact("the allergy", ("allergic", "hazelnut"), ("no longer", "not", "outgr")),
        ),
    ),
)

CHINESE: Final = Story(
    Talk(
        "2026-03-15T10:00:00+00:00",
        (
            ("你好，我叫苏曼青，在云溪镇的青瓦陶艺工作室当老师。", "曼青你好，很高兴认识你。"),
            ("我对芒果过敏，以后推荐甜品千万别放芒果。", "记下了，不放芒果。"),
            ("以后回答我的问题，请先说结论，再说理由。", "好的，先结论后理由。"),
            ("釉料怎么调才不容易开裂？", "可以多加一点石英，降低膨胀系数。"),
            ("春季展览我们决定用松木展架，不用铁架，因为铁架太重。", "松木展架更轻便。"),
            ("上周六我和表弟何远一起爬了青石山。", "听起来很有意思。"),
            ("我每天早上都喝一杯桂花乌龙茶，不加糖。", "很健康的习惯。"),
        ),
        (
            Fact("her name", ("苏曼青",)),
            Fact("her work", ("老师",)),
            Fact("her employer", ("青瓦",)),
            Fact("her town", ("云溪",)),
            Fact("the allergy", ("芒果", "过敏")),
            Fact("no such desserts", ("芒果", "甜品")),
            Fact("conclusions first", ("结论",)),
            Fact("the stands", ("松木",)),
            Fact("the climb", ("何远",)),
            Fact("the tea", ("乌龙茶",)),
        ),
    ),
    Talk(
        "2026-05-20T10:00:00+00:00",
        (
            ("还是老样子，我每天早上都喝一杯桂花乌龙茶，不加糖。", "好习惯。"),
            ("我从青瓦陶艺工作室辞职了，现在在澜江美术馆当讲解员。", "恭喜！"),
            ("医生说我已经不再对芒果过敏了，过敏那条可以忘掉了。", "太好了。"),
        ),
        (Fact("the new employer", ("澜江",)), Fact("the tea", ("乌龙茶",))),
        (
            Fact("the old employer", ("青瓦",), ("辞职", "离开", "离职")),
            Fact("the allergy", ("芒果", "过敏"), ("不再", "不对")),
        ),
    ),
)

EMPTY: Final = Talk(
    "2026-03-16T10:00:00+00:00",
    (
        ("Hello again!", "Hello! How can I help?"),
        ("What is 17 times 23?", "391."),
        ("Ha, that was quick. 谢谢！", "不客气！"),
        ("See you later.", "See you!"),
    ),
)

STORIES: Final = {"English": ENGLISH, "Chinese": CHINESE}


def missing(file: Path | None) -> str:
    """What a run needs and has not got; `""` for nothing."""
    if find_spec(RUNNER) is None:
        return f"the package {RUNNER} is not installed"
    if file is None:
        return f"no model: name a GGUF file by --data or ${FILE}"
    if not file.is_file():
        return f"there is no file {file}"
    return "" if _head(file).startswith(b"GGUF") else f"{file} is no GGUF file"


def model_file() -> Path | None:
    """The model's file as the environment names it."""
    named = os.environ.get(FILE, "")
    return Path(named) if named else None


@contextmanager
def serving(file: Path) -> Iterator[str]:
    """The base URL of the model in `file`, served on loopback by a process of its own.

    Raises:
        RuntimeError: the runner ended before it served.
    """
    command = [sys.executable, "-c", _SERVER, str(file)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as child:
        try:
            address = _address(child)
            yield f"{address}/v1"
        finally:
            child.kill()


def _address(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("http://"):
            return line.strip()
    raise RuntimeError("the runner ended before it served")


def messages(talk: Talk) -> Iterator[list[dict[str, str]]]:
    """The turns as a host commits them."""
    for user, assistant in talk.turns:
        yield [
            {"role": "user", "content": user, "said_at": talk.day},
            {"role": "assistant", "content": assistant, "said_at": talk.day},
        ]


# -- a run ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Heard:
    """A model, with what it was asked and said."""

    inner: PydanticAiModel
    said: list[tuple[Question, Answer]] = field(default_factory=list)

    def ask(self, question: Question) -> Answer:
        """What the model answers."""
        answer = self.inner.ask(question)
        self.said.append((question, answer))
        return answer

    def close(self) -> None:
        """End it."""
        self.inner.close()


@dataclass(frozen=True, slots=True)
class Ran:
    """One conversation's extraction: the calls, the verdicts, and what is valid after it."""

    name: str
    talk: Talk
    calls: tuple[tuple[Question, Answer], ...]
    verdicts: tuple[Verdict, ...]
    valid: tuple[Record, ...]
    fresh: tuple[Record, ...]
    """Those that this conversation made."""
    problems: tuple[str, ...]

    @property
    def found(self) -> dict[str, str]:
        """The facts that are valid, with the description that says them."""
        return _matched(self.talk.facts, self.valid)

    @property
    def beside(self) -> list[str]:
        """What this conversation made that is none of the facts."""
        told = set(self.found.values())
        return [one.description for one in self.fresh if one.description not in told]


def _matched(facts: Sequence[Fact], kept: Sequence[Record]) -> dict[str, str]:
    """A description may say several facts: one sentence often holds name, work and town."""
    found: dict[str, str] = {}
    for fact in facts:
        for one in kept:
            if fact.is_said(one.description):
                found.setdefault(fact.label, one.description)
    return found


def run(
    url: str, place: Path, talks: Mapping[str, Talk], *, whole: bool, **settings: object
) -> Iterator[Ran]:
    """Each of `talks` as a session of its own, all in the home `place`."""
    model = Heard(PydanticAiModel(base_url=url))
    chosen = {
        "timezone": "UTC",
        "embedding.model": "none",
        "extraction.model": NAME,
        "extraction.deadline_seconds": DEADLINE,
        "scenes.enabled": False,
        "persona.enabled": False,
        **settings,
    }
    workspace = place / "catalogue"
    workspace.mkdir(parents=True)
    with Memory.open(place / "home", background=False, model=model, settings=chosen) as memory:
        for name, talk in talks.items():
            before = {one.id for one in _valid(memory, workspace)}
            session = memory.session(name, workspace=workspace)
            asked = len(model.said)
            for turn in messages(talk):
                session.commit(turn)
                if not whole:
                    memory.drain()
            memory.drain()
            state = memory.status()
            valid = _valid(memory, workspace)
            yield Ran(
                name=name,
                talk=talk,
                calls=tuple(model.said[asked:]),
                verdicts=tuple(
                    row.verdict for row in reversed(memory.why(session=name, limit=500).items)
                ),
                valid=valid,
                fresh=tuple(one for one in valid if one.id not in before),
                problems=(*state.retrying, *state.parked),
            )


def _valid(memory: Memory, workspace: Path) -> tuple[Record, ...]:
    return tuple(memory.list(workspace=workspace, status="active", limit=500).items)


def stories(url: str) -> Iterator[tuple[str, list[Ran]]]:
    """Every run: each story at once and turn by turn, and the conversation that holds nothing."""
    for language, story in STORIES.items():
        whole = {"first": story.first}
        turns = {"first": story.first, "later": story.later}
        yield f"{language}, whole", _ran(url, whole, whole=True)
        yield f"{language}, turn by turn", _ran(url, turns, whole=False)
    yield "Nothing to keep, turn by turn", _ran(url, {"empty": EMPTY}, whole=False)


def _ran(url: str, talks: Mapping[str, Talk], *, whole: bool) -> list[Ran]:
    with tempfile.TemporaryDirectory() as place:
        return list(run(url, Path(place), talks, whole=whole, **{"extraction.overlap": 0}))


# -- the report -----------------------------------------------------------------------------------

ABOUT: Final = """\
# A small real model, end to end

Made by `python -m bench.real_model`.

Model: {model}, {quantisation}, {parameters} parameters, served on loopback by xllamacpp {runner}, one
thread, temperature 0, answers held to the JSON schema,
`extraction.overlap = 0`. Prompts: {prompts}.

It shows what the pipeline makes of a weak model, not how well memstrata extracts. The conversations
are invented, seven turns each, with ten facts that a careful reader would keep. `whole`: one call for
all of it; `turn by turn`: worked off after each turn, as in life. `first` is the conversation, `later`
another one in the same home that repeats one fact, changes the employer and ends the allergy.

Right: the facts that a valid memory says, by the words its description must hold; one may say
several. Beside: what was kept and says none of them; all of it is shown, so that it can be judged.
Proposed: items of all answers, repairs included. Calls are extraction, its repairs, and gate 3. The
seconds are a shared machine's.
"""
COLUMNS: Final = (
    "run",
    "calls",
    "proposed",
    "kept",
    "right",
    "beside",
    "tokens in",
    "out",
    "s a call",
)


def report(about: Mapping[str, str], runs: Mapping[str, Sequence[Ran]]) -> str:
    """The whole page."""
    rows = [_row(name, one) for name, found in runs.items() for one in found]
    pieces = [ABOUT.format(**about), common.table(COLUMNS, rows)]
    pieces += [_shown(name, one) for name, found in runs.items() for one in found]
    return "\n".join(pieces)


def _row(name: str, one: Ran) -> list[str]:
    answers = [answer for _, answer in one.calls]
    kept = sum(verdict.gate == "" for verdict in one.verdicts)
    count = max(1, len(answers))
    return [
        f"{name}: {one.name}",
        str(len(answers)),
        str(len(_proposed(one))),
        str(kept),
        f"{len(one.found)} of {len(one.talk.facts)}",
        str(len(one.beside)),
        str(sum(answer.tokens_in for answer in answers)),
        str(sum(answer.tokens_out for answer in answers)),
        f"{sum(answer.seconds for answer in answers) / count:.0f}",
    ]


def _proposed(one: Ran) -> list[str]:
    """The items of every extraction answer, as their descriptions."""
    found: list[str] = []
    for question, answer in one.calls:
        parsed = CANDIDATES.parse(answer.text) if question.purpose == EXTRACTION else None
        if parsed is not None:
            found += [item.description for _, item in parsed.items]
            found += [f"(cannot be read: {bad.reason})" for bad in parsed.rejected]
    return found


def _shown(name: str, one: Ran) -> str:
    missed = [fact.label for fact in one.talk.facts if fact.label not in one.found]
    over = _matched(one.talk.ended, one.valid)
    lines = [f"\n## {name}: {one.name}\n", "Proposed:\n"]
    lines += [f"- {text}" for text in _proposed(one)] or ["- nothing"]
    lines += ["\nThe gates:\n"]
    lines += [f"- {_told(verdict)}" for verdict in one.verdicts] or ["- nothing came to them"]
    lines += ["\nValid afterwards:\n"]
    lines += [f"- {kept.type}: {kept.description}" for kept in one.valid] or ["- nothing"]
    lines += ["", f"Missed: {', '.join(missed) or 'nothing'}. Beside: {len(one.beside)}."]
    if one.talk.ended:
        lines += [f"Still valid though over: {', '.join(over) or 'none'}."]
    if one.problems:
        lines += [f"Not extracted: {'; '.join(one.problems)}."]
    return "\n".join(lines)


def _told(verdict: Verdict) -> str:
    gate = f" ({verdict.gate})" if verdict.gate else ""
    return f"`{verdict.verdict}`{gate} {verdict.name}: {verdict.reason}"


def described(file: Path, url: str) -> dict[str, str]:
    """What was run: the model by its file's head, its form as the runner tells it, the versions."""
    named = _NAMED.search(_head(file))
    told = urllib3.request("GET", f"{url}/models").json()["data"][0]["meta"]
    return {
        "model": named[1].decode() if named else file.name,
        "quantisation": str(told["ftype"]),
        "parameters": f"{int(told['n_params']) / 1e9:.1f} billion",
        "runner": version(RUNNER),
        "prompts": ", ".join(f"{id} {load(id).version}" for id in ("extract", "evolve")),
    }


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_HEAD)


def main() -> None:
    """Run everything, print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=model_file(), help="the model's GGUF file")
    file: Path | None = parser.parse_args().data
    lack = missing(file)
    if lack or file is None:
        print(f"nothing measured: {lack}")
        return
    with serving(file) as url:
        runs: dict[str, list[Ran]] = {}
        for name, found in stories(url):
            print(*(_shown(name, one) for one in found), sep="\n", flush=True)
            runs[name] = found
        common.write(OUT, report(described(file, url), runs))


if __name__ == "__main__":
    main()
