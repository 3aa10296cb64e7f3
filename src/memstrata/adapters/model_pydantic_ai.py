"""Language models over pydantic-ai: one thread with one event loop, for the adapter's whole life.

Nothing of pydantic-ai is imported before the first question. The only network traffic is the
request itself, to the given endpoint or the provider's own: no retries, no telemetry. Error texts
carry the provider's code, never its words, which may repeat the question or a part of the key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from memstrata.adapters.endpoints import with_version
from memstrata.errors import Invalid, ModelFailed
from memstrata.ports import Answer, Question, Rung

if TYPE_CHECKING:
    import httpx2
    from anyio.from_thread import BlockingPortal
    from pydantic_ai.exceptions import ModelAPIError
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as ProviderModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Provider = Literal["openai", "anthropic", "ollama", "openai-compatible"]
PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)

_FIELD: Final = "extraction.model"
_OLLAMA: Final = "http://localhost:11434/v1"
_CODE: Final = re.compile(r"[\w.-]{1,64}")
_FINISHES: Final = frozenset(("stop", "length"))
_MISREAD: Final = (AttributeError, KeyError, IndexError, TypeError, ValueError)
"""What the clients raise, unwrapped, over a body of another shape than they expect."""
_NOT_AS_SAID: Final = "its answer is not what its interface promises"
_UNTAGGED: Final = ("\0", "\0")
"""pydantic-ai takes the tag off a thought that was cut and leaves its text: whoever reads it could not tell."""
_LATER: Final = 60.0
"""How long after the deadline, seconds, the client gives up by itself: the deadline is ours alone."""
_GRACE: Final = 1.0
"""How long `close` waits for the thread, seconds."""


def parse_name(model: str) -> tuple[Provider, str]:
    """`provider:name` in its two parts (`ollama:qwen3:8b` is ollama's `qwen3:8b`).

    Raises:
        Invalid: no provider we know, or no name.
    """
    provider, _, name = model.strip().partition(":")
    for known in PROVIDERS:
        if provider == known and name.strip():
            return known, name.strip()
    known_ones = ", ".join(f"{known}:…" for known in PROVIDERS)
    raise Invalid(_FIELD, f"{model[:80]!r} is no model; write provider:name ({known_ones})")


def check_name(model: str) -> None:
    """Whether a host's model can be asked with what the environment holds.

    Raises:
        Invalid: no such name, or its provider's key is not set.
    """
    provider, _ = parse_name(model)
    if provider == "anthropic" and not os.environ.get("ANTHROPIC_BASE_URL", "").strip():
        _needed("ANTHROPIC_API_KEY")
    if provider == "openai" and not os.environ.get("OPENAI_BASE_URL", "").strip():
        _needed("OPENAI_API_KEY")
    if provider == "openai-compatible":
        raise Invalid("extraction.base_url", f"is needed for {model[:80]}; set extraction.model")


class PydanticAiModel:
    """`Model` for `openai:`, `anthropic:`, `ollama:` and `openai-compatible:`.

    `base_url` and `api_key` go before the standard environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`,
    `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, `OLLAMA_BASE_URL`). With `provider` they serve that one
    alone, so that no key reaches another. Safe for threads; after a fork the child starts anew.
    """

    def __init__(self, *, base_url: str = "", api_key: str = "", provider: str = "") -> None:
        self._endpoint = _Endpoint(base_url.strip(), api_key.strip(), provider)
        self._pid = os.getpid()
        self._lock = Lock()
        self._loop: _Loop | None = None
        self._closed = False

    def ask(self, question: Question) -> Answer:
        """Put one question; see `ports.Model`.

        Raises:
            ModelFailed: no answer.
            Invalid: the model's name, a missing key or URL, or the extra is not installed.
        """
        provider, name = parse_name(question.model)
        loop = self._running()
        model = loop.model(question.model, lambda: self._endpoint.model(provider, name, loop))
        parameters, settings = _request(question, provider, model)
        messages = _messages(question)
        started = monotonic()
        try:
            future = loop.portal.start_task_soon(_response, model, messages, settings, parameters)
        except RuntimeError as error:  # closed by another thread since it was found running
            raise _closed() from error
        response = _awaited(future, question)
        return _answer(response, question, monotonic() - started)

    def close(self) -> None:
        """End the thread; questions that wait fail as `closed`. It may not be asked again."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop()

    def _running(self) -> _Loop:
        if self._pid != os.getpid():
            # After a fork the thread is gone, and the lock may be held by one that is gone too.
            self._pid, self._lock, self._loop = os.getpid(), Lock(), None
        with self._lock:
            if self._closed:
                raise _closed()
            if self._loop is None:
                self._loop = _Loop()
            return self._loop


