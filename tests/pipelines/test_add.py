"""What a person types: sure, theirs, past one gate; names are held once; a full scope warns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from tests.conftest import Open
from tests.doubles import FakeClock

from memstrata import Conflict, Invalid, Memory, Refused
from memstrata.events import Event

KEY = "ghp_" + "b7Kd03LmPq72XvTz19BnRw56YcJh48EfGs0U"


def heard(memory: Memory, name: str) -> list[Event]:
    """Every event of a name from now on."""
    found: list[Event] = []
    memory._world.bus.listen(lambda event: found.append(event) if event.name == name else None)
    return found


def files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.suffix in (".md", ".jsonl")
    }


@pytest.mark.promise("person.confidence")
def test_what_a_person_typed_is_sure_and_theirs(memory: Memory, clock: FakeClock) -> None:
    added = memory.add(name="lamp", description="The lamp is green")
    assert (added.confidence, added.authority, added.origin) == (1.0, "person", "manual")
    assert (added.version, added.status, added.owner) == (1, "active", "local")
    assert (added.created_at, added.updated_at) == (clock.now(), clock.now())
    assert added.said_at is None
    assert added.evidence == ()
    assert memory.get(added.id) == added
    assert "confidence: 1.0" in (memory.home / added.path).read_text()


@pytest.mark.promise("person.confidence")
def test_a_person_may_say_what_extraction_may_not(memory: Memory) -> None:
    """No gate but the sensitive one: of the moment, below every floor, about nothing said."""
    added = memory.add(name="this time", description="Just for now, use the side door", priority=0)
    assert added.priority == 0
    assert memory.why().items == ()


@pytest.mark.promise("type.aliases")
def test_types_have_other_names(memory: Memory) -> None:
    assert memory.add(name="a", description="d", type="persona").type == "user"
    assert memory.add(name="b", description="d", type="instruction").type == "feedback"
    assert [one.name for one in memory.list(type="persona").items] == ["a"]
    assert [hit.name for hit in memory.search("d", type="instruction")] == ["b"]


@pytest.mark.promise("description.200")
def test_a_long_description_goes_on_in_the_body(memory: Memory) -> None:
    words = [f"word{n}" for n in range(60)]
    added = memory.add(name="long", description=" ".join(words), body="The end.")
    assert len(added.description) <= 200
    assert added.description.removesuffix("…").split() == words[: len(added.description.split())]
    whole = f"{added.description} {added.body}".replace("…", " ").split()
    assert whole == [*words, "The", "end."]
    assert [hit.id for hit in memory.search("word59")] == [added.id]


@pytest.mark.promise("reason.marked")
@pytest.mark.parametrize(
    "type, body, marked",
    [
        ("feedback", "", True),
        ("project", "Decided on Monday.", True),
        ("feedback", "**Why**: it is quicker\n\n**How to apply**: always", False),
        ("project", "**Why:** two outages", False),
        ("user", "", False),
        ("episodic", "", False),
    ],
)
def test_a_rule_without_its_reason_is_kept_and_marked(
    memory: Memory, type: str, body: str, marked: bool
) -> None:
    added = memory.add(name="n", description="d", type=type, body=body)
    assert (added.note == "no reason given") is marked
    assert added.status == "active"
    memory.reindex()
    assert memory.get(added.id) == added


# -- where it goes ------------------------------------------------------------------------------------


@pytest.mark.promise("scope.needs-ref")
@pytest.mark.parametrize(
    "scope, given, field",
    [
        ("project", {}, "workspace"),
        ("agent", {}, "agent"),
        ("agent", {"agent": ""}, "agent"),
        ("project", {"agent": "coder"}, "workspace"),
    ],
)
def test_no_orphan_can_be_added(
    memory: Memory, home: Path, scope: str, given: dict[str, str], field: str
) -> None:
    before = files(home)
    with pytest.raises(Invalid) as caught:
        memory.add(scope=scope, name="n", description="d", **given)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert caught.value.detail()["reason"] == "VALIDATION_FAILED"
    assert files(home) == before


@pytest.mark.promise("owner.local")
def test_the_owner_is_local_unless_given(open_memory: Open, home: Path) -> None:
    memory = open_memory()
    assert memory.add(name="n", description="d").owner == "local"
    ana = memory.add(name="n", description="d", user="ana")
    assert ana.owner == "ana"
    assert (home / "owners/ana/memory/user" / f"{ana.id}.md").is_file()
    calls: list[Callable[[], object]] = [
        lambda: memory.add(name="m", description="d", user=""),
        lambda: memory.session("s", user=""),
        lambda: memory.search("n", user=""),
        lambda: memory.list(user=""),
    ]
    for call in calls:
        with pytest.raises(Invalid) as caught:
            call()
        assert caught.value.field == "owner"
    memory.close()
    other = open_memory(owner="ana")
    assert [one.id for one in other.list().items] == [ana.id]
    with pytest.raises(Invalid):
        open_memory(owner="")


# -- names --------------------------------------------------------------------------------------------


@pytest.mark.promise("name.unique")
def test_a_name_is_held_once_in_each_scope_of_each_owner(memory: Memory, tmp_path: Path) -> None:
    holder = memory.add(name="Straße 9", description="The depot")
    for name in ("Straße 9", "  STRASSE\u00a09 ", "strasse ９"):
        with pytest.raises(Conflict) as caught:
            memory.add(name=name, description="Another depot")
        assert (caught.value.reason, caught.value.holder) == ("ALREADY_EXISTS", holder.id)
        assert "not saved" in str(caught.value)
    elsewhere: list[dict[str, object]] = [
        {"user": "ana"},
        {"scope": "agent", "agent": "coder"},
        {"scope": "agent", "agent": "tester"},
        {"scope": "project", "type": "project", "workspace": tmp_path},
    ]
    for given in elsewhere:
        memory.add(name="Straße 9", description="A depot of its own", **given)  # type: ignore[arg-type]
    assert len(memory.list().items) == 1


@pytest.mark.promise("name.unique")
def test_members_of_a_project_share_its_names(memory: Memory, tmp_path: Path) -> None:
    given = {"scope": "project", "type": "project", "workspace": tmp_path}
    first = memory.add(name="queue", description="The billing queue", user="ana", **given)  # type: ignore[arg-type]
    with pytest.raises(Conflict) as caught:
        memory.add(name="Queue", description="Another", user="ben", **given)  # type: ignore[arg-type]
    assert caught.value.holder == first.id


@pytest.mark.promise("evolve.expired-namesake")
def test_the_name_of_an_expired_memory_is_free(memory: Memory, clock: FakeClock) -> None:
    old = memory.add(name="sale", description="The kiln sale", valid_until=date(2026, 3, 14))
    with pytest.raises(Conflict):
        memory.add(name="sale", description="Another sale")
    clock.advance(days=1)
    new = memory.add(name="Sale", description="The autumn sale")
    now = memory.get(old.id)
    assert (now.status, now.superseded_by, now.version) == ("invalid", new.id, 2)
    assert (now.invalid_at, now.retired_at) == (new.created_at, new.created_at)
    assert now.description == "The kiln sale", "nothing was merged"
    assert memory.get(new.id).description == "The autumn sale"
    assert [hit.id for hit in memory.search("sale")] == [new.id]
    trace = memory.trace(old.id)
    assert [one.id for one in trace.successors] == [new.id]
    assert [one.id for one in memory.trace(new.id).superseded] == [old.id]


# -- gates --------------------------------------------------------------------------------------------


@pytest.mark.promise("gate.sensitive")
@pytest.mark.parametrize("field", ["name", "description", "body", "entities"])
def test_a_credential_is_refused_in_whatever_field(memory: Memory, home: Path, field: str) -> None:
    refusals = heard(memory, "candidate.refused")
    given: dict[str, object] = {"name": "n", "description": "d", "body": "", "entities": ()}
    given[field] = [KEY] if field == "entities" else f"token {KEY}"
    with pytest.raises(Refused) as caught:
        memory.add(**given)  # type: ignore[arg-type]
    assert caught.value.gate == "sensitive"
    assert KEY not in str(caught.value)
    assert memory.list().items == ()
    assert len(refusals) == 1
    memory.close()
    for path in home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.promise("gate.sensitive")
def test_a_project_hears_of_no_secret_either(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        memory.add(name="n", description=KEY, scope="project", type="project", workspace=tmp_path)
    assert not (tmp_path / ".memstrata").exists()


@pytest.mark.promise("gate.quota")
def test_a_full_scope_warns_a_person_and_saves(open_memory: Open) -> None:
    memory = open_memory(settings={"quota.user": 3})
    warnings = heard(memory, "scope.full")
    for n in range(3):
        memory.add(name=f"n{n}", description="d")
    memory.add(name="walk", description="Walked to the weir", type="episodic")
    assert warnings == []
    memory.add(name="n3", description="d")
    assert [(one.degraded, one.fields["scope"]) for one in warnings] == [(True, "user")]
    assert len(memory.list(status="active").items) == 5
    assert memory.status().full == ("user: 4 of 3",)
    assert [check.ok for check in memory.doctor() if check.name == "room"] == [False]
