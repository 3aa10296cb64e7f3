"""Names: the table joins them, nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.build import memory

from memstrata import Invalid
from memstrata.domain import likeness
from memstrata.domain.entities import NONE, SHIPPED, Aliases, normalised, pair, parse_line


@pytest.mark.promise("entities.table")
def test_a_design_system_and_its_package_are_one_by_the_table() -> None:
    names = ("Arco Design", "@arco-design/web-react", "ARCO", "＠arco-design/web-vue")
    assert {SHIPPED.of(name) for name in names} == {"arco"}
    assert NONE.of("@arco-design/web-react") == "@arco-design/web-react"


@pytest.mark.promise("entities.packages")
@pytest.mark.parametrize(
    "one, other",
    [
        ("@babel/core", "@vue/core"),
        ("@babel/core", "babel"),
        ("@vue/core", "Vue"),
        ("core", "@vue/core"),
        ("redis", "redis-py"),
        ("react", "react-native"),
        ("arco", "arco-cli"),
    ],
)
def test_two_packages_never_meet_by_their_looks(one: str, other: str) -> None:
    assert SHIPPED.of(one) != SHIPPED.of(other)


def test_names_are_compared_folded() -> None:
    assert normalised("  Ｖｉｔｅ\tPress ") == "vite press"
    assert SHIPPED.every(["K8s", "Kubernetes", " "]) == {"kubernetes"}


def test_a_table_on_top_joins_and_parts() -> None:
    table = SHIPPED.over({"k8s": "k8s", "the cluster": "kubernetes", "@vue": "vue"})
    assert table.of("K8s") == "k8s"
    assert table.of("the cluster") == "kubernetes"
    assert table.of("@vue/core") == "vue"
    assert table.over({"@vue/core": "@vue/core"}).of("@vue/core") == "@vue/core"
    apart = SHIPPED.over({"@arco-design": "@arco-design"})
    assert apart.of("@arco-design/web-react") == "@arco-design/web-react"
    assert table.spellings("The cluster") == ("kubernetes", "the cluster")


@given(
    st.dictionaries(st.sampled_from("abcde"), st.sampled_from("abcde"), max_size=5),
    st.sampled_from("abcde"),
)
def test_whatever_is_joined_in_a_ring_ends(table: dict[str, str], name: str) -> None:
    found = Aliases(table)
    assert found.of(name) in {*table.values(), name}


@pytest.mark.parametrize("line", ["", "k8s", "= kubernetes", "k8s =", " = "])
def test_a_line_of_the_settings_says_both(line: str) -> None:
    with pytest.raises(ValueError, match="write alias = name"):
        parse_line(line)
    assert parse_line(" K8s = Kubernetes ") == ("k8s", "kubernetes")


@pytest.mark.parametrize("name", ["", " ", 3, "x" * 200, "a\0b"])
def test_a_name_is_a_short_text(name: object) -> None:
    with pytest.raises(Invalid) as caught:
        pair(name, "x")
    assert caught.value.field == "name"


@pytest.mark.promise("entities.gate")
def test_a_ruling_may_name_what_shares_a_thing_by_another_name() -> None:
    fresh = memory(
        id="mem_2",
        description="Forms are built with web-react",
        slot="use of web-react",
        entities=("@arco-design/web-react",),
    )
    old = memory(
        description="Design follows its system", slot="design tool", entities=("Arco Design",)
    )
    assert likeness.untied(fresh, old) == likeness.UNTIED
    assert likeness.untied(fresh, old, SHIPPED) == ""
    assert likeness.other_entities(fresh, old)
    assert not likeness.other_entities(fresh, old, SHIPPED)
