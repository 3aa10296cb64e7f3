"""The detector on labelled secrets and ordinary lines: recall, false flags, levels, patterns of one's own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.data.sensitive import make, ordinary

from memstrata.adapters.secrets_detect import Detector
from memstrata.errors import Invalid

SAMPLES = make.secrets()
DETECTOR = Detector()


def missed(samples: tuple[make.Sample, ...]) -> list[str]:
    return [
        sample.text
        for sample in samples
        if not any(
            f.start <= sample.start and sample.end <= f.end for f in DETECTOR.scan(sample.text)
        )
    ]


def test_the_samples_are_many_and_of_many_kinds() -> None:
    assert len(SAMPLES) >= 80
    assert len({sample.kind for sample in SAMPLES}) >= 25
    assert {sample.lang for sample in SAMPLES} == {"en", "zh"}


@pytest.mark.promise("gate.sensitive")
def test_recall_is_at_least_098_in_each_language() -> None:
    for lang in ("en", "zh"):
        samples = tuple(sample for sample in SAMPLES if sample.lang == lang)
        assert len(missed(samples)) <= 0.02 * len(samples), missed(samples)


def test_recall_on_held_out_samples() -> None:
    samples = make.secrets("heldout") + make.secrets("heldout2")
    assert len(missed(samples)) <= 0.05 * len(samples), missed(samples)


@pytest.mark.promise("gate.sensitive")
def test_at_most_5_of_10000_ordinary_lines_are_flagged() -> None:
    flagged = [line for line in ordinary.ordinary(10_000) if DETECTOR.scan(line)]
    assert len(flagged) <= 5, flagged


def test_held_out_ordinary_lines_are_not_flagged_either() -> None:
    assert [line for line in ordinary.other(1_000) if DETECTOR.scan(line)] == []


def test_lines_in_one_text_lend_each_other_nothing() -> None:
    text = "\n".join(ordinary.ordinary(4_000, seed=3) + ordinary.other(2_000))
    assert [(f.kind, text[f.start - 40 : f.end]) for f in DETECTOR.scan(text)] == []


def test_a_file_is_scanned_whole() -> None:
    text = "---\nname: tea\n---\n\nMint tea.\n\nThe password is hunter2.\n"
    (one,) = DETECTOR.scan(text)
    assert (one.kind, text[one.start : one.end]) == ("password", "hunter2")
    assert DETECTOR.scan("Mira likes mint tea.\n" * 50) == ()


@pytest.mark.parametrize(
    "text",
    [
        "artifactory AP" + "5aB3cD4eF6gH7",
        "softlayer_api_key = " + "0a1b" * 16,
        "cl_pw = " + "ab12" * 16,
    ],
)
def test_formats_that_only_the_library_knows_are_found(text: str) -> None:
    assert DETECTOR.scan(text)


def test_a_key_far_along_a_line_of_anchors_is_found_whole() -> None:
    key = "glpat" + "-" + "a1B2c3D4e5F6g7H8i9J0"
    text = "aws " * 72 + key + " aws" * 200
    assert [text[f.start : f.end] for f in DETECTOR.scan(text)] == [key]


@pytest.mark.promise("gate.private")
@pytest.mark.parametrize(
    "text",
    ["write to mira@example.org", "call +49 30 1234567", "Mira is allergic to nuts", "阿青吃素"],
)
def test_only_strict_keeps_contacts_and_private_facts_out(text: str) -> None:
    assert DETECTOR.scan(text) == ()
    assert Detector("strict").scan(text)


@pytest.mark.promise("gate.patterns")
def test_patterns_of_ones_own_are_found_and_empty_matches_are_nothing() -> None:
    detector = Detector(extra=[r"QUILL-\d{4}", "z*"])
    (one,) = detector.scan("ticket ＱUILL-1234 is ours")
    assert (one.kind, one.start, one.end) == ("pattern", 7, 17)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "a{99999999999}"])
def test_a_pattern_that_is_none_names_its_field(pattern: str) -> None:
    with pytest.raises(Invalid, match=r"gates\.patterns") as refused:
        Detector(extra=[pattern])
    assert refused.value.field == "gates.patterns"


def test_the_library_is_imported_on_first_use() -> None:
    code = (
        "import sys; from memstrata.adapters.secrets_detect import Detector; d = Detector();"
        "assert 'detect_secrets' not in sys.modules; d.scan('tea'); d.scan('https://a');"
        "assert 'detect_secrets' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
