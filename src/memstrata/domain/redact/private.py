"""What the strict level keeps out too: contacts, and words of health, diet and beliefs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.redact.rule import Rule, scan
from memstrata.domain.redact.text import Finding, Folded

_DAY: Final = Regex(r"(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])")
_PHONE_WORD: Final = "phone|mobile|cell|tel|call me|call him|call her|whatsapp|number is|reach me"
_PHONE: Final = r"[^\n\x00\d+]{0,24}(?P<bare>\+?\d[\d ().-]{6,18}\d)(?![\w-])"


def _phone_digits(text: str, match: re.Match[str], value: str) -> bool:
    return 8 <= sum(char.isdigit() for char in value) <= 15 and not _DAY.match(value)


PHONES: Final = (
    Rule("phone", ("+",), Regex(r"(?<![\w.+-])\+\d[\d ().-]{6,20}\d(?![\w-])"), _phone_digits),
    Rule(
        "phone",
        tuple(_PHONE_WORD.split("|")),
        Regex(rf"(?<![a-z])(?:{_PHONE_WORD}){_PHONE}", re.IGNORECASE),
        _phone_digits,
    ),
    Rule(
        "phone",
        ("手机", "电话", "微信", "联系"),
        Regex(rf"(?:手机|电话|微信|联系){_PHONE}"),
        _phone_digits,
    ),
)
_MAIL: Final = Regex(r"(?<![\w.+/-])(?!git@)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
_DIALLED: Final = Regex(
    r"(?<![\w.+-])(?:\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}([.-])\d{3}\1\d{4}"
    r"|1[3-9]\d([ -])\d{4}\2\d{4}|0\d{2,3}-\d{7,8})(?![\w-])"
)


def _facts(kind: str, english: str, chinese: str) -> Rule:
    words = (*english.split("|"), *chinese.split())
    pattern = rf"(?<![a-z])(?:{'|'.join(map(re.escape, words))})"
    return Rule(kind, words, Regex(pattern, re.IGNORECASE))


FACTS: Final = (
    _facts(
        "health",
        "diagnos|allerg|asthma|diabet|depression|depressed|anxiety|adhd|autis|bipolar|epilep|migraine|cancer|tumour"
        "|tumor|hiv|hepatitis|pregnan|miscarr|medication|prescribed|prescription|antidepress|insulin|chemotherapy"
        "|surgery|psychiatr|therapist|blood pressure|blood type|cholesterol|disabilit|dyslexi|coeliac|celiac"
        "|arthritis|hypertens|eczema|insomnia|heart disease|heart attack|sober|alcoholi",
        "过敏 糖尿病 高血压 抑郁 焦虑症 哮喘 癌 肿瘤 怀孕 流产 手术 确诊 服药 吃药 病史 心脏病"
        " 残疾 艾滋 乙肝 血型 失眠 处方 住院",
    ),
    _facts(
        "diet",
        "vegan|vegetarian|pescatarian|halal|kosher|gluten|lactose|keto|low-carb|doesn't eat|does not eat|don't eat"
        "|do not eat|never eats|diet",
        "素食 吃素 清真 忌口 不吃 乳糖 麸质 减肥 生酮 节食",
    ),
    _facts(
        "beliefs",
        "christian|muslim|islam|jewish|judaism|buddhis|hindu|sikh|catholic|protestant|mormon|atheis|agnostic|religio"
        "|church|mosque|synagogue|pray|votes for|voted for|democrat|republican|political|trade union",
        "基督 佛教 信佛 穆斯林 伊斯兰 道教 天主教 无神论 信仰 宗教 教堂 党员 政治",
    ),
)


def contacts(folded: Folded) -> Iterator[Finding]:
    """E-mail addresses and telephone numbers."""
    yield from scan(folded, PHONES)
    for match in _MAIL.finditer(folded.text):
        yield Finding("e-mail", *match.span())
    for match in _DIALLED.finditer(folded.text):
        yield Finding("phone", *match.span())
