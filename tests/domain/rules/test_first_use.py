"""What people say on their first day with it: introductions, moves, changes, ranges of days, rules."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

import pytest
from tests.domain.build import message

from memstrata.domain.candidate import Candidate
from memstrata.domain.rules import dates, extract

THURSDAY = datetime(2025, 10, 2, 12, tzinfo=UTC)


def heard(
    text: str, said_at: datetime = THURSDAY, *, has_workspace: bool = True, zone: tzinfo = UTC
) -> tuple[Candidate, ...]:
    return extract([message(text, said_at=said_at)], has_workspace=has_workspace, zone=zone)


def only(text: str, said_at: datetime = THURSDAY, *, has_workspace: bool = True) -> Candidate:
    found = heard(text, said_at, has_workspace=has_workspace)
    assert len(found) == 1, [one.description for one in found]
    return found[0]


NO_HOMES = [
    "We've moved from Fly.io to Hetzner last week",
    "We moved to Slack from Teams",
    "We moved to Vercel",
    "We moved to Brookline from Teams",
    "We've moved from Kestrelhub to Hetzner",
    "I've moved from Vim to Helix",
    "I moved to GitLab",
    "I've moved to the Payments team",
    "I moved to Platform Engineering",
    "We moved to a new office in Leeds",
    "我搬到新工位了",
    "我们搬到新办公室了",
    "我搬到三楼了",
    "我搬到数据平台组了",
    "我们搬到阿里云了",
]


@pytest.mark.parametrize("has_workspace", [True, False])
@pytest.mark.parametrize("text", NO_HOMES)
def test_a_move_of_software_or_of_a_desk_is_no_home(text: str, has_workspace: bool) -> None:
    assert "home" not in {one.slot for one in heard(text, has_workspace=has_workspace)}


@pytest.mark.parametrize(
    "text", ["We've moved to Porto", "We moved to Lyon in May", "我们搬到上海了"]
)
def test_with_a_workspace_we_is_a_team_and_has_no_home(text: str) -> None:
    assert "home" not in {one.slot for one in heard(text)}
    assert only(text, has_workspace=False).slot == "home"


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Porto",
        "I've moved from Leeds to Porto",
        "I moved to Porto from Leeds",
        "我搬到新加坡了",
        "我们家搬到密云了",
    ],
)
def test_a_move_of_the_person_is_a_home_anywhere(text: str) -> None:
    assert only(text).slot == "home"
    assert only(text, has_workspace=False).slot == "home"


@pytest.mark.parametrize(
    "before, after, slot",
    [
        ("We host on Fly.io.", "We've moved from Fly.io to Hetzner last week", "hosting"),
        ("We deploy to Heroku.", "We moved to Hetzner", "hosting"),
        ("We use Teams.", "We moved to Slack from Teams", "chat"),
    ],
)
def test_a_move_of_software_lands_in_its_slot(before: str, after: str, slot: str) -> None:
    assert (only(before).slot, only(after).slot) == (slot, slot)


@pytest.mark.parametrize(
    "text", ["I'm Groot", "I'm Groot.", "Hi, I'm Groot!", "I'm Batman", "I'm Iron Man", "I'm Odile"]
)
def test_a_joke_or_a_bare_word_is_no_name(text: str) -> None:
    assert heard(text) == ()


@pytest.mark.parametrize(
    "text, name",
    [
        ("Hi, I'm Odile.", "Odile"),
        ("Hello! I'm Odile", "Odile"),
        ("I'm Odile, nice to meet you", "Odile"),
        ("I'm Odile and I work nights", "Odile"),
        ("I'm Odile Marchand", "Odile Marchand"),
        ("My name is Groot", "Groot"),
    ],
)
def test_a_name_that_is_told_as_one_is_taken(text: str, name: str) -> None:
    (found,) = [one for one in heard(text) if one.slot == "name"]
    assert found.description == f"Name is {name}"


NOVEMBER = datetime(2025, 11, 3, 9, tzinfo=UTC)
RANGES = [
    (THURSDAY, "I'm on vacation from October 20 to October 31, 2025.", "2025-10-20", "2025-10-31"),
    (THURSDAY, "Remember that I'm on vacation from October 20 to 31.", "2025-10-20", "2025-10-31"),
    (THURSDAY, "I'm on holiday from 20 December to 5 January", "2025-12-20", "2026-01-05"),
    (THURSDAY, "I'll be on leave 3-9 March", "2026-03-03", "2026-03-09"),
    (THURSDAY, "I'm away from September 29 to October 6", "2025-09-29", "2025-10-06"),
    (THURSDAY, "I'm on leave between December 22 and January 2, 2026", "2025-12-22", "2026-01-02"),
    (THURSDAY, "I'm on leave from 28 December 2026 to 4 January", "2026-12-28", "2027-01-04"),
    (NOVEMBER, "记住，我11月10日到11月20日休假", "2025-11-10", "2025-11-20"),
    (NOVEMBER, "我11月10号到20号休假", "2025-11-10", "2025-11-20"),
    (NOVEMBER, "我从12月28日到1月5日休年假", "2025-12-28", "2026-01-05"),
    (NOVEMBER, "我2026年2月1日到2月10日请假", "2026-02-01", "2026-02-10"),
]


@pytest.mark.promise("rules.dates")
@pytest.mark.parametrize("said_at, text, first, last", RANGES)
def test_both_ends_of_time_off_are_placed_together(
    said_at: datetime, text: str, first: str, last: str
) -> None:
    found = only(text, said_at)
    assert found.valid_from is not None
    assert found.valid_from.date().isoformat() == first
    assert found.valid_until == date.fromisoformat(last)
    assert (first in found.description, last in found.description) == (True, True)
    assert set(found.resolved) == {first, last}
    assert "to October" not in found.name.removesuffix(last)


@pytest.mark.promise("rules.dates")
@pytest.mark.parametrize(
    "said_at, text, first, last",
    [
        (THURSDAY, "I went to Lisbon from 3 to 9 May", date(2025, 5, 3), date(2025, 5, 9)),
        (
            THURSDAY,
            "I visited Gent from November 28 to December 2",
            date(2024, 11, 28),
            date(2024, 12, 2),
        ),
        (NOVEMBER, "我10月1日到10月7日去了青岛", date(2025, 10, 1), date(2025, 10, 7)),
    ],
)
def test_what_is_over_happened_on_all_days_of_its_range(
    said_at: datetime, text: str, first: date, last: date
) -> None:
    found = only(text, said_at)
    assert (found.type, found.happened_from, found.happened_until) == ("episodic", first, last)


@pytest.mark.parametrize(
    "text", ["from October 31, 2025 to October 20, 2025", "from May 3 to May 40", "3-9 may help"]
)
def test_what_is_no_range_is_not_read_as_one(text: str) -> None:
    found = dates.find(text, THURSDAY.date(), past=False, chinese=False)
    assert all(one.role != "span" for one in found)
    assert all(one.first <= one.last for one in found)


def test_time_off_without_a_range_ends_with_its_days() -> None:
    assert only("我下周休假", NOVEMBER).valid_until == date(2025, 11, 16)
    assert only("I'm on leave next week").valid_until == date(2025, 10, 12)


CHANGES = [
    ("I prefer tabs.", "Actually, I switched to spaces", "preferred indentation"),
    ("I prefer tea.", "I've changed from tea to coffee", "preferred drink"),
    ("My editor is Vim.", "I use VS Code now instead of Vim", "editor"),
    ("I prefer Vim.", "I use Helix now", "editor"),
    ("My editor is Vim.", "我现在改用 VS Code 了，Vim 不用了", "editor"),
    ("我的编辑器是Vim。", "我换成 Zed 了", "editor"),
    ("我的编辑器是Vim。", "我的编辑器从 Vim 换成了 Zed", "editor"),
    ("数据库用MySQL。", "云雀的数据库从MySQL换成了TiDB", "database"),
    ("数据库用MySQL。", "数据库换成TiDB了", "database"),
    ("We use PostgreSQL.", "云雀的数据库已经从 PostgreSQL 迁移到 TiDB 了", "database"),
    ("缓存用 Redis。", "缓存从 Redis 迁移到 Valkey", "cache"),
    ("We use Redis as a cache.", "云雀的缓存换成 Kvas 了", "cache"),
    ("We use tabs.", "Use spaces, not tabs", "indentation"),
    ("I have two kids.", "We have three kids: Emil, Frieda and Ole", "family: child"),
]


@pytest.mark.parametrize("before, after, slot", CHANGES)
def test_a_change_lands_in_the_slot_of_what_it_changes(before: str, after: str, slot: str) -> None:
    old, new = only(before), only(after)
    assert (old.subject, old.slot) == (new.subject, new.slot)
    assert (new.slot, new.change) == (slot, "states")


ENDINGS = [
    ("No emojis please", "Forget what I said about emojis", "emojis"),
    ("Don't use emojis", "You can use emojis again", "emojis"),
    ("回复不要用表情符号", "表情符号可以用了，之前说的不算", "emojis"),
    ("Keep your answers short", "Forget what I said about short answers", "answer length"),
    ("我海鲜过敏", "对海鲜不过敏了", "allergy to 海鲜"),
    ("我对海鲜过敏", "我对海鲜不过敏", "allergy to 海鲜"),
    ("我对花生过敏", "我现在对花生已经不再过敏了", "allergy to 花生"),
    ("I'm allergic to peanuts", "I'm no longer allergic to peanuts", "allergy to peanuts"),
]


@pytest.mark.parametrize("before, after, slot", ENDINGS)
def test_an_ending_lands_in_the_slot_of_what_it_ends(before: str, after: str, slot: str) -> None:
    old, new = only(before), only(after)
    assert (old.subject, old.slot, old.change) == (new.subject, slot, "states")
    assert (new.slot, new.change) == (slot, "ends")
    assert "不" not in new.name


@pytest.mark.parametrize(
    "text",
    [
        "Forget what I said about the deploy",
        "之前说的不算",
        "I switched to a new job",
        "I moved to the city",
        "We're going with my parents to Porto",
        "Use your head, not your hands",
        "Don't delete the file",
        "The test is next to the door",
    ],
)
def test_what_belongs_to_no_slot_is_passed_over(text: str) -> None:
    assert heard(text) == ()


INTRODUCTIONS = [
    (
        "I'm Jonas Brandt, a backend engineer at Meridian Health in Leipzig",
        {"name": "Jonas Brandt", "job": "backend engineer", "employer": "Meridian Health", "home": "Leipzig"},
    ),
    (
        "Hi, I'm Odile Marchand and I'm a nurse at Lindenhof Hospital.",
        {"name": "Odile Marchand", "job": "nurse", "employer": "Lindenhof Hospital"},
    ),
    (
        "since May 1st I've been working at Nordlicht Energy as a staff engineer",
        {"employer": "Nordlicht Energy", "job": "staff engineer"},
    ),
    ("I'm Anna, a teacher from Tartu", {"name": "Anna", "job": "teacher", "origin": "Tartu"}),
    ("我在青禾科技做后端开发", {"job": "后端开发", "employer": "青禾科技"}),
    ("我做前端开发", {"job": "前端开发"}),
    ("I'm married with two kids, Emil and Frieda", {"marital status": "married", "family: child": "Emil and Frieda"}),
    ("We're going with FastAPI and PostgreSQL", {"web framework": "FastAPI", "database": "PostgreSQL"}),
    ("Use pytest, not unittest", {"test runner": "pytest"}),
]  # fmt: skip


@pytest.mark.parametrize("text, told", INTRODUCTIONS)
def test_one_sentence_tells_several_things(text: str, told: dict[str, str]) -> None:
    found = {one.slot: one.description for one in heard(text)}
    assert found.keys() == told.keys()
    assert all(words in found[slot] for slot, words in told.items())


def test_since_when_is_kept_of_a_job() -> None:
    found = heard("since May 1st I've been working at Nordlicht Energy as a staff engineer")
    assert {one.valid_from for one in found} == {datetime(2025, 5, 1, tzinfo=UTC)}
    assert {one.entities for one in found} == {("Nordlicht Energy",)}


@pytest.mark.parametrize(
    "text, rule",
    [
        ("Before we start: keep your answers short", "Keep your answers short"),
        ("Hey, quick one: in the future please explain the error first", "Explain the error first"),
        ("One more thing: no emojis", "No emojis"),
        ("Ground rules: never push to main", "Never push to main"),
        ("变量名不要用拼音", "变量名不要用拼音"),
        ("函数名别缩写", "函数名别缩写"),
        ("Don't touch the legacy folder", "Don't touch the legacy folder"),
        ("Never edit anything in src/generated/", "Never edit anything in src/generated/"),
    ],
)
def test_a_rule_is_heard_behind_a_clause_in_front(text: str, rule: str) -> None:
    found = only(text)
    assert (found.type, found.subject, found.description) == ("feedback", "assistant", rule)


@pytest.mark.parametrize(
    "text, first",
    [
        ("The meeting with the auditors is on June 12th 2025", date(2025, 6, 12)),
        ("The appointment with Doctor Quill is on Friday", date(2025, 6, 6)),
    ],
)
def test_an_appointment_of_nobody_is_an_event_to_come(text: str, first: date) -> None:
    found = only(text, datetime(2025, 6, 2, tzinfo=UTC))
    assert (found.type, found.happened_from) == ("episodic", first)


def test_a_wedding_with_somebody_is_a_milestone() -> None:
    found = only("我和小雨上周领证结婚了")
    assert found.type == "episodic"
    assert found.happened_from == date(2025, 9, 22)
    assert found.description == "和小雨2025-09-22 那周（上周）领证结婚了"


@pytest.mark.parametrize(
    "text, name",
    [
        ("We dropped support for redis, rate limiting is done in nginx now", "support for redis"),
        ("We don't use Kafka anymore, queues are in Postgres", "support for kafka"),
        ("我们不再支持 IE11，统一用 Chrome", "对 ie11 的支持"),
        ("我喜欢用 vim", "对 vim 的喜好"),
        ("The meeting with the auditors is on June 12th 2026", "The meeting with the auditors"),
        ("Remember that the depot is full, the van is in Quill Street", "The depot is full"),
    ],
)
def test_a_name_holds_one_thing(text: str, name: str) -> None:
    assert heard(text)[0].name == name


@pytest.mark.parametrize(
    "said_at, hours",
    [
        (datetime(1, 1, 1, tzinfo=UTC), -12),
        (datetime(1, 1, 1, tzinfo=UTC), 12),
        (datetime(9999, 12, 31, 23, tzinfo=UTC), 12),
        (datetime(9999, 12, 31, 23, tzinfo=UTC), -12),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "I met Ana last year and I'm on leave from 20 December to 5 January",
        "I live in Porto since May.",
        "我明年六月十四号结婚",
        "我12月28日到1月5日休假",
    ],
)
def test_the_ends_of_the_calendar_are_read_without_error(
    text: str, said_at: datetime, hours: int
) -> None:
    for one in heard(text, said_at, zone=timezone(timedelta(hours=hours))):
        assert one.description
