"""Older versions of texts: kept, counted, read back, scrubbed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.domain.build import NOW

from memstrata.domain import chronicle
from memstrata.domain.chronicle import Chronicle, Version
from memstrata.errors import Corrupt

TEXT = "---\nsummary: tea\n---\n\nMint tea <!-- mem_a -->\n\nGreen tea <!-- mem_b -->\n"


def version(number: int, **texts: str) -> Version:
    named = {f"{name}.md": text for name, text in texts.items()}
    return Version(f"v{number}", NOW + timedelta(hours=number), "told", "rules", named)


def after(held: Chronicle, made: Version, keep: int = 10) -> Chronicle:
    return chronicle.followed(held, made, before=held.texts, keep=keep, seen={"mem_a": "1"})


def test_it_is_read_back_from_its_file() -> None:
    held = after(after(Chronicle(), version(1, tea=TEXT)), version(2, tea="x", work="y"))
    assert chronicle.decode(chronicle.encode(held), "log") == held
    assert held.changes() == {
        "tea.md": (chronicle.digests({"x": TEXT})["x"], chronicle.digests({"x": "x"})["x"]),
        "work.md": (None, chronicle.digests({"x": "y"})["x"]),
    }


@pytest.mark.promise("scene.backups")
def test_so_many_older_versions_are_kept() -> None:
    held = Chronicle()
    for number in range(30):
        held = after(held, version(number, tea=f"{number}"))
    assert [one.id for one in held.versions] == [f"v{number}" for number in range(19, 30)]


def test_what_a_person_changed_is_a_version_too() -> None:
    held = after(Chronicle(), version(1, tea="ours"))
    found = chronicle.followed(held, version(2, tea="new"), before={"tea.md": "theirs"}, keep=10)
    assert [(one.who, dict(one.texts)) for one in found.versions] == [
        ("rules", {"tea.md": "ours"}),
        ("person", {"tea.md": "theirs"}),
        ("rules", {"tea.md": "new"}),
    ]
    assert found.seen == {"mem_a": "1"}


@pytest.mark.promise("scene.erase")
def test_a_text_without_what_an_id_told() -> None:
    left = chronicle.without(TEXT, ["mem_a"])
    assert "mem_a" not in left
    assert "Mint" not in left
    assert "Green tea" in left
    assert chronicle.without("free words", ["mem_a"]) == "free words"


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b"not json\n", b"[" * 100_000])
def test_a_file_that_is_none_is_corrupt(data: bytes) -> None:
    with pytest.raises(Corrupt):
        chronicle.decode(data, "log")
