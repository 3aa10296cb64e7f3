"""What people say, and files state, to be a secret: passwords, keys, tokens, pins, credentials in URLs."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.redact.rule import DAY, OF, Check, Rule

# ── the pieces of a statement ────────────────────────────────────────────────────────────────────

_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_BARE: Final = rf"(?P<bare>[^\s\x00-\x1f\"'`<>“”‘’「」『』，。；！？、（）【】《》{_CJK}]{{4,512}})"
_QUOTED: Final = (
    r"\\{0,2}(?:\"(?P<double>[^\"\\\n\x00]{3,256})\\{0,2}\"|'(?P<single>[^'\\\n\x00]{3,256})\\{0,2}'"
    r"|`{1,3}(?P<tick>[^`\n\x00]{3,256})`|[“”](?P<curly>[^“”\n\x00]{2,256})[“”]"
    r"|‘(?P<curl>[^‘’\n\x00]{2,256})’|「(?P<corner>[^「」\n\x00]{2,256})」"
    r"|『(?P<twin>[^『』\n\x00]{2,256})』|\*\*(?P<bold>[^*\s\x00]{3,256})\*\*)"
)
_VALUE: Final = rf"(?:{_QUOTED}|{_BARE})"
_VERB: Final = (
    r"(?:['’]s\s|\s(?:is|was|are|will[ \t]+be|has[ \t]+been|reads)\s"
    r"(?:(?:now|still|currently|just|actually|again|always|set[ \t]+to|changed[ \t]+to|simply)\s){0,2}"
    r":?[ \t]{0,2})"
)
_EQUALS: Final = (
    r"\d?\\{0,2}[\"'`*\]]{0,3}(?:[ \t]{0,20}(?::=|=>|==?|:)[ \t]{0,20}|[ \t]{1,20}\|[ \t]{1,20})"
)
_SEPARATED: Final = rf"(?:{_VERB}|{_EQUALS})"
_VERB_ZH: Final = (
    r"(?:是|为|為|：|:|=|叫|改成|改为"
    r"|设为|设成|设置为|设置成|换成|用的是|还是)了?[ \t]{0,4}(?:[:：][ \t]{0,3})?"
)

_PASSWORD: Final = r"pass(?:word|code|phrase|wd)s?"
_PASSWORDS: Final = ("password", "passcode", "passphrase", "passwd")
_PASSWORD_ZH: Final = "(?:密码|口令|密碼)"
_PASSWORDS_ZH: Final = ("密码", "口令", "密碼")

# ── what cannot be a value ───────────────────────────────────────────────────────────────────────

_NO_VALUE: Final = frozenset(
    """
    the a an in on at to of for as by with from not no none null nil true false yes nan undefined empty
    blank missing required optional mandatory wrong right correct incorrect valid invalid ok okay good bad
    weak strong secure insecure safe unsafe secret private public hidden visible plain plaintext clear
    cleartext long short simple complex easy hard difficult hashed salted encrypted stored saved kept sent
    shared reset changed set unset used reused expired known unknown unique same different random default
    needed there here this that it its my your our their his her what which who when where why how also
    only just very too so still never always now currently case sensitive something anything nothing
    everything someone temporary old new text string str bytes int integer char varchar field input value
    key token password passwd passphrase passcode pass pwd login username user admin name email hash md5
    sha1 sha256 sha512 sha-1 sha-256 sha-512 bcrypt scrypt argon2 argon2id pbkdf2 base64 utf-8 utf8 ascii
    hex aes aes256 aes-256 rsa rsa-2048 oauth oauth2 jwt tbd todo n/a na any hint please important
    enough gone lost forgotten leaked compromised rotated being about case-sensitive alphanumeric numeric
    boolean bool object function number date page screen prompt policy manager managers protection form
    disabled enabled available unavailable ready pending active inactive confidential masked redacted
    removed omitted test foo bar baz example sample placeholder changeme change-me your-password
    yourpassword your_password secretstr unicode file path env environment config settings stdin given
    taken shown chosen written broken typed terrible awful fine great ridiculous stupid annoying personal
    legendary familiar obvious nowhere elsewhere yours mine ours theirs option options argument arguments
    parameter parameters credentials characters
    """.split()
)
_ADJECTIVE: Final = Regex(r"\w+(?:ed|ing|able|ible|ful|less|ly|ous|ive|ory|ary|ant|ent|ten|ish)")
_UNIT: Final = Regex(
    r"[ \t]{0,2}(?:-?[ \t]?(?:char|digit|letter|symbol|byte|bit|day|hour|minute|second|week|month|year|time"
    r"|word|%)|位|个|字|年|月|天|次)",
    re.IGNORECASE,
)
_STATEMENT_ENDS: Final = Regex(
    r"[*_`\"')\]]{0,3}(?:\s*(?:$|[.,;!?)\n，。；！？）])"
    r"|[ \t]+(?:and|but|so|for|on|at|until|since|please)\b)"
)
_LINE_ENDS: Final = Regex(r"[*`_]{0,3}(?:[ \t]*(?:$|\n|[;。；])|\.\s)")
_NO_EXPRESSION: Final = Regex(r"[*`_]{0,3}(?:\s*(?:$|\n|#|[;&|，。；])|[.,]\s|[ \t]+[A-Za-z-])")
_IF: Final = Regex(
    r"\b(?:if|when|whether|unless|until|once|sure|every|any|no|each|whose)\s(?:[\w’']+\s){0,3}$",
    re.IGNORECASE,
)
_RANGE: Final = Regex(r"[\d,.]+(?:[-–~+]\d*)?\+?")
_STAND_IN: Final = Regex(r"[<\[{(%$*•·.#_-]{2,}|[$%{<*(\[]|.{0,3}(?:\*{3}|x{4}|X{4}|•{3})|\.{3}|…")
_CODE: Final = Regex(
    r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+(?:[(\[].*)?|.*[()\[\]{}].*|https?://.*"
    r"|[./~]*/[\w./-]+|@\w+(?:\.\w+)*|(?:ctrl|alt|cmd|shift|meta)[+-].*|sha\d+[:-].*",
    re.IGNORECASE,
)
_LABEL: Final = Regex(r"(?i:pass|pwd)\w*$|^[a-z]+(?:_[a-z0-9]+)+$|[{}]|%[sd(]|\$\(")
_NAME: Final = Regex(r"[A-Za-z]+(?:[-_.]+[A-Za-z]+)*(?:[-_.]*v?\d{1,5})?")
_SYMBOL: Final = Regex(r"[!@#$%^&*+=~?|€£§]")
_FUNCTION_WORDS: Final = frozenset(
    "the a an in on of for to is are was be and or with that by it as not you your my we so please must"
    " if at from can should will this all only have has i".split()
)
_OTHER_KEYS: Final = Regex(
    r"\b(?:primary|foreign|cache|partition|sort|hash|public|composite|natural|surrogate|shard|routing"
    r"|map|dict|dictionary|lookup|registry|redis|idempotency|hot|next|page|cancellation|first|last"
    r"|object|s3)[ _-]?$"
)
_QUALIFIER: Final = Regex(
    r"(?:api|secret|access|auth|oauth|client|app|refresh|bot|private|encryption|signing|webhook|consumer"
    r"|account|master|licen[cs]e|product|session|service|storage|deploy|jwt|subscription|id|access[ _-]?key"
    r"|sas|registry|rest|admin)[ _-]?$"
)


def _credible(value: str) -> bool:
    """No stand-in (`<password>`, `${PASS}`, `xxxx`, `*****`), no date, no word that cannot be one."""
    first = value.lower().split()[0] if value.strip() else ""
    return not _STAND_IN.match(value) and first not in _NO_VALUE and not DAY.fullmatch(value)


def _strong(value: str) -> bool:
    """Has what words have not: digits beside letters, symbols, or four digits and more."""
    if value.isdigit():
        return len(value) >= 4
    letters = any(char.isalpha() for char in value)
    digits = any(char.isdigit() for char in value)
    return (letters and digits) or (bool(_SYMBOL.search(value)) and (letters or digits))


def _plain_word(value: str) -> bool:
    return value.isascii() and value.isalpha() and not _ADJECTIVE.fullmatch(value.lower())


def _quoted(match: re.Match[str]) -> bool:
    return match.lastgroup != "bare"


def _end(match: re.Match[str], value: str) -> int:
    return match.start("bare") + len(value)


# ── checks ───────────────────────────────────────────────────────────────────────────────────────


def _said(text: str, match: re.Match[str], value: str) -> bool:
    """A password as prose gives it: "the wifi password is bluewhale"."""
    if not _credible(value) or _quoted(match):
        return _credible(value)
    end = _end(match, value)
    if _CODE.fullmatch(value) or (_RANGE.fullmatch(value) and _UNIT.match(text, end)):
        return False
    if _strong(value):
        return True
    before = text[max(0, match.start() - 50) : match.start()]
    word = len(value) >= 5 and _plain_word(value)
    return word and bool(_STATEMENT_ENDS.match(text, end)) and not _IF.search(before)


def _assigned(text: str, match: re.Match[str], value: str) -> bool:
    """A password as files and code give it: `DB_PASSWORD=…`, `"password": "…"`, `password: …`."""
    if not _credible(value) or " " in value or _LABEL.search(value):
        return False
    if _quoted(match):
        return _strong(value) and len(value) >= 5
    if _strong(value):
        return not _CODE.fullmatch(value) and bool(_NO_EXPRESSION.match(text, _end(match, value)))
    head = text[match.start() : match.start("bare")]
    stated = ":" in head or head[:4].isupper()
    word = len(value) >= 6 and value.islower() and _plain_word(value)
    return stated and word and bool(_LINE_ENDS.match(text, _end(match, value)))


def _assigned_strong(text: str, match: re.Match[str], value: str) -> bool:
    return _strong(value) and len(value) >= 5 and _assigned(text, match, value)


def _strong_only(text: str, match: re.Match[str], value: str) -> bool:
    """Without a verb to go by, only what has letters and digits, or symbols."""
    return (
        len(value) >= 6
        and _credible(value)
        and _strong(value)
        and not value.isdigit()
        and not (_CODE.fullmatch(value) or _RANGE.fullmatch(value) or _LABEL.search(value))
    )


def _phrase(text: str, match: re.Match[str], value: str) -> bool:
    """Four content words and more: "the passphrase is correct horse battery staple"."""
    first, *rest = value.lower().split()
    ordinary = _FUNCTION_WORDS.intersection([first, *rest]) or _NO_VALUE.intersection(rest)
    return not ordinary and not _ADJECTIVE.fullmatch(first)


def _key_said(text: str, match: re.Match[str], value: str) -> bool:
    """After "key is" and "token is": eight characters and more, with a digit."""
    if len(value) < 8 or not any(char.isdigit() for char in value) or not _credible(value):
        return False
    before = text[max(0, match.start() - 24) : match.start()].lower()
    return not _CODE.fullmatch(value) and not _OTHER_KEYS.search(before)


def _key_assigned(text: str, match: re.Match[str], value: str) -> bool:
    """`api_key = "…"`: eight characters and more, letters and digits, not a name."""
    if len(value) < 8 or not _credible(value) or " " in value or _NAME.fullmatch(value):
        return False
    if not (any(char.isdigit() for char in value) and any(char.isalpha() for char in value)):
        return False
    if _LABEL.search(value) or _CODE.fullmatch(value):
        return False
    return _quoted(match) or len(value) >= 10


def _key_named(text: str, match: re.Match[str], value: str) -> bool:
    """As `_key_assigned`, after the word that makes a key, token or secret one to keep."""
    before = text[max(0, match.start() - 20) : match.start()].lower()
    named = _QUALIFIER.search(before) or (before[-1:] == "_" and match[0][:3].lower() != "key")
    return bool(named) and _key_assigned(text, match, value)


def _said_zh(text: str, match: re.Match[str], value: str) -> bool:
    if not _credible(value) or _quoted(match):
        return _credible(value)
    if _UNIT.match(text, _end(match, value)) or _CODE.fullmatch(value):
        return False
    word = len(value) >= 6 and value.isalpha()
    return _strong(value) or (word and bool(_STATEMENT_ENDS.match(text, _end(match, value))))


def _key_zh(text: str, match: re.Match[str], value: str) -> bool:
    digit = any(char.isdigit() for char in value)
    return len(value) >= 8 and digit and _said_zh(text, match, value)


def _argument(text: str, match: re.Match[str], value: str) -> bool:
    """`-u mira:Sunf1ower`, not `-u 1000:1000`, not `--password PASSWORD`."""
    return (
        _credible(value) and _strong(value) and not value.isdigit() and not _CODE.fullmatch(value)
    )


def _basic(text: str, match: re.Match[str], value: str) -> bool:
    """Base64 of `user:password` (RFC 7617)."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _url(text: str, match: re.Match[str], value: str) -> bool:
    return not _STAND_IN.match(value)