class _Loop:
    """A daemon thread with an event loop, the HTTP client that lives in it, and the models over that."""

    def __init__(self) -> None:
        _installed()
        self._lock = Lock()
        self._models: dict[str, ProviderModel] = {}
        self._client: httpx2.AsyncClient | None = None
        ready: Future[BlockingPortal] = Future()
        self._thread = Thread(target=self._run, args=(ready,), name="memstrata-model", daemon=True)
        self._thread.start()
        self.portal = ready.result()

    @property
    def client(self) -> httpx2.AsyncClient:
        """The one HTTP client; its own time limits are above any deadline."""
        if self._client is None:
            from pydantic_ai.models import create_async_httpx2_client

            self._client = create_async_httpx2_client()
        return self._client

    def model(self, name: str, make: Callable[[], ProviderModel]) -> ProviderModel:
        """The model of that name, made once."""
        with self._lock:
            if name not in self._models:
                self._models[name] = make()
            return self._models[name]

    def stop(self) -> None:
        """Cancel what runs, close the connections, end the thread."""
        self.portal.start_task_soon(self.portal.stop, True)
        self._thread.join(_GRACE)

    def _run(self, ready: Future[BlockingPortal]) -> None:
        import anyio

        try:
            anyio.run(self._serve, ready)
        finally:
            ready.cancel()  # of no effect once it is ready: nobody waits for a loop that never came

    async def _serve(self, ready: Future[BlockingPortal]) -> None:
        from anyio.from_thread import BlockingPortal

        async with BlockingPortal() as portal:
            ready.set_result(portal)
            await portal.sleep_until_stopped()
        if self._client is not None:
            await self._client.aclose()


def _installed() -> None:
    try:
        import anthropic  # noqa: F401
        import openai  # noqa: F401
        import pydantic_ai  # noqa: F401
    except ImportError as error:
        raise Invalid(_FIELD, "needs pip install 'memstrata[models]'") from error


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """Where to send to and with which key, as the settings say it."""

    base_url: str
    api_key: str
    provider: str

    def model(self, provider: Provider, name: str, loop: _Loop) -> ProviderModel:
        """The model `name` of `provider` at this endpoint, else at the one the environment names."""
        mine = self.provider in ("", provider)
        url, key = (self.base_url, self.api_key) if mine else ("", "")
        if url and not url.startswith(("http://", "https://")):
            raise Invalid("extraction.base_url", "expected http://… or https://…")
        match provider:
            case "anthropic":
                return _anthropic(name, url, key, loop.client)
            case "openai":
                return _openai(name, url, key, loop.client)
            case "ollama":
                url = url or os.environ.get("OLLAMA_BASE_URL", "") or _OLLAMA
                return _compatible("ollama", name, with_version(url), key, loop.client)
            case "openai-compatible":
                if not url:
                    raise Invalid("extraction.base_url", f"is needed for openai-compatible:{name}")
                return _compatible("openai-compatible", name, url, key, loop.client)


def _anthropic(name: str, url: str, key: str, client: httpx2.AsyncClient) -> ProviderModel:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = key or _needed("ANTHROPIC_API_KEY")
    provider = AnthropicProvider(api_key=key, base_url=url or None, http_client=client)
    return AnthropicModel(name, provider=provider)


def _openai(name: str, url: str, key: str, client: httpx2.AsyncClient) -> ProviderModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    elsewhere = url or os.environ.get("OPENAI_BASE_URL", "")
    key = key or (os.environ.get("OPENAI_API_KEY", "") if elsewhere else _needed("OPENAI_API_KEY"))
    # A server of one's own often wants no key, but the client wants some text.
    provider = OpenAIProvider(base_url=elsewhere or None, api_key=key or "none", http_client=client)
    profile = OpenAIModelProfile(thinking_tags=_UNTAGGED)
    return OpenAIChatModel(name, provider=provider, profile=profile)


def _compatible(
    system: str, name: str, url: str, key: str, client: httpx2.AsyncClient
) -> ProviderModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # What such servers commonly know: `max_tokens`, both JSON forms, no `strict`.
    profile = OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens=False,
        openai_supports_strict_tool_definition=False,
        supports_json_schema_output=True,
        supports_json_object_output=True,
        thinking_tags=_UNTAGGED,
    )
    provider = OpenAICompatibleProvider(
        system, base_url=url, api_key=key or None, http_client=client, profile=profile
    )
    return OpenAIChatModel(name, provider=provider)


def _needed(variable: str) -> str:
    found = os.environ.get(variable, "").strip()
    if not found:
        raise Invalid(variable, "is not set, and the settings hold no key")
    return found


def _messages(question: Question) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

    system = [SystemPromptPart(question.system)] if question.system else []
    return [ModelRequest(parts=[*system, UserPromptPart(question.user)])]


def _request(
    question: Question, provider: Provider, model: ProviderModel
) -> tuple[ModelRequestParameters, ModelSettings]:
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(
        max_tokens=question.most_tokens, timeout=question.deadline + _LATER, max_retries=0
    )
    if provider in ("ollama", "openai-compatible"):
        if not _can(model, "openai_supports_reasoning"):  # those refuse it
            settings["temperature"] = 0.0
    elif provider == "openai":
        settings["thinking"] = "low"  # counts against max_tokens; left out where a model cannot
    return _parameters(question, model), settings


