"""The embedder that the settings name."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Final

from memstrata.adapters.embed_http import HttpEmbedder
from memstrata.adapters.embed_local import LocalEmbedder
from memstrata.adapters.endpoints import with_version
from memstrata.errors import Invalid
from memstrata.ports import Embedder

PROVIDERS: Final = ("openai", "openai-compatible", "ollama")
_FIELD: Final = "embedding.model"
_OPENAI: Final = "https://api.openai.com/v1"
_OLLAMA: Final = "http://localhost:11434"


def open_embedder(
    model: str,
    *,
    base_url: str = "",
    api_key: str = "",
    dimensions: int = 0,
    deadline: float = 30.0,
) -> Embedder | None:
    """The embedder of that name: `""` the bundled one, `none` none at all, else `provider:model`.

    `base_url` and `api_key` go before the standard environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`,
    `OLLAMA_BASE_URL`). Nothing is loaded, and nobody asked, before the first text.

    Raises:
        Invalid: no such name, or a key or URL that it needs is missing or none.
    """
    name = model.strip()
    if name in ("", "none"):
        return None if name else LocalEmbedder()
    provider, model = _parts(name)
    url, key = _endpoint(provider, model, base_url.strip(), api_key.strip())
    name = f"{provider}:{model}"
    return HttpEmbedder(name, base_url=url, api_key=key, dimensions=dimensions, deadline=deadline)


def _parts(name: str) -> tuple[str, str]:
    provider, model = (part.strip() for part in (name.partition(":")[0], name.partition(":")[2]))
    if provider in PROVIDERS and model:
        return provider, model
    if provider in PROVIDERS:
        raise Invalid(_FIELD, f"{name[:80]!r} names no model; write {provider}:name")
    near = get_close_matches(provider.lower(), ("none", *PROVIDERS), n=2) or PROVIDERS
    ways = " or ".join(one if one == "none" else f"{one}:name" for one in near)
    raise Invalid(
        _FIELD, f"{name[:80]!r} is no embedder; write {ways}, or leave it empty for the bundled one"
    )


def _endpoint(provider: str, model: str, url: str, key: str) -> tuple[str, str]:
    """Where to send to, and with which key."""
    match provider:
        case "openai":
            elsewhere = url or os.environ.get("OPENAI_BASE_URL", "").strip()
            key = key or os.environ.get("OPENAI_API_KEY", "").strip()
            if not key and not elsewhere:
                raise Invalid("OPENAI_API_KEY", "is not set, and embedding.api_key is empty")
            return elsewhere or _OPENAI, key
        case "ollama":
            return with_version(url or os.environ.get("OLLAMA_BASE_URL", "") or _OLLAMA), key
        case _:
            if not url:
                raise Invalid("embedding.base_url", f"is needed for {provider}:{model[:80]}")
            return url, key
