"""English turned around, short names, proper names and slots, by tables."""

from __future__ import annotations

import pytest

from memstrata.domain.rules import names, slots, words


@pytest.mark.parametrize(
    "phrase, third",
    [
        ("use", "uses"),
        ("always use", "always uses"),
        ("no longer support", "no longer supports"),
        ("have", "has"),
        ("go", "goes"),
        ("study", "studies"),
        ("play", "plays"),
        ("watch", "watches"),
        ("don't use", "doesn't use"),
        ("switched", "switched"),
        ("can", "can"),
        ("read", "reads"),
        ("tend to work", "tends to work"),
    ],
)
def test_third_person(phrase: str, third: str) -> None:
    assert words.third(phrase) == third


@pytest.mark.parametrize(
    "text, turned",
    [
        ("my flat in the US", "their flat in the US"),
        ("when I was young", "when they were young"),
        ("what we do for us", "what they do for them"),
        ("the show 'How I Met My Match' and my cat", "the show 'How I Met My Match' and their cat"),
        ("my-lib", "my-lib"),
    ],
)
def test_first_person_turned(text: str, turned: str) -> None:
    assert words.turned(text) == turned


def test_our_of_a_project_is_its_own() -> None:
    assert words.of_project("our API runs on our cluster") == "the API runs on the cluster"


@pytest.mark.parametrize(
    "text, found",
    [
        ("We switched from Jest to Vitest", ("Jest", "Vitest")),
        ("I met Ana Reis in Porto on Friday", ("Ana Reis", "Porto")),
        ("We use pnpm at https://Quill.example.org/Docs", ("pnpm",)),
        ("Visited the Museum of Tiles", ("Museum of Tiles",)),
        ("Always wait", ()),
        ("I like 2D games", ()),
    ],
)
def test_proper_names(text: str, found: tuple[str, ...]) -> None:
    assert names.entities(text, (), chinese=False) == found


def test_a_short_name_keeps_whole_words() -> None:
    assert names.short("Saw the dentist on 2023-05-05 (last Friday)", chinese=False) == (
        "Saw the dentist on 2023-05-05"
    )
    assert len(names.short("word " * 40, chinese=False)) <= 60
    assert names.short("2023-05-05（上周五）去看了牙医", chinese=True) == "2023-05-05去看了牙医"


@pytest.mark.parametrize(
    "template, values, slot",
    [
        ("@preference", {"thing": "tea"}, "preferred drink"),
        ("@preference", {"thing": "bikes", "other": "a car"}, "preference: bikes or car"),
        ("@preference", {"thing": "a car", "other": "bikes"}, "preference: bikes or car"),
        ("@taste", {"thing": "喝薄荷茶"}, "taste in 薄荷茶"),
        ("@favourite", {"kind": "颜色", "thing": "墨绿色"}, "favourite colour"),
        ("@favourite", {"kind": "color", "thing": "teal"}, "favourite colour"),
        ("@tool", {"tool": "to use PostgreSQL instead of MongoDB"}, "database"),
        ("@tool", {"tool": "Kestrel for deployments"}, "deployment"),
        ("@tool", {"tool": "Kestrel"}, "use of kestrel"),
        ("@conduct", {"rule": "always answer in British English"}, "answer language"),
        ("@conduct", {"rule": "write commit messages in English"}, ""),
        ("name of {rel}", {"rel": "老婆"}, "name of wife"),
    ],
)
def test_slots(template: str, values: dict[str, str], slot: str) -> None:
    assert slots.fill(template, values) == slot


def test_a_slot_is_named_in_either_language() -> None:
    assert slots.name("favourite colour", "user", chinese=True) == "最喜欢的颜色"
    assert slots.name("name of wife", "user", chinese=True) == "老婆的名字"
    assert slots.name("home", "mara", chinese=False) == "Mara: home"
