"""Headings compared, and those that are a person's: no team document takes a new one of these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from memstrata.domain.team_document.people import GIVEN_NAMES, OWN, PERSON, THINGS

TEAM: Final = (
    "Product Decisions",
    "Engineering Conventions",
    "Project Facts",
    "Open Questions",
)
PRIVATE: Final = ("Facts", "Preferences", "Instructions")

_BETWEEN: Final = re.compile(r"[\W_]+")
_WORD: Final = re.compile(r"([^\W_]+)(['’]s(?![^\W_]))?")
# Joiners and selectors that are letters or marks to Unicode, and shown by nobody.
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\ufe0e\ufe0f")
_FILLING: Final = frozenset(
    "a an the of for and or to with about on by our s 的 和 与 與 及".split()
)
_NAMING: Final = re.compile(
    r"(?:preferences?|prefs?|偏好|喜好)[\W_]*?(?:[(\[【]|\bof\b)", re.IGNORECASE
)
_KINDS: Final = {
    "likes": re.compile("preferences?|prefs?|的?(?:使用)?(?:偏好|喜好)(?:设置|設置|设定|設定)?"),
    "orders": re.compile("instructions?|的?(?:指示|指令)"),
    "notes": re.compile("notes?|profiles?|笔记|筆記|备注|備註|说明|說明|资料|資料|档案|檔案"),
}
_ZH_FIRM: Final = "(?:使用)?(?:偏好|喜好)(?:设置|設置|设定|設定)?|指示|指令"
_ZH_NOTES: Final = "笔记|筆記|备注|備註|说明|說明|资料|資料|档案|檔案"
_ZH_OWN: Final = "(?:个人|個人|私人|本人|我)的?"
_ZH_PERSON: Final = (
    rf"(?:{_ZH_OWN}|(?:用户|用戶|使用者|成员|成員|同事|员工|員工|[你您他她])[们們]?的?)"
)
_ZH_PERSONAL: Final = re.compile(
    rf"{_ZH_PERSON}*(?:{_ZH_FIRM})(?:[和与與及]?(?:{_ZH_FIRM}|{_ZH_NOTES}))*"
    rf"|(?:{_ZH_OWN})+(?:{_ZH_NOTES})"
)
_ZH_OWNED: Final = re.compile(
    rf"(.{{1,16}})的(?:(?:个人|個人)?(?:{_ZH_FIRM})|(?:个人|個人)(?:{_ZH_NOTES}))"
)


def plain(text: str) -> str:
    """NFKC, nothing invisible, case folded."""
    return unicodedata.normalize("NFKC", _visible(text).casefold())


def shows(text: str) -> bool:
    """Whether anybody can see something of `text`."""
    return bool(text.strip() if text.isascii() else _visible(text).strip())


def normalised(heading: str) -> str:
    """The form in which headings are compared: `plain`, runs of non-alphanumerics as one blank.

    A heading without a letter or figure is compared by its signs.
    """
    folded = plain(heading)
    return _BETWEEN.sub(" ", folded).strip() or " ".join(folded.split())


def canonical(heading: str) -> tuple[str, ...]:
    """`normalised`, in the singular and without small words: what makes two personal headings one."""
    return tuple(_singular(word.text) for word in _words(heading))


def is_personal(heading: str, people: Collection[str] = ()) -> bool:
    """Whether `heading` is about one person's preferences, instructions or notes.

    "Preferences", "User Preferences", "Preferences (Mira)", "Mira's notes", "个人笔记" are; "Setup
    Instructions" is not. `people` are names that count as words for a person.
    """
    words = _words(heading)
    at = [n for n, word in enumerate(words) if word.kind]
    if not at:
        return any(_chinese(word.text) for word in words)
    known = frozenset(word.text for name in people for word in _words(name))
    before, core, after = words[: at[0]], words[at[0] : at[-1] + 1], words[at[-1] + 1 :]
    who = OWN if all(word.kind in ("", "notes") for word in core) else PERSON
    persons = [word for word in (*before[-1:], *core, *after) if word.is_person(who, known)]
    if who is OWN and not persons:
        return False  # notes are a person's only when somebody is named
    unknown = [word for word in core if not word.kind and word not in persons]
    if unknown or not all(word in persons for word in before[-1:]):
        return False
    strangers = [word for word in after if word not in persons]
    return not strangers or _is_name(strangers, bool(_NAMING.search(_visible(heading))), len(after))


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a heading: as it is spelled, folded, and whether it owns ("Mira's")."""

    spelled: str
    text: str
    owns: bool

    @property
    def kind(self) -> str:
        """`likes`, `orders` or `notes`, else `""`."""
        return next((kind for kind, form in _KINDS.items() if form.fullmatch(self.text)), "")

    def among(self, words: frozenset[str]) -> bool:
        """Whether it or its singular is one of `words`."""
        return self.text in words or _singular(self.text) in words

    def is_person(self, who: frozenset[str], known: frozenset[str]) -> bool:
        """Whether it is a word for a person (one of `who`), a name, or owns and is no thing."""
        if self.among(who) or self.text in GIVEN_NAMES or self.text in known:
            return True
        return self.owns and not self.among(THINGS) and not self.among(PERSON)


def _is_name(words: Sequence[_Word], naming: bool, count: int) -> bool:
    """Whether `words`, some of the `count` after "preferences", are written like a name and no thing.

    `naming`: they stand in brackets or after "of". With a known name beside them they may be its rest.
    Instructions are mostly for a thing, whatever its name, so there a name must be known.
    """

    def may_be(word: _Word) -> bool:
        short_cjk = (
            not word.text.isascii() and word.text == word.spelled and len(word.text) in (2, 3)
        )
        return not word.among(THINGS) and (word.spelled.istitle() or short_cjk)

    return all(map(may_be, words)) and (len(words) < count or (naming and count <= 2))


def _chinese(text: str) -> bool:
    """Whether a run of Chinese without blanks is such a heading: 我的偏好, 小明的指示, 个人笔记."""
    if _ZH_PERSONAL.fullmatch(text):
        return True
    owned = _ZH_OWNED.fullmatch(text)
    return owned is not None and owned[1] not in THINGS


def _words(heading: str) -> tuple[_Word, ...]:
    found = (
        _Word(match[1], match[1].casefold(), match[2] is not None)
        for match in _WORD.finditer(_visible(heading))
    )
    return tuple(one for one in found if one.text not in _FILLING and not one.text.isdecimal())


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _visible(text: str) -> str:
    if text.isascii():
        return text
    return "".join(
        one
        for one in unicodedata.normalize("NFKC", text)
        if one not in _UNSEEN and unicodedata.category(one) != "Cf"
    )
