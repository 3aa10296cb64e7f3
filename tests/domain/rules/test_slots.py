"""Slots of parts and occasions: what holds for one hides nothing of another."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memstrata.domain.candidate import Candidate
from memstrata.domain.rules import extract, slots
from memstrata.domain.turn import Message

SAID = datetime(2025, 3, 3, tzinfo=UTC)


def told(text: str) -> tuple[Candidate, ...]:
    """What one turn states in a workspace."""
    message = Message("m", "s", "user", text, SAID, SAID)
    return extract([message], has_workspace=True, zone=UTC)


@pytest.mark.promise("evolve.parts")
@pytest.mark.parametrize(
    "one, other",
    [
        ("We use pytest for the backend.", "We use Vitest for the frontend."),
        ("We deploy the API to Hetzner.", "We deploy the docs to Netlify."),
        ("We use MySQL for the rooms service.", "We use SQLite for the rates service."),
        ("I prefer tea in the morning.", "I prefer wine over dinner."),
        ("后端我们用 pytest 测试。", "前端我们用 Vitest 测试。"),
        ("早上我更喜欢喝茶。", "晚上我更喜欢喝红酒。"),
        ("We use pytest.", "We use Vitest for the frontend."),
        ("We build the iOS app with Bazel.", "We build the Android app with Gradle."),
    ],
)
def test_what_holds_for_a_part_is_a_slot_of_its_own(one: str, other: str) -> None:
    (first,), (second,) = told(one), told(other)
    assert first.slot
    assert second.slot
    assert first.slot != second.slot
    assert first.name != second.name


@pytest.mark.promise("evolve.parts")
@pytest.mark.parametrize(
    "one, other",
    [
        ("We use Jest for the front end.", "We use Vitest for the frontend."),
        ("We use Django for the backend.", "We use FastAPI."),
        ("I prefer tea at breakfast.", "早上我更喜欢喝咖啡。"),
        ("We use npm as our package manager.", "We use pnpm as the package manager."),
        ("We use Teams.", "We moved to Slack from Teams."),
        ("We use a Kubernetes cluster.", "We use Nomad."),
        ("这个仓库用 pnpm 管理依赖。", "我们用 npm 管理依赖。"),
        ("We use Caddy as our web server.", "We use nginx."),
    ],
)
def test_one_part_by_any_name_is_one_slot(one: str, other: str) -> None:
    (first,), (second,) = told(one), told(other)
    assert first.slot == second.slot != ""


def test_the_part_stands_in_the_name_in_the_language_of_the_words() -> None:
    (one,) = told("后端我们用 pytest 测试。")
    assert one.name == "测试工具（后端）"
    assert slots.name("cache (api)", "project", chinese=False) == "cache (api)"


@pytest.mark.promise("evolve.ends")
@pytest.mark.parametrize(
    "before, after",
    [
        ("We use Redis for caching.", "We don't use Redis any more."),
        ("We use Redis for caching.", "We no longer use Redis."),
        ("We use Redis for caching.", "We've stopped using Redis."),
        ("我们用 Redis 做缓存。", "我们不用 Redis 了。"),
        ("我们用 Redis 做缓存。", "我们不再使用 Redis。"),
    ],
)
def test_a_tool_that_is_used_no_longer_ends_in_its_slot(before: str, after: str) -> None:
    (used,) = told(before)
    assert [(one.slot, one.entities) for one in told(after) if one.change == "ends"] == [
        (used.slot, ("Redis",))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We don't use Redis.",
        "We no longer support Redis.",
        "We dropped Redis support last month.",
        "我们不用 Redis。",
    ],
)
def test_what_was_never_said_to_be_over_ends_nothing(text: str) -> None:
    assert [one.change for one in told(text)] == ["states"]
