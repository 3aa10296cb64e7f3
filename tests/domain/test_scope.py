"""Keys and views: who sees what, and that nothing can lie where nobody sees it."""

from __future__ import annotations

import pytest

from memstrata.domain.scope import SCOPES, Key, Realm, Scope, View, parse_scope, realm
from memstrata.errors import Invalid

ANN = Realm("local", "ann")


@pytest.mark.parametrize("workspace", [None, ""])
@pytest.mark.parametrize("agent", [None, ""])
def test_without_workspace_and_agent_only_the_user_scope_is_seen(
    workspace: str | None, agent: str | None
) -> None:
    assert View(ANN, workspace, agent).keys == (Key(ANN, "user", ""),)


def test_the_user_scope_comes_first() -> None:
    keys = View(ANN, "ws-1", "coder").keys
    assert [key.scope for key in keys] == ["user", "project", "agent"]
    assert [key.ref for key in keys] == ["", "ws-1", "coder"]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_memory_gets_the_key_of_its_scope(scope: Scope) -> None:
    view = View(ANN, "ws-1", "coder")
    assert view.key(scope) in view.keys
    assert view.key(scope).scope == scope


@pytest.mark.promise("scope.needs-ref")
@pytest.mark.parametrize("scope, field", [("project", "workspace"), ("agent", "agent")])
@pytest.mark.parametrize("ref", [None, ""])
def test_a_scope_that_needs_a_ref_is_refused_without(
    scope: Scope, field: str, ref: str | None
) -> None:
    with pytest.raises(Invalid) as caught:
        View(ANN, ref, ref).key(scope)
    assert caught.value.field == field
    assert caught.value.detail()["reason"] == "VALIDATION_FAILED"


@pytest.mark.promise("scope.needs-ref")
@pytest.mark.parametrize("scope", ["project", "agent"])
def test_an_orphan_cannot_be_written_down(scope: Scope) -> None:
    with pytest.raises(Invalid, match="scope_ref"):
        Key(ANN, scope, "")


def test_two_agents_of_one_owner_have_keys_of_their_own() -> None:
    assert View(ANN, None, "cook").key("agent") != View(ANN, None, "coder").key("agent")


@pytest.mark.parametrize("value", ["User", "", None, "team", ["user"], 1])
def test_an_unknown_scope_is_refused_with_those_there_are(value: object) -> None:
    with pytest.raises(Invalid, match="user, project, agent"):
        parse_scope(value)


@pytest.mark.promise("owner.local")
@pytest.mark.parametrize("owner", ["", None, "..", "a/b", "a b", 7])
def test_an_owner_is_a_ref(owner: object) -> None:
    with pytest.raises(Invalid) as caught:
        realm("local", owner)
    assert caught.value.field == "owner"
    assert realm("local", "ann") == ANN
