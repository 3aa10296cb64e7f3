"""Private identifiers: what a word announces, and numbers whose check digits prove them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.redact.rule import DAY, OF, Check, Rule
from memstrata.domain.redact.text import Finding, Folded

_LINK: Final = (
    r"(?:[ \t]?(?:no\b\.?|num(?:ber)?s?|nr\.?|#|id|card|code|policy|member|record|plan|d/l|dl))*"
    r"(?:[ \t]?\([^()\n\x00]{1,30}\))?"
    rf"{OF}(?:\s(?:is|was|are|reads)|['’]s|[ \t]?[:=#|])?[ \t]{{0,3}}[\"'`*]{{0,3}}"
)
_LINK_ZH: Final = r"(?:号码|号|卡|码|账号|账户)*[^\n\x00，。；,:：\d]{0,8}?(?:是|为|：|:|=)?[ \t]{0,3}[\"'`*“]{0,3}"
_CODE_VALUE: Final = (
    r"(?P<bare>(?-i:[A-Z0-9]{1,20}(?:[ ./-][A-Z0-9]{1,12}){0,7})|[a-z]{1,3}\d{5,12})(?![A-Za-z0-9])"
)
_YEARS: Final = Regex(r"(?:19|20)\d\d(?:[ ./-](?:19|20)?\d\d){0,2}")


def _digits(least: int, most: int = 34) -> Check:
    def check(text: str, match: re.Match[str], value: str) -> bool:
        count = sum(char.isdigit() for char in value)
        return least <= count <= most and not _YEARS.fullmatch(value) and not DAY.fullmatch(value)

    return check


def _named(
    kind: str, announced_by: str, least: int, most: int = 34, value: str = _CODE_VALUE
) -> Rule:
    """An identifier that one of some words announces, separated by `|`; all English or all Chinese."""
    names = tuple(announced_by.split("|"))
    words = "|".join(map(re.escape, names))
    pattern = f"(?:{words}){_LINK_ZH}{value}"
    if names[0].isascii():
        pattern = f"(?<![a-z0-9+/_-])(?:{words})(?![a-z0-9+/_]){_LINK}{value}"
    return Rule(kind, names, Regex(pattern, re.IGNORECASE), _digits(least, most))


_SSN: Final = r"(?P<bare>\d{3}[- ]?\d{2}[- ]?\d{4})(?![\w-])"
_SIN: Final = r"(?P<bare>\d{3}[ -]\d{3}[ -]\d{3})(?![\w-])"
_NINO: Final = r"(?P<bare>[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]?)(?![A-Za-z0-9])"

IDENTIFIERS: Final = (
    _named("social-security", "social security|social sec|ssn|my social", 9, value=_SSN),
    _named("social-security", "social insurance|sin number|social security", 7),
    _named("social-security", "sin", 9, value=_SIN),
    _named("social-security", "社保|社会保障|社会保险", 6),
    _named("national-id", "national insurance|nino|ni number", 6, value=_NINO),
    _named(
        "national-id",
        "national id|national identity|identity card|identity number|id card|citizen id|personal id number|aadhaar"
        "|dni|nric|cpf|bsn|nie|codice fiscale|pesel|personnummer|resident id",
        5,
    ),
    _named("national-id", "身份证|身分證|居民证|居住证", 14, 18),
    _named("passport", "passport", 6, 10),
    _named("passport", "护照|護照|通行证", 6, 10),
    _named(
        "licence",
        "driving licence|driving license|driver's license|driver’s license|driver's licence"
        "|driver’s licence|drivers license|drivers licence|driver license|driver licence",
        4,
        18,
    ),
    _named("licence", "驾驶证|驾照|駕照", 8, 18),
    _named(
        "tax",
        "tax id|tax number|tax identification|taxpayer|tax file|tfn|itin|tin|utr|steuer-id|ein",
        8,
        15,
    ),
    _named("tax", "税号|纳税人识别号|纳税识别号|个人税号", 8, 20),
    _named(
        "bank-account",
        "account number|account no|account #|bank account|acct|savings account|checking account|current account"
        "|iban|routing number|sort code",
        6,
    ),
    _named(
        "bank-account",
        "银行账号|银行账户|银行帐号|银行卡|储蓄卡|借记卡|工资卡|开户账号|账户号",
        9,
        19,
    ),
    _named("card", "card number|credit card|debit card|visa|mastercard|amex", 12, 19),
    _named("card", "信用卡|卡号", 12, 19),
    _named("card", "cvv|cvc", 3, 4),
    _named("card", "安全码", 3, 4),
    _named(
        "medical",
        "medical record|mrn|health insurance|insurance number|insurance policy|insurance id|insurance member"
        "|policy number|policy no|member id|nhs number|nhs|medicare|medicaid|patient id|patient number"
        "|health card|health plan",
        5,
    ),
    _named("medical", "病历|医保|保单|就诊卡|住院|门诊|医疗保险|保险单", 6),
)

_RUN: Final = Regex(r"(?<![\dA-Za-z._-])(?:\d[ -]?){11,18}[\dXx](?![\dA-Za-z_-]|\.\d)")
_GROUPED: Final = Regex(r"\d{4}([ -])(?:\d{4}\1\d{4}\1\d{1,7}|\d{6}\1\d{4,5})")
_BRAND: Final = Regex(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17}"
)
_CARD_WORD: Final = Regex(
    r"card|visa\b|master|amex|credit|debit|cvv|cvc|\bexp(?:iry|ires)?\b"
    r"|maestro|unionpay|pay (?:with|by)|卡|支付|付款|银联",
    re.IGNORECASE,
)
_RESIDENT: Final = Regex(
    r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])\d{4}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx]"
)
_IBAN: Final = Regex(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?")
_IBAN_LENGTH: Final = {
    entry[:2]: int(entry[2:])
    for entry in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24"
        " FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LI21"
        " LT20 LU20 LV21 MC27 MD24 ME22 MK19 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SE24 SI19"
        " SK24 SM27 TN24 TR26 UA29 VA22 XK20"
    ).split()
}


def luhn(number: str) -> bool:
    """Whether the digits pass the check of ISO/IEC 7812-1, annex B."""
    doubled = "0246813579"
    digits = [
        int(doubled[int(d)]) if place % 2 else int(d) for place, d in enumerate(reversed(number))
    ]
    return sum(digits) % 10 == 0


def resident_id(number: str) -> bool:
    """Whether 18 characters pass the check of GB 11643-1999 (ISO 7064, mod 11-2)."""
    if not _RESIDENT.fullmatch(number):
        return False
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17].upper()


def iban(number: str) -> bool:
    """Whether an account number without blanks has its country's length and passes ISO 13616 mod 97."""
    if len(number) != _IBAN_LENGTH.get(number[:2]):
        return False
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1


def numbers(folded: Folded) -> Iterator[Finding]:
    """Long numbers that prove themselves: identity cards and, grouped or beside a word, payment cards."""
    for match in _RUN.finditer(folded.text):
        number = match[0].replace(" ", "").replace("-", "")
        if resident_id(number):
            yield Finding("national-id", *match.span())
        elif _BRAND.fullmatch(number) and luhn(number) and _card_like(folded.text, match):
            yield Finding("card", *match.span())


def _card_like(text: str, match: re.Match[str]) -> bool:
    if _GROUPED.fullmatch(match[0]):
        return True
    start, end = match.start(), match.end()
    before = text[max(0, start - 50) : start].rpartition("\n")[2]
    after = text[end : end + 30].partition("\n")[0]
    return bool(_CARD_WORD.search(before) or _CARD_WORD.search(after))


def ibans(folded: Folded) -> Iterator[Finding]:
    for match in _IBAN.finditer(folded.text):
        wanted = _IBAN_LENGTH.get(match[0][:2], 0)
        end = match.start()
        while wanted and end < match.end():
            wanted -= folded.text[end] != " "
            end += 1
        if wanted == 0 and iban(folded.text[match.start() : end].replace(" ", "")):
            yield Finding("bank-account", match.start(), end)