def _parameters(question: Question, model: ProviderModel) -> ModelRequestParameters:
    """How the rung is asked for; the prompt itself describes the form on every one of them."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    match question.rung:
        case "schema":
            _supported(model, "supports_json_schema_output", question)
            schema = OutputObjectDefinition(dict(question.schema), name="answer")
            return ModelRequestParameters(output_mode="native", output_object=schema)
        case "json":
            _supported(model, "supports_json_object_output", question)
            return ModelRequestParameters(output_mode="prompted", prompted_output_template=False)
        case "plain":
            return ModelRequestParameters(output_mode="text")


def _supported(model: ProviderModel, feature: str, question: Question) -> None:
    if not _can(model, feature):
        raise _no_rung(question.model, question.rung)


def _can(model: ProviderModel, feature: str) -> bool:
    """What pydantic-ai knows of a model by its name."""
    return bool(cast("Mapping[str, object]", model.profile).get(feature, False))


async def _response(
    model: ProviderModel,
    messages: list[ModelMessage],
    settings: ModelSettings,
    parameters: ModelRequestParameters,
) -> ModelResponse:
    from pydantic_ai.direct import model_request

    return await model_request(
        model,
        messages,
        model_settings=settings,
        model_request_parameters=parameters,
        instrument=False,
    )


def _awaited(future: Future[ModelResponse], question: Question) -> ModelResponse:
    from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError

    try:
        return future.result(question.deadline)
    except TimeoutError as error:
        raise _timed_out(question) from error
    except CancelledError as error:
        raise _closed() from error
    except ModelAPIError as error:
        raise _failure(error, question) from error
    except (UnexpectedModelBehavior, *_MISREAD) as error:
        raise ModelFailed(f"{question.model}: {_NOT_AS_SAID}", reason="server") from error
    except UserError as error:
        # Raised before anything was sent: pydantic-ai knows that this model cannot do it.
        raise _rejected(question, "refused by the client") from error
    finally:
        future.cancel()  # of no effect once it is done


def _closed() -> ModelFailed:
    return ModelFailed("the model was closed", reason="closed")


def _timed_out(question: Question) -> ModelFailed:
    return ModelFailed(
        f"{question.model}: no answer within {question.deadline:g} s", reason="timeout"
    )


def _no_rung(model: str, rung: Rung) -> ModelFailed:
    return ModelFailed(
        f"{model} does not answer in the form {rung!r}", reason="form", unsupported_rung=True
    )


def _rejected(question: Question, what: str) -> ModelFailed:
    """A request that was refused as such: perhaps for its form, while there is a simpler one."""
    if question.rung != "plain":
        return _no_rung(question.model, question.rung)
    return ModelFailed(f"{question.model}: {what}", reason="rejected", permanent=True)


def _failure(error: ModelAPIError, question: Question) -> ModelFailed:
    """pydantic-ai's categories as ours: what is worth a retry, and after how long."""
    from pydantic_ai import exceptions as theirs

    what = _told(error)
    if isinstance(error, theirs.ModelTimeoutError | theirs.ModelRequestTimeout):
        return _timed_out(question)
    if isinstance(error, theirs.ModelConnectionError):
        sent = error.phase in ("read", "write")
        reason, text = ("cut", "was cut off") if sent else ("refused", "cannot be reached")
        return ModelFailed(f"{question.model}: {text}", reason=reason)
    if isinstance(error, theirs.ModelContextWindowExceededError) or _status(error) == 413:
        return ModelFailed(f"{question.model}: {what}", reason="too_long", permanent=True)
    for kind, reason in (
        (theirs.ModelAuthenticationError, "key"),
        (theirs.ModelNotFoundError, "model"),
        (theirs.ModelQuotaExceededError, "quota"),
    ):
        if isinstance(error, kind):
            return ModelFailed(f"{question.model}: {what}", reason=reason, permanent=True)
    if isinstance(error, theirs.ModelRequestRejectedError) or _status(error) == 501:
        return _rejected(question, what)
    limited = isinstance(error, theirs.ModelRateLimitError)
    return ModelFailed(
        f"{question.model}: {what}",
        reason="rate_limited" if limited else "server",
        retry_after=error.retry_after,
        permanent=400 <= _status(error) < 500 and _status(error) not in (408, 409, 425, 429),
    )


def _status(error: ModelAPIError) -> int:
    return int(getattr(error, "status_code", 0))


def _told(error: ModelAPIError) -> str:
    """`HTTP 429 (rate_limit_exceeded)`: the status and the provider's code, nothing that it says."""
    status = _status(error)
    code = error.provider_error_code or error.provider_error_type or ""
    parts = [
        f"HTTP {status}" if status else _NOT_AS_SAID,
        f"({code})" if _CODE.fullmatch(code) else "",
    ]
    return " ".join(filter(None, parts))


def _answer(response: ModelResponse, question: Question, seconds: float) -> Answer:
    """The text without the thinking parts."""
    from pydantic_ai.messages import TextPart

    finish = response.finish_reason or "stop"
    return Answer(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        model=response.model_name or question.model,
        tokens_in=response.usage.input_tokens,
        tokens_out=response.usage.output_tokens,
        seconds=seconds,
        finish=finish if finish in _FINISHES else "other",
    )
