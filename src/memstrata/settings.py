"""Every setting, its default, and where its value came from.

Default < user TOML (`$MEMSTRATA_HOME/config.toml`) < project TOML (`<workspace>/.memstrata/config.toml`,
a short list of keys) < environment (`MEMSTRATA_RECALL__MAX_TOKENS`) < argument.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast, get_args, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memstrata.domain.entities import parse_line
from memstrata.errors import Invalid

ENV_PREFIX: Final = "MEMSTRATA_"
ENV_OTHERS: Final = frozenset(
    {"MEMSTRATA_HOME", "MEMSTRATA_FAILPOINTS", "MEMSTRATA_LANG", "MEMSTRATA_TOKEN"}
)
"""Variables of the same prefix that are no settings."""

ALIASES: Final[Mapping[str, str]] = {
    "memory.max_inject_tokens": "recall.max_tokens",
    "memory.time_decay_lambda": "search.time_decay_lambda",
    "memory.quota": "quota",
    "memory.timezone": "timezone",
}
"""Other names that are accepted, each also in camel case (`memory.maxInjectTokens`), as is every key."""
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])[A-Z]")


def _patterns(found: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in found:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return found


Patterns = Annotated[tuple[str, ...], AfterValidator(_patterns)]


class _Table(BaseModel):
    # Built inside of `Settings` only; the tables for themselves would take as long again.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class MemorySettings(_Table):
    """[memory]"""

    enabled: bool = Field(True, description="off: no injection, no extraction; nothing is deleted")


class CaptureSettings(_Table):
    """[capture]"""

    when_disabled: bool = Field(False, description="keep the conversation log while memory is off")
    exclude: tuple[str, ...] = Field(
        (), description="patterns (fnmatch) of session ids never captured"
    )
    mask_secrets: Literal["all", "keys", "off"] = Field(
        "all", description="what is masked before a message is stored"
    )
    max_message_characters: int = Field(
        4_000_000, ge=1_000, le=50_000_000, description="a longer message is refused with an error"
    )


class ExtractionSettings(_Table):
    """[extraction]"""

    model: str = Field(
        "", description="the model that extracts, provider:name; empty: `fallback` does"
    )
    base_url: str = Field(
        "", description="the model's endpoint, where it is not its provider's own"
    )
    api_key: str = Field("", description="its key, where it does not stand in the environment")
    deadline_seconds: float = Field(60, gt=0, le=3_600, description="of one call of a model")
    overlap: int = Field(
        5, ge=0, le=50, description="earlier messages that a model is shown as background"
    )
    fallback: Literal["rules", "none"] = Field(
        "rules", description="the extractor used without a model"
    )
    min_confidence: float = Field(0.6, ge=0, le=1, description="gate 2 refuses below it")
    batch_tokens: int = Field(3_000, ge=100, description="new tokens of one extraction batch")
    every_turns: int = Field(
        1, ge=1, le=1_000, description="turns between two extractions of a session, in the long run"
    )
    idle_seconds: float = Field(
        600, ge=0, le=86_400, description="what is left of a session is extracted after so long"
    )
    max_tries: int = Field(
        5, ge=1, le=100, description="failures in a row before a batch is set aside"
    )


class RecallSettings(_Table):
    """[recall]"""

    max_tokens: int = Field(4_000, ge=0, le=1_000_000, description="budget of the injected context")
    evidence: bool = Field(True, description="quote messages when fewer than 3 memories matched")
    limit: int = Field(8, ge=0, le=100, description="memories in the turn part, at most")


class ScenesSettings(_Table):
    """[scenes]"""

    enabled: bool = Field(
        True, description="off: scenes are neither made nor injected; the files stay"
    )
    delay_seconds: float = Field(
        10, ge=0, le=86_400, description="scenes follow an extraction after so long"
    )
    least_seconds: float = Field(
        900, ge=0, le=604_800, description="between two runs over the same scenes, at least"
    )
    most_seconds: float = Field(
        3_600, ge=0, le=604_800, description="scenes follow a change by hand after so long"
    )
    most: int = Field(15, ge=2, le=100, description="scenes of one group; fewer are aimed at")
    characters: int = Field(
        1_500, ge=300, le=20_000, description="of one scene's file, citations and head included"
    )
    steps: int = Field(20, ge=1, le=100, description="answers of a model in one run, at most")
    seconds: float = Field(300, gt=0, le=3_600, description="a run of a model may take so long")
    backups: int = Field(10, ge=1, le=100, description="older versions that are kept")


class PersonaSettings(_Table):
    """[persona]"""

    enabled: bool = Field(True, description="off: it is neither made nor injected; the file stays")
    every_memories: int = Field(
        50, ge=1, le=10_000, description="new or changed memories until it is made anew"
    )
    characters: int = Field(
        2_000, ge=300, le=20_000, description="of its file, citations and head included"
    )
    backups: int = Field(3, ge=1, le=100, description="older versions that are kept")


class EmbeddingSettings(_Table):
    """[embedding]"""

    model: str = Field(
        "",
        description="what makes vectors: empty, the bundled one; none, full text only; or "
        "provider:name, to which texts are sent",
    )
    base_url: str = Field("", description="its endpoint, where it is not its provider's own")
    api_key: str = Field("", description="its key, where it does not stand in the environment")
    dimensions: int = Field(
        0,
        ge=0,
        le=16_384,
        description="numbers in a vector, where a remote one lets choose; 0: its own",
    )
    deadline_seconds: float = Field(30, gt=0, le=3_600, description="of one call, filling vectors")
    query_seconds: float = Field(
        3, gt=0, le=60, description="of one call, searching; full text serves when it takes longer"
    )


class SearchSettings(_Table):
    """[search]"""

    profile: Literal["measured", "classic"] = Field(
        "measured",
        description="how hits are ranked: by what measures best, or classic: ranks of each lane fused",
    )
    time_decay_lambda: float = Field(0.01, ge=0, le=10, description="decay of memories per day")


class ConsolidationSettings(_Table):
    """[consolidation]"""

    enabled: bool = Field(
        True, description="off: it never runs by itself, `memstrata consolidate` does"
    )
    threshold: int = Field(30, ge=2, description="valid memories of one scope from which it runs")
    interval_days: float = Field(
        7,
        ge=0,
        le=3_650,
        description="days between two runs of one scope; a nearly full one waits one",
    )


class QuotaSettings(_Table):
    """[quota]"""

    user: int = Field(100, ge=0, description="valid memories of scope user, episodic ones apart")
    project: int = Field(200, ge=0, description="valid memories of one project")
    agent: int = Field(50, ge=0, description="valid memories of one agent")
    episodic: int = Field(1_000, ge=0, description="valid episodic memories of one scope")


class GatesSettings(_Table):
    """[gates]"""

    private: Literal["identifiers", "strict"] = Field(
        "identifiers", description="strict also refuses health, beliefs, e-mail and phone"
    )
    patterns: Patterns = Field((), description="more patterns (regex) of what is sensitive")
    transient: Patterns = Field((), description="more patterns (regex) of what is transient")


def _alias_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        parse_line(line)
    return lines


class EntitiesSettings(_Table):
    """[entities]"""

    aliases: Annotated[tuple[str, ...], AfterValidator(_alias_lines)] = Field(
        (), description='more names of one thing, as "alias = name" (`memstrata entities`)'
    )


class BudgetSettings(_Table):
    """[budget]"""

    daily_tokens: int = Field(
        0, ge=0, description="model calls pause for the day when it is reached; 0: no limit"
    )


class WorkerSettings(_Table):
    """[worker]"""

    idle_exit_seconds: float = Field(
        300, ge=0, description="`memstrata worker` ends after so long without work"
    )
    retry_seconds: float = Field(
        5, gt=0, le=60, description="how often the others try for the background work"
    )
    shutdown_seconds: float = Field(
        5, ge=0, le=600, description="how long a closing process may go on working off what waits"
    )
    allow_network_home: bool = Field(
        False, description="accept a home on a network file system, whose locks may fail"
    )


class ServerSettings(_Table):
    """[server]"""

    host: str = Field("127.0.0.1", description="where `memstrata serve` listens")
    port: int = Field(8765, ge=0, le=65_535, description="its port; 0: any that is free")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="names in a request's Host that are ours besides localhost"
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="origins (https://app.example) whose pages may call, besides our own"
    )
    max_body_bytes: int = Field(
        16_777_216, ge=1_024, le=1_073_741_824, description="a larger body of a request is refused"
    )
    deadline_seconds: float = Field(
        30, gt=0, le=3_600, description="after so long a request is answered with `unavailable`"
    )
    long_seconds: float = Field(
        3_600, gt=0, le=86_400, description="the same for work that is waited for (drain, reindex)"
    )
    requests_per_second: float = Field(
        50, ge=0, le=1_000_000, description="of one token or address, in the long run; 0: no limit"
    )
    burst: int = Field(
        200, ge=1, le=1_000_000, description="requests that one token or address may make at once"
    )
    shutdown_seconds: float = Field(
        10, ge=0, le=600, description="how long requests in flight may take when the server ends"
    )
    access_log: bool = Field(True, description="one line of JSON on stderr for each request")


class LogSettings(_Table):
    """[log]"""

    level: Literal["debug", "info", "warning", "error"] = Field("warning", description="of the CLI")
    reads_days: int = Field(
        90, ge=0, le=36_500, description="how long it is listed what agents read; 0: it is not"
    )


class TeamSettings(_Table):
    """[team]"""

    protocol: Literal["off", "team", "private"] = Field(
        "off",
        description="the document that agents keep over MCP: a workspace's, the user's or none",
    )


class OffloadSettings(_Table):
    """[offload]"""

    window: int = Field(
        200_000, ge=1_000, le=100_000_000, description="tokens of the model's window"
    )
    mild: float = Field(
        0.50, gt=0, lt=1, description="share of it from which results are replaced by summaries"
    )
    aggressive: float = Field(
        0.85, gt=0, lt=1, description="share from which the oldest messages are removed"
    )
    emergency: float = Field(
        0.95, gt=0, lt=1, description="share from which everything old may be removed"
    )
    cache: Literal["stable", "fresh"] = Field(
        "stable",
        description="stable keeps the beginning of the list as it is for the provider's cache, fresh "
        "shows the newest state of the task at each call",
    )
    mild_target: float = Field(0.45, gt=0, lt=1, description="share that mild stops below")
    aggressive_target: float = Field(
        0.70, gt=0, lt=1, description="share that aggressive stops below"
    )
    emergency_target: float = Field(
        0.60, gt=0, lt=1, description="share that emergency stops below"
    )
    keep_results: int = Field(
        4, ge=0, le=100, description="the last results, which are never removed"
    )
    history: float = Field(
        0.20, ge=0, lt=1, description="share for the graphs of what was removed, at most"
    )
    large: float = Field(
        0.25, gt=0, lt=1, description="a result of a larger share may be cut in place"
    )
    overhead: float = Field(
        0.12, ge=0, lt=1, description="share for system prompt and tools, until the host says"
    )
    model: str = Field(
        "",
        description="what summarises and maps, provider:name; empty: `extraction.model`; none: rules",
    )
    mask_secrets: Literal["all", "keys", "off"] = Field(
        "keys", description="what is masked before a tool result is archived"
    )
    retention_days: int = Field(
        30,
        ge=0,
        le=36_500,
        description="a session's archive goes so long after its last change; 0: never",
    )


class TokensSettings(_Table):
    """[tokens]"""

    tokenizer: str = Field("o200k_base", description="how tokens are counted: a bundled encoding")


def _zone_name(value: object) -> object:
    if isinstance(value, str) and value:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                f"{value!r} is no IANA time zone (Europe/Berlin, Asia/Shanghai)"
            ) from error
    return value


class Settings(BaseModel):
    """All settings. Frozen; `load` builds them from their layers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timezone: Annotated[str, BeforeValidator(_zone_name)] = Field(
        "", description="the owner's time zone (IANA); empty: the system's"
    )
    memory: MemorySettings = MemorySettings.model_construct()
    capture: CaptureSettings = CaptureSettings.model_construct()
    extraction: ExtractionSettings = ExtractionSettings.model_construct()
    recall: RecallSettings = RecallSettings.model_construct()
    scenes: ScenesSettings = ScenesSettings.model_construct()
    persona: PersonaSettings = PersonaSettings.model_construct()
    embedding: EmbeddingSettings = EmbeddingSettings.model_construct()
    search: SearchSettings = SearchSettings.model_construct()
    consolidation: ConsolidationSettings = ConsolidationSettings.model_construct()
    quota: QuotaSettings = QuotaSettings.model_construct()
    gates: GatesSettings = GatesSettings.model_construct()
    entities: EntitiesSettings = EntitiesSettings.model_construct()
    budget: BudgetSettings = BudgetSettings.model_construct()
    worker: WorkerSettings = WorkerSettings.model_construct()
    team: TeamSettings = TeamSettings.model_construct()
    server: ServerSettings = ServerSettings.model_construct()
    log: LogSettings = LogSettings.model_construct()
    offload: OffloadSettings = OffloadSettings.model_construct()
    tokens: TokensSettings = TokensSettings.model_construct()


