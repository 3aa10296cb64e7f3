"""Masks and findings: what is found, what is left alone, and that masking is exact and idempotent."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.sensitive import make, ordinary

from memstrata.domain import redact
from memstrata.domain.redact.keys import KEYS
from memstrata.domain.redact.statements import STATEMENTS
from memstrata.domain.redact.text import MASK

IDENTIFIERS = {
    "national-id", "social-security", "passport", "licence", "tax", "bank-account", "card", "medical",
}  # fmt: skip
SECRETS = tuple(s for s in make.secrets() if s.kind not in IDENTIFIERS)
GITHUB = "ghp" + "_" + "a1B2" * 9


def found(text: str, finds: tuple[redact.Finding, ...]) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in finds]


@pytest.mark.promise("l0.masked")
def test_a_key_is_masked_and_the_rest_of_the_sentence_stays() -> None:
    text = "my key is sk-demo-0000-not-a-real-key, and I like mint tea"
    masked = "my key is [secret:openai …-key], and I like mint tea"
    assert redact.mask(text, "all") == masked
    assert redact.mask(text, "keys") == masked
    assert redact.mask(text, "off") == text


@pytest.mark.promise("l0.masked")
@pytest.mark.parametrize("sample", SECRETS, ids=lambda s: f"{s.kind}-{s.lang}-{s.start}")
def test_no_part_of_a_labelled_secret_outlives_the_mask(sample: make.Sample) -> None:
    masked = redact.mask(sample.text, "all")
    assert sample.secret not in masked
    assert "[secret:" in masked
    assert redact.mask(masked, "all") == masked


def test_the_rest_stays_byte_for_byte() -> None:
    text = f"a\r\n\tｆｕｌｌ\u200b wide，é e\u0301 {GITHUB}\x0b end\n"
    assert redact.mask(text, "keys") == text.replace(GITHUB, "[secret:github …a1B2]")


@pytest.mark.parametrize(
    "text, masked",
    [
        ("password is hunter2.", "password is [secret:password]."),
        ("password: hunter22-hunter22", "password: [secret:password …er22]"),
        ('the password is "open the green gate ]"', 'the password is "[secret:password]"'),
        (
            "the password is hunter2, hunter2 is short",
            "the password is [secret:password], hunter2 is short",
        ),
        ("我的密码是hunter2，我喜欢茶", "我的密码是[secret:password]，我喜欢茶"),
        ("redis://:p%40ss%21w@cache/0", "redis://:[secret:connection-string]@cache/0"),
    ],
)
def test_the_last_four_characters_show_only_from_sixteen_on(text: str, masked: str) -> None:
    assert redact.mask(text, "all") == masked


@pytest.mark.promise("l0.masked")
@pytest.mark.parametrize(
    "text",
    [
        "The spare key is with Odile.",
        "the key is behind-the-kettle",
        "the token is short12",
        "the cache key is order_2024_items",
        "The password is required.",
        "If the password is wrong, call Ines.",
        "password = getpass.getpass()",
        "api_key = settings.api_key_v2",
        "password: ${DB_PASSWORD}",
        "postgres://app@db/prod and postgres://app:${PASS}@db/prod",
        ".sk-fading-circle .sk-circle12:before { color: #333 }",
        "密码不能少于8位，密码是必填项",
        "令牌是短期有效的",
    ],
)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert redact.find_secrets(text) == ()
    assert redact.mask(text, "all") == text


def test_after_key_is_a_value_needs_eight_characters_and_a_digit() -> None:
    assert found("x", redact.find_secrets("the key is abcdefg1")) != []
    assert redact.find_secrets("the key is abcdef1") == ()
    assert redact.find_secrets("the key is abcdefgh") == ()


def test_keys_leaves_statements_and_assignments_alone() -> None:
    text = f"my password is hunter2; DB_PASSWORD=marmalade22; redis://:foghorn99@h/0; {GITHUB}"
    assert redact.mask(text, "keys") == text.replace(GITHUB, "[secret:github …a1B2]")


def test_findings_keep_the_places_of_the_given_text() -> None:
    text = "\u200b\u200bｋｅｙ： ghp\u200b_" + "ａ1B2" * 9 + "。"
    (one,) = redact.find_secrets(text)
    assert text[one.start : one.end] == "ghp\u200b_" + "ａ1B2" * 9


def test_a_key_in_the_middle_of_a_file_is_found() -> None:
    text = f"---\nname: ci\n---\n\nThe bot.\n\n- {GITHUB}\n- tea\n"
    assert found(text, redact.find_secrets(text)) == [("github", GITHUB)]


def test_a_private_key_goes_whole_and_its_surroundings_stay() -> None:
    key = make.pem(random.Random(1), "RSA ")
    assert redact.mask(f"before\n{key}\nafter", "keys") == "before\n[secret:private-key]\nafter"


@pytest.mark.parametrize(
    "text, kind, value",
    [
        ("身份证号是11010519491231002X", "national-id", "11010519491231002X"),
        ("id 11010519491231002X on file", "national-id", "11010519491231002X"),
        ("my ssn is 123-45-6789", "social-security", "123-45-6789"),
        ("passport number X1234567, expires 2030-01-01", "passport", "X1234567"),
        ("paid with 4111 1111 1111 1111 today", "card", "4111 1111 1111 1111"),
        (
            "rent goes to DE89 3704 0044 0532 0130 00 AND so on",
            "bank-account",
            "DE89 3704 0044 0532 0130 00",
        ),
        ("病历号：ZY20240318", "medical", "ZY20240318"),
    ],
)
def test_identifiers_end_where_they_end(text: str, kind: str, value: str) -> None:
    assert found(text, redact.find_identifiers(text)) == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "id 110105194912310021 on file",
        "paid with 4111 1111 1111 1112 today",
        "order 4111111111111111",
        "rent goes to DE88 3704 0044 0532 0130 00",
        "my passport expires on 2030-01-01",
        "the insurance policy 2024-2025 is due",
        "order 12-34-5678 and 123-45-6789",
    ],
)
def test_wrong_check_digits_and_unannounced_numbers_stay(text: str) -> None:
    assert redact.find_identifiers(text) == ()


def test_contacts_and_private_facts_are_apart() -> None:
    text = "mira@example.org, +49 30 1234567, 手机13800001111"
    assert [kind for kind, _ in found(text, redact.find_contacts(text))] == [
        "e-mail",
        "phone",
        "phone",
    ]
    assert redact.find_sensitive(text) == ()
    kinds = {one.kind for one in redact.find_private("Mira is vegan, has asthma, 信佛")}
    assert kinds == {"diet", "health", "beliefs"}


@pytest.mark.promise("l0.masked")
def test_ordinary_lines_are_left_byte_for_byte() -> None:
    changed = [
        line for line in ordinary.ordinary(1500, seed=23) if redact.mask(line, "all") != line
    ]
    assert changed == []


_PIECES = st.sampled_from(
    ["password is ", "my key is ", "密码是", "sk-demo-0000-not-a-real-key", GITHUB, "hunter2", '"', "'",
     " ", "\n", ",", "://a:", "@host", "[secret:", "github", " …abcd]", "]", "[secret:key]", "\u200b", "：",
     " is my password", "eyJ", ".", "-", "=", "ｋ", "-----BEGIN PRIVATE KEY-----", "MIIB0000", "tea"]
)  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=6), max_size=12).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    for mode in ("all", "keys"):
        once = redact.mask(text, mode)
        assert redact.mask(once, mode) == once


@given(st.lists(_PIECES | st.text(max_size=6), max_size=12).map("".join))
def test_findings_are_in_order_apart_and_inside(text: str) -> None:
    done = 0
    for one in redact.find_sensitive(text, strict=True):
        assert done <= one.start < one.end <= len(text)
        done = one.end


@pytest.mark.parametrize(
    "piece", ["sk-", "eyJ", "password is ", "key ", "://a:", "1 ", "\u200b", "密码"]
)
def test_time_grows_with_length_and_no_faster(piece: str) -> None:
    def cpu(length: int) -> float:
        text = (piece * length)[:length]
        begun = time.process_time()
        redact.mask(text, "all")
        return time.process_time() - begun

    cpu(1_000)
    assert cpu(80_000) < 20 * max(cpu(20_000), 0.005)


def test_every_kind_makes_a_mask_that_is_known_again() -> None:
    kinds = {rule.kind for rule in (*KEYS, *STATEMENTS)}
    assert all(MASK.fullmatch(f"[secret:{kind}]") for kind in kinds), kinds
    assert redact.find_secrets("[secret:sk-demo-0000-not-a-real-key]") != ()
