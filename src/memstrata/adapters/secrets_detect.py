"""The scanner of the sensitive gate: detect-secrets' format plugins beside our own patterns.

The entropy plugins are left out (they flag git hashes and UUIDs), the keyword plugin too (it flags
code), and the three whose patterns take quadratic time and whose formats `redact` knows: JWT, npm and
OpenAI. Nothing is ever verified over the network: only the plugins' patterns are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, Literal, Protocol, cast

from memstrata.domain import redact
from memstrata.domain.redact import Finding
from memstrata.errors import Invalid

Level = Literal["identifiers", "strict"]


@dataclass(frozen=True, slots=True)
class Plugin:
    """A detect-secrets plugin, and the texts without one of which it cannot find anything.

    An anchor in lower case stands for any case.
    """

    module: str
    name: str
    kind: str
    anchors: tuple[str, ...]


PLUGINS: Final = (
    Plugin("artifactory", "ArtifactoryDetector", "artifactory", ("AKC", "AP")),
    Plugin("aws", "AWSKeyDetector", "aws", ("akia", "asia", "abia", "acca", "a3t", "aws")),
    Plugin("azure_storage_key", "AzureStorageKeyDetector", "azure", ("accountkey=",)),
    Plugin("basic_auth", "BasicAuthDetector", "connection-string", ("://",)),
    Plugin("cloudant", "CloudantDetector", "cloudant", ("cloudant", "clou", "cl_", "cl-")),
    Plugin("discord", "DiscordBotTokenDetector", "discord", ("discord", "bot token", "bot_token")),
    Plugin(
        "github_token", "GitHubTokenDetector", "github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    ),
    Plugin(
        "gitlab_token",
        "GitLabTokenDetector",
        "gitlab",
        (
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "gr1348941",
            "glcbt-",
            "glimt-",
            "glptt-",
            "gloas-",
        ),
    ),
    Plugin(
        "ibm_cloud_iam", "IbmCloudIamDetector", "ibm", ("ibm", "iam_", "iam-", "iamapi", "iamkey")
    ),
    Plugin(
        "ibm_cos_hmac",
        "IbmCosHmacDetector",
        "ibm",
        ("secret_", "secret-", "secretkey", "secretaccess"),
    ),
    Plugin("mailchimp", "MailchimpDetector", "mailchimp", ("-us",)),
    Plugin(
        "private_key", "PrivateKeyDetector", "private-key", ("private key", "putty-user-key-file-2")
    ),
    Plugin("pypi_token", "PypiTokenDetector", "pypi", ("pypi-",)),
    Plugin("sendgrid", "SendGridDetector", "sendgrid", ("sg.",)),
    Plugin("slack", "SlackDetector", "slack", ("xox", "hooks.slack.com")),
    Plugin("softlayer", "SoftlayerDetector", "softlayer", ("softlayer", "sl_", "sl-")),
    Plugin("square_oauth", "SquareOAuthDetector", "square", ("sq0csp-",)),
    Plugin("stripe", "StripeDetector", "stripe", ("k_live_",)),
    Plugin(
        "telegram_token",
        "TelegramBotTokenDetector",
        "telegram",
        ("telegram", "bot token", "bot_token"),
    ),
    Plugin("twilio", "TwilioKeyDetector", "twilio", ("AC", "SK")),
)


class _Patterns(Protocol):
    denylist: Sequence[re.Pattern[str]]


class Detector:
    """Finds credentials and private identifiers; with `strict` also contacts and private facts.

    Implements::

        class Scanner(Protocol):
            def scan(self, text: str) -> tuple[Finding, ...]:
                \"\"\"Credentials and private identifiers in text; empty when clean.\"\"\"

    `extra` are a person's own regular expressions; what they match is of kind `pattern`. They are
    trusted: a slow one is slow.

    Raises:
        Invalid: one of `extra` is no regular expression.
    """

    def __init__(self, level: Level = "identifiers", extra: Sequence[str] = ()) -> None:
        self._strict = level == "strict"
        self._extra = tuple(_compiled(pattern) for pattern in extra)

    def scan(self, text: str) -> tuple[Finding, ...]:
        """Credentials and private identifiers in `text`, in order of place; empty when clean."""
        return redact.find_sensitive(text, strict=self._strict, more=self._more)

    def _more(self, folded: redact.Folded) -> Iterator[Finding]:
        for pattern in self._extra:
            for match in pattern.finditer(folded.text):
                if match[0]:
                    yield Finding("pattern", match.start(), match.end())
        for plugin in PLUGINS:
            yield from _found(folded, plugin)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        raise Invalid(
            "gates.patterns", f"{pattern!r} is no regular expression: {problem}"
        ) from None


def _found(folded: redact.Folded, plugin: Plugin) -> Iterator[Finding]:
    for start, end in _stretches(folded, plugin.anchors):
        for pattern in _patterns(plugin):
            for match in pattern.finditer(folded.text[start:end]):
                if _whole(match) and not _STAND_IN.search(match[0]):
                    yield Finding(plugin.kind, start + match.start(), start + match.end())


@cache
def _patterns(plugin: Plugin) -> tuple[re.Pattern[str], ...]:
    # Imported on first use: detect_secrets pulls in requests, 200 ms that a reader never needs.
    module = import_module(f"detect_secrets.plugins.{plugin.module}")
    return tuple(cast(type[_Patterns], getattr(module, plugin.name)).denylist)


def _whole(match: re.Match[str]) -> bool:
    """Not a piece of a longer word: most of the plugins look for no boundary."""
    text, start, end = match.string, match.start(), match.end()
    inner = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    outer = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not inner and not outer


_STAND_IN: Final = re.compile(r"[xX]{8}|\*{3}|:[<{$%]")
_BREAK: Final = re.compile(r"[\r\n]|[ \t]{4,}")
_REACH: Final = 300


def _stretches(folded: redact.Folded, anchors: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The parts of lines around the anchors, cut at long blanks: some patterns backtrack in those."""
    for start, end in _windows(sorted(_places(folded, anchors)), len(folded.text)):
        done = start
        for cut in _BREAK.finditer(folded.text, start, end):
            yield done, cut.start()
            done = cut.end()
        yield done, end


def _windows(places: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
    """What lies within reach of `places`, in order, overlapping windows as one."""
    start = end = 0
    for at in places:
        if at - _REACH > end:
            if end:
                yield start, end
            start = at - _REACH
        end = min(length, at + _REACH)
    if end:
        yield start, end


def _places(folded: redact.Folded, anchors: Sequence[str]) -> Iterator[int]:
    for anchor in anchors:
        source = folded.lower if anchor == anchor.lower() else folded.text
        at = source.find(anchor)
        while at >= 0:
            yield at
            at = source.find(anchor, at + 1)
