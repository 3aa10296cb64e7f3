"""Where providers are reached."""

from __future__ import annotations


def with_version(url: str) -> str:
    """Ollama is named by its host alone; what speaks OpenAI's language lies under /v1."""
    host = url.strip().rstrip("/")
    return host if "/" in host.partition("://")[2] else f"{host}/v1"
