"""Headings compared, and whose they are."""

from __future__ import annotations

import pytest

from memstrata.domain.team_document.headings import (
    PRIVATE,
    TEAM,
    canonical,
    is_personal,
    normalised,
)


@pytest.mark.parametrize(
    "heading, form",
    [
        ("Project Facts", "project facts"),
        ("  **Project_FACTS**: ", "project facts"),
        ("ＰＲＯＪＥＣＴ facts", "project facts"),
        ("Pro\u200bject\u00ad Facts", "project facts"),
        ("Straße", "strasse"),
        ("团队约定", "团队约定"),
        ("Q3/2025 — goals", "q3 2025 goals"),
        ("🚀", "🚀"),
        ("!!", "!!"),
    ],
)
def test_headings_are_compared_without_their_looks(heading: str, form: str) -> None:
    assert normalised(heading) == form


PERSONAL = """Preferences|preference|PREFERENCES:|**Instructions**|Personal_Instructions|instruction
User Preferences|The user's instructions|User’s Preferences|Users' preferences|My preferences
Our Preferences|Team Member Preferences|Preferences for users|1. Preferences|👤 Preferences
ＰＲＥＦＥＲＥＮＣＥＳ|Pre\u200bferences|Preferences\ufe0f|Preferences & Instructions
User Preferences and Instructions|Preferences and Notes|Preferences (Mira)|Preferences (Zorblax)
Preferences of Zorblax Quill|Instructions for Mira|Instructions (Mira Quill)|Mira's Preferences
Mira’s notes|Zorblax's Instructions|Ines Preferences|James's prefs|Personal Notes|personal note
Notes (personal)|My Notes|Personal Profile
偏好|指示|偏好设置|个人笔记|個人筆記|个人指示|我的偏好|用户偏好|使用者偏好|小明的偏好|偏好（小明）|偏好和指示|User 偏好
Mira 的偏好|Mira的偏好|小明的个人笔记"""


@pytest.mark.parametrize("heading", PERSONAL.replace("\n", "|").split("|"))
def test_personal_headings(heading: str) -> None:
    assert is_personal(heading)


ALLOWED = """Setup Instructions|Build instructions|Instructions for Releases|Instructions (Docker)
Docker's Instructions|Editor Preferences|Preferences (Editor)|User Interface Preferences
Team Preferences|Team's Preferences|The company's preferences|Preferences and Conventions
Preferences for Onboarding|Notes|Release Notes|Meeting notes|Notes for users|User Profile|Profile
Project Facts|Memory|Users|Personal Data Handling|Instructional Design|Open Questions
团队偏好|团队的偏好|安装说明|部署指令|用户说明|用户资料|技术偏好|项目笔记|说明|笔记"""


@pytest.mark.parametrize("heading", [*ALLOWED.replace("\n", "|").split("|"), *TEAM])
def test_headings_of_things(heading: str) -> None:
    assert not is_personal(heading)


def test_people_of_the_workspace_are_words_for_a_person() -> None:
    assert not is_personal("Zorblax Preferences")
    assert is_personal("Zorblax Preferences", ["Zorblax Quill"])
    assert is_personal("Instructions (quill)", ["Zorblax Quill"])
    assert not is_personal("Setup Instructions", ["Zorblax Quill"])


def test_a_private_document_has_personal_headings_of_its_own() -> None:
    assert [is_personal(heading) for heading in PRIVATE] == [False, True, True]


def test_one_personal_heading_however_it_is_written() -> None:
    assert (
        canonical("The User's Preferences:") == canonical("user_preference") != canonical("users")
    )