NEEDS_RESTART: Final = (
    "timezone",
    "extraction.model",
    "extraction.base_url",
    "extraction.api_key",
    "embedding.",
    "tokens.",
    "worker.",
    "server.",
    "log.",
)
"""What an open home does not take up until it is opened again: keys, or how they begin."""

Origins = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as a person sees it; `choices` are all values there are, empty where any may stand."""

    key: str
    value: object
    default: object
    origin: str
    description: str
    choices: tuple[str, ...] = ()


class Loaded:
    """Settings with the origin of each value: `default`, a file, `environment NAME` or `argument`."""

    def __init__(
        self,
        settings: Settings,
        origins: Origins,
        home: Path = Path(),
        arguments: Mapping[str, object] | None = None,
    ) -> None:
        self.settings = settings
        self.origins = origins
        self._home = home
        self.arguments = arguments

    @property
    def path(self) -> Path:
        """The user's file."""
        return self._home / "config.toml"

    def again(self) -> Loaded:
        """The same layers, as they are now.

        Raises:
            Invalid: see `load`.
        """
        return load(self._home, self.arguments)

    def rows(self) -> Iterator[tuple[str, object, str]]:
        """(key, value, origin) of every setting, in order."""
        for key in KEYS:
            value: object = self.settings
            for part in key.split("."):
                value = getattr(value, part)
            yield key, value, self.origins.get(key, "default")


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _keys(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field.description or ""


def _choices(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The settings of which all values are known."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _choices(kind, f"{prefix}{name}.")
        elif get_origin(kind) is Literal:
            yield f"{prefix}{name}", get_args(kind)


DESCRIPTIONS: Final[Mapping[str, str]] = dict(_keys(Settings))
KEYS: Final = tuple(DESCRIPTIONS)
TABLES: Final = frozenset(key.partition(".")[0] for key in KEYS if "." in key)

_LOWER_ONLY: Final = frozenset(key for key in KEYS if key.startswith("quota.")) | {
    "recall.max_tokens"
}
_RARER_ONLY: Final = frozenset({"consolidation.threshold", "consolidation.interval_days"})
_OFF_ONLY: Final = frozenset({"consolidation.enabled"})
_MORE_ONLY: Final = frozenset(
    {"capture.exclude", "entities.aliases", "gates.patterns", "gates.transient"}
)

_OF_WORKSPACES: Final = _LOWER_ONLY | _MORE_ONLY | _RARER_ONLY | _OFF_ONLY

_DEFAULTS: Final = {key: value for key, value, _ in Loaded(Settings(), {}).rows()}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = dict(_choices(Settings))


def described(loaded: Loaded) -> tuple[Setting, ...]:
    """Every setting with its default and what it is for, in order."""
    return tuple(
        Setting(key, value, _DEFAULTS[key], origin, DESCRIPTIONS[key], _CHOICES.get(key, ()))
        for key, value, origin in loaded.rows()
    )


def load(home: Path, arguments: Mapping[str, object] | None = None) -> Loaded:
    """The settings of `home`: its config.toml, the environment, `arguments` (nested or dotted keys).

    Raises:
        Invalid: an unknown key (with the nearest name), a wrong value, a file that is no TOML.
    """
    layers = [
        _file_layer(home / "config.toml"),
        _environment_layer(),
        {key: (value, "argument") for key, value in _flatten(arguments or {}, "argument")},
    ]
    merged: dict[str, tuple[object, str]] = {}
    for layer in layers:
        merged |= layer
    found = _built(merged)
    return Loaded(found.settings, found.origins, home, arguments)


def for_workspace(base: Loaded, root: Path) -> Loaded:
    """`base` under a workspace's own config.toml, which may only tighten: a cloned repository is untrusted.

    It may lower quotas and the recall budget, make consolidation rarer or switch it off, and add
    excludes, aliases and gate patterns; environment and arguments still win.

    Raises:
        Invalid: any other key, or a value that loosens.
    """
    path = root / ".memstrata" / "config.toml"
    if path.is_symlink() or path.parent.is_symlink():
        raise Invalid(str(path), "is a link; a workspace's settings lie in the workspace")
    layer = _file_layer(path)
    now = {key: value for key, value, _ in base.rows()}
    merged = {key: (now[key], origin) for key, origin in base.origins.items()}
    for key, (value, origin) in layer.items():
        if key not in _OF_WORKSPACES:
            allowed = ", ".join(sorted(_OF_WORKSPACES))
            raise Invalid(key, f"may not be set by a workspace ({path}); it may set {allowed}")
        if base.origins.get(key, "").startswith(("environment", "argument")):
            continue
        merged[key] = (_tightened(key, value, now[key], path), origin)
    return _built(merged)


def _tightened(key: str, value: object, current: Any, path: Path) -> object:
    if key in _MORE_ONLY:
        if not isinstance(value, list):
            raise Invalid(key, f"expected a list in {path}")
        return (*current, *value)
    if key in _OFF_ONLY:
        if value is not False:
            raise Invalid(key, f"a workspace may only set it to false ({path})")
        return value
    if key in _RARER_ONLY:
        if not isinstance(value, int | float) or isinstance(value, bool) or value < current:
            raise Invalid(key, f"a workspace may only raise it above {current} ({path})")
        return value
    if not isinstance(value, int) or isinstance(value, bool) or value > current:
        raise Invalid(key, f"a workspace may only lower it below {current} ({path})")
    return value


def at_once(new: Settings, old: Settings) -> Settings:
    """`new`, but what an open home does not take up stays as it was in `old`."""
    tables: dict[str, dict[str, object]] = {}
    for key in KEYS:
        table, _, name = key.rpartition(".")
        source = old if key.startswith(NEEDS_RESTART) else new
        tables.setdefault(table, {})[name] = (
            getattr(getattr(source, table), name) if table else getattr(source, name)
        )
    own = tables.pop("", {})
    made = {name: getattr(new, name).model_copy(update=values) for name, values in tables.items()}
    return new.model_copy(update={**own, **made})


def changed(text: str, path: Path, key: str, value: object | None) -> str:
    """The text of a config.toml with one setting changed (None: taken out), everything else kept.

    Raises:
        Invalid: an unknown key (with the nearest name), a value that cannot be, a text that is no TOML.
    """
    if key not in KEYS:
        raise Invalid(key, f"is no setting{_nearest(key, KEYS)}")
    layer = _text_layer(text, path)
    if value is None:
        layer.pop(key, None)
    else:
        layer[key] = (value, str(path))
    _built(layer)
    return _rewritten(text, key, value)


def _rewritten(text: str, key: str, value: object | None) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    written = _spellings(document, key)
    for other in written if value is None else written[1:]:
        *tables, name = other.split(".")
        del _within(document, tables)[name]
    if value is None:
        return tomlkit.dumps(document)
    *tables, name = (written[0] if written else key).split(".")
    if written or tables:
        _within(document, tables)[name] = value
        return tomlkit.dumps(document)
    first = tomlkit.document()  # behind a table it would belong to that
    first.add(name, tomlkit.item(value))
    return tomlkit.dumps(first) + tomlkit.dumps(document)


def _within(document: MutableMapping[str, Any], tables: Sequence[str]) -> MutableMapping[str, Any]:
    """The table of that path, made where there is none."""
    found = document
    for name in tables:
        found = found.setdefault(name, {})
    return found


def _spellings(document: Mapping[str, object], key: str) -> list[str]:
    """How a setting is written in a file, under any of its names."""
    return [written for written, _ in _leaves(document, "") if _name(written) == key]


def _file_layer(path: Path) -> dict[str, tuple[object, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(str(path), f"cannot be read: {error}") from error
    return _text_layer(text, path)


def _text_layer(text: str, path: Path) -> dict[str, tuple[object, str]]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(str(path), f"is no TOML: {error}") from error
    return {key: (value, str(path)) for key, value in _flatten(found, str(path))}


def _environment_layer() -> dict[str, tuple[object, str]]:
    names = {f"{ENV_PREFIX}{key.replace('.', '__')}".upper(): key for key in KEYS}
    for name in os.environ:
        if name.upper().startswith(ENV_PREFIX) and name.upper() not in names | dict.fromkeys(
            ENV_OTHERS
        ):
            raise Invalid(name, f"is no setting{_nearest(name.upper(), (*names, *ENV_OTHERS))}")
    if not any(name.upper() in names for name in os.environ):
        return {}
    # It loads asyncio, ssl, argparse and more: a third of a start-up, and few set a variable.
    from pydantic_settings import BaseSettings, EnvSettingsSource

    try:
        source = cast("type[BaseSettings]", Settings)
        found = EnvSettingsSource(source, env_prefix=ENV_PREFIX, env_nested_delimiter="__")()
    except ValueError as error:
        why = error.__cause__ or error
        raise Invalid("environment", f'{error}: {why} (lists are JSON: ["a", "b"])') from error
    flat = dict(_flatten(found, "environment"))
    by_key = {key: name for name, key in names.items()}
    return {key: (value, f"environment {by_key[key]}") for key, value in flat.items()}


def _flatten(table: Mapping[str, object], where: str) -> Iterator[tuple[str, object]]:
    for key, value in _leaves(table, ""):
        name = _name(key)
        if name in TABLES and value == {}:
            continue
        if name not in KEYS:
            raise Invalid(key, f"is no setting ({where}){_nearest(key, KEYS)}")
        yield name, value


def _name(key: str) -> str:
    """The setting that a key names, whatever its spelling."""
    name = _CAMEL.sub(lambda found: f"_{found[0]}", key).lower()
    name = ALIASES.get(name, name)
    head, _, rest = name.rpartition(".")
    return f"{ALIASES[head]}.{rest}" if head in ALIASES else name


def _leaves(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value


def _nearest(key: str, names: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, names, 1, 0.5)
    return f"; did you mean {close[0]}?" if close else ""


def _built(merged: Mapping[str, tuple[object, str]]) -> Loaded:
    nested: dict[str, Any] = {}
    for key, (value, _) in merged.items():
        *tables, name = key.split(".")
        if isinstance(value, bool) and not isinstance(_DEFAULTS[key], bool):
            raise Invalid(key, f"expected no true or false ({merged[key][1]})")
        table = nested
        for part in tables:
            table = table.setdefault(part, {})
        table[name] = value
    try:
        settings = Settings(**nested)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        origin = next((o for k, (_, o) in merged.items() if key.startswith(k)), "settings")
        raise Invalid(key, f"{first['msg']} ({origin})") from error
    return Loaded(settings, {key: origin for key, (_, origin) in merged.items()})