def _bearer(text: str, match: re.Match[str], value: str) -> bool:
    return any(char.isdigit() for char in value) and not _NAME.fullmatch(value)


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────


def _row(
    kind: str,
    anchors: Sequence[str],
    pattern: str,
    check: Check | None = None,
    around: tuple[int, int] | None = None,
) -> Rule:
    return Rule(kind, tuple(anchors), Regex(pattern, re.IGNORECASE), check, around=around)


_WHOSE: Final = ("my", "the", "our", "his", "her", "their")
_BEFORE: Final = tuple(f" {verb} {whose} " for verb in ("is", "as") for whose in _WHOSE)
_LOGINS: Final = (
    "login",
    "log in",
    "sign in",
    "credentials",
    "creds",
    "账号密码",
    "用户名密码",
    "账密",
)
_CODES: Final = tuple(
    f"{what} code"
    for what in (
        "door alarm gate lock lockbox safe garage entry access verification security one-time"
        " voicemail unlock backup recovery 2fa keypad gym building house elevator"
    ).split()
)

_IN_URLS: Final = (
    _row(
        "connection-string",
        ("://",),
        r"://[^\s/?#@:\"'<>\x00]{0,128}:(?P<url>[^\s/?#@\"'<>\x00]{1,256})@(?=[\w\[.%-])",
        _url,
    ),
    _row("key", ("sig=",), r"(?<=[?&])sig=(?P<sig>[A-Za-z0-9%+/_-]{30,100}=?)"),
)
_PASSWORD_ROWS: Final = (
    _row("password", _PASSWORDS, rf"{_PASSWORD}{OF}{_VERB}{_VALUE}", _said),
    _row("password", ("pwd", "pass", "pw"), rf"(?<![a-z])(?:pwd|pass|pw){_VERB}{_VALUE}", _said),
    _row(
        "password",
        _PASSWORDS,
        rf"(?:pass(?:code|phrase)s?{OF}{_SEPARATED}|{_PASSWORD}{OF}{_VERB})"
        r"(?P<phrase>[a-z]{3,12}(?: [a-z]{2,12}){3,11})(?=\s*(?:$|[.,;!?\n]))",
        _phrase,
    ),
    _row("password", _PASSWORDS, rf"{_PASSWORD}{OF}\sto[ \t]{_VALUE}", _strong_only),
    _row("password", _PASSWORDS, rf"{_PASSWORD}[ \t]+{_VALUE}", _strong_only),
    _row(
        "password",
        ("password", "passcode", "passphrase"),
        rf"{_PASSWORD}{OF}{_EQUALS}{_VALUE}",
        _assigned,
    ),
    _row(
        "password",
        ("passwd", "pwd", "psw"),
        rf"(?:passwd|pwd|psw){_EQUALS}{_VALUE}",
        _assigned_strong,
    ),
    _row(
        "password",
        ("pass", "pw"),
        rf"(?<![a-z])(?:pass|pw)\\?[\"']?[ \t]?[:=][ \t]?{_VALUE}",
        _assigned_strong,
    ),
    _row("password", ("password>", "passwd>"), r"passw(?:or)?d>(?P<tag>[^<\s\x00]{4,256})</", _url),
    _row("password", ("--password", "--passwd"), rf"--pass(?:word|wd)[ =]{_VALUE}", _argument),
    _row("password", ("sshpass -p",), rf"sshpass -p ?{_VALUE}", _argument),
    _row(
        "password",
        ("mysql", "mariadb"),
        rf"(?:mysql|mariadb)\w{{0,8}}\s[^\n\x00]{{0,80}}?(?<=\s)-p{_BARE}",
        _argument,
    ),
    _row(
        "password",
        ("-u ", "--user "),
        rf"(?<!\S)(?:-u|--user)\s[\"']?[\w.@-]{{1,64}}:{_BARE}",
        _argument,
    ),
    _row("password", ("login ",), rf"login\s\S{{1,64}}\spassword[ \t]{_VALUE}", _argument),
    _row(
        "password",
        ("identified by", "with password"),
        r"(?:identified\sby|with\spassword)[ \t]{1,4}'(?P<sql>[^'\n\x00]{4,128})'",
        _url,
    ),
    _row(
        "password",
        ("wifi:",),
        r"WIFI:(?:[A-OQ-Z]:[^;\s\x00]{0,64};){0,4}P:(?P<qr>[^;\s\x00]{4,64});",
    ),
    _row(
        "password",
        _BEFORE,
        rf"(?<!\S){_BARE}\s(?:is|as)\s(?:{'|'.join(_WHOSE)})\s(?:[\w-]{{1,20}}\s){{0,2}}pass(?:w|c|p)",
        _strong_only,
        around=(70, 50),
    ),
    _row(
        "password",
        _PASSWORDS_ZH,
        rf"{_PASSWORD_ZH}[^\n\x00，。；,:：=是]{{0,16}}?{_VERB_ZH}{_VALUE}",
        _said_zh,
    ),
    _row("password", _PASSWORDS_ZH, rf"{_PASSWORD_ZH}[ \t]{{0,3}}{_BARE}", _strong_only),
    _row(
        "password",
        ("是我的", "是密码", "作为密码", "当密码", "做密码"),
        rf"{_BARE}[ \t]?(?:是(?:我的)?|作为|当|做)[{_CJK}A-Za-z -]{{0,8}}密码",
        _strong_only,
        around=(70, 14),
    ),
    _row(
        "login",
        _LOGINS,
        rf"(?:{'|'.join(_LOGINS)})(?:{_SEPARATED}|[ \t]{{0,2}}[:：是][ \t]{{0,3}}|\s(?:with\s|as\s)?)"
        rf"[\w.@+-]{{2,64}}[ \t]{{0,2}}[/:|][ \t]{{0,2}}{_BARE}",
        _strong_only,
    ),
)
_KEY_ROWS: Final = (
    _row(
        "key",
        ("key", "token", "credential"),
        rf"(?<![a-z])(?:key|token|credential)s?{OF}{_VERB}{_VALUE}",
        _key_said,
    ),
    _row(
        "key",
        ("key", "token", "secret"),
        rf"(?:key|token|secret){OF}{_SEPARATED}{_VALUE}",
        _key_named,
    ),
    _row(
        "key",
        ("secret is ", "secret: ", "secret="),
        rf"(?<![a-z])secret(?:\sis\s|:\s|=){_VALUE}",
        _key_assigned,
    ),
    _row(
        "key",
        ("--token", "--api-key", "--apikey", "--secret"),
        rf"--(?:token|api-?key|secret)[ =]{_VALUE}",
        _key_assigned,
    ),
    _row(
        "key",
        ("密钥", "令牌", "密匙", "秘钥"),
        rf"(?:密钥|令牌|密匙|秘钥)[^\n\x00，。；,:：=是]{{0,16}}?{_VERB_ZH}{_VALUE}",
        _key_zh,
    ),
    _row(
        "key",
        ("key", "token", "secret"),
        rf"(?:key|token|secret)[ \t]{{0,2}}(?:是|为)[ \t]{{0,4}}{_VALUE}",
        _key_zh,
    ),
    _row(
        "key",
        ("key:", "token:", "secret:"),
        rf"(?<=[{_CJK}])(?:key|token|secret):[ \t]{{0,4}}{_VALUE}",
        _key_zh,
    ),
    _row("bearer", ("bearer ",), r"bearer[ \t]{1,3}(?P<bare>[\w.~+/=-]{16,2000})", _bearer),
    _row(
        "basic",
        ("basic ",),
        r"(?<=[:\s\"'])basic[ \t]{1,3}(?P<basic>[A-Za-z0-9+/]{8,400}={0,2})",
        _basic,
    ),
)
_CODE_ROWS: Final = (
    _row(
        "pin",
        ("pin",),
        rf"(?<![a-z])pin(?:\s(?:code|number))?{OF}{_SEPARATED}(?P<bare>\d{{4,8}})(?![\w.-])",
    ),
    _row(
        "pin",
        _CODES,
        rf"(?:{'|'.join(_CODES)})s?{OF}{_SEPARATED}(?P<bare>[#*]?\d{{4,8}}[#*]?)(?![\w.-])",
    ),
    _row(
        "pin",
        ("验证码", "门禁码", "解锁码"),
        r"(?:验证码|门禁码|解锁码)[^\n\x00，。]{0,6}?(?:是|为|：|:)?[ \t]{0,3}(?P<bare>\d{4,8})(?!\d|位)",
    ),
    _row(
        "recovery-phrase",
        ("seed", "recovery", "secret", "backup", "mnemonic", "助记词"),
        rf"(?:(?:seed|recovery|secret|backup|mnemonic)\s(?:recovery\s)?phrase|mnemonic|助记词)"
        rf"(?:{_SEPARATED}|[:：是为][ \t]?)[\"'“]?(?P<words>[a-z]{{3,8}}(?:[ ,]{{1,2}}[a-z]{{3,8}}){{11,23}})",
    ),
)
STATEMENTS: Final = _IN_URLS + _PASSWORD_ROWS + _KEY_ROWS + _CODE_ROWS
