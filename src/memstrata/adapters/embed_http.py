"""Embeddings over HTTP, in OpenAI's form, which Ollama, vLLM, llama.cpp and most services speak too.

urllib3 is in the base install already (detect-secrets brings it), keeps connections open and serves
threads; the client of the extra `models` would be one more package for everybody. Nothing is sent but
the request itself, to the given endpoint: no retries, no redirects, no telemetry. Error texts carry
the provider's code, never its words, which may repeat a text or a part of the key.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from memstrata.domain.passages import head
from memstrata.errors import Invalid, MemstrataError, ModelFailed
from memstrata.ports import Side, Vector

if TYPE_CHECKING:
    import numpy as np
    import urllib3
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.float64]

BATCH: Final = 64
"""Texts of one request."""
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of an answer; 64 vectors of 4,096 numbers with 20 characters each take a tenth of it."""

_PIECE: Final = 65_536
_CODE: Final = re.compile(r"[\w.-]{1,64}")
_LATER: Final = frozenset((408, 409, 425, 429))
"""Of 4xx, those that are worth another try."""
_RETRIEVE: Final = "Represent this sentence for searching relevant passages: "

FORMS: Final[tuple[tuple[str, str, str], ...]] = (
    (r"embedding-?gemma", "task: search result | query: ", "title: none | text: "),
    (r"nomic-embed", "search_query: ", "search_document: "),
    (r"\be5-(?:small|base|large)(?!.*instruct)", "query: ", "passage: "),
    (r"arctic-embed(?:2|-[ml]-v2)", "query: ", ""),
    (r"arctic-embed|mxbai-embed-large", _RETRIEVE, ""),
    (
        r"qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
)
"""By a model's name: what its card wants before a query and before a passage."""


class HttpEmbedder:
    """`Embedder` of an endpoint. Safe for threads; after a fork the child connects anew.

    `name` is `provider:model`, `base_url` what `/embeddings` is put behind, `dimensions` asks for
    shorter vectors (0: as they are), `deadline` is for a whole call, in seconds. Of a text its `head`
    is sent.

    Raises:
        Invalid: the URL or the key is none.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str = "",
        dimensions: int = 0,
        deadline: float = 30.0,
    ) -> None:
        self._name = name
        self._model = name.partition(":")[2]
        self._line = _Line(_endpoint(base_url), _checked_key(api_key))
        self._asked = dimensions
        self._dimension = dimensions
        self._deadline = deadline
        self._forms = _forms(self._model)

    @property
    def key(self) -> str:
        """Model, endpoint, forms and the dimension that is asked for. Asks nobody."""
        length = f", {self._asked} numbers" if self._asked else ""
        return f"{self._name} at {self._line.place}{_forms_key(self._forms)}{length}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; asks the endpoint when nothing has told it yet.

        Raises:
            Unavailable: no answer.
            Invalid: a setting is wrong.
        """
        if not self._dimension:
            self.embed(["dimension"], "query")
        return self._dimension

    @property
    def remote(self) -> bool:
        """Whether the endpoint is on another machine."""
        return not _loopback(self._line.host)

    def embed(self, texts: Sequence[str], side: Side) -> list[Vector]:
        """One vector a text; see `ports.Embedder`.

        Raises:
            ModelFailed: no answer (time-out, refused connection, 429, 5xx, cut body), with the
                provider's Retry-After where it gave one; or one that holds no such vectors.
            Invalid: a setting is wrong: key, model, URL.
        """
        until = monotonic() + self._deadline
        found: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            found += self._batch(texts[start : start + BATCH], side, until)
        return found

    def floor(self, query: Vector, cjk: bool) -> float:
        """-1: what a remote model's cosines say of neutral texts is not known."""
        return -1.0

    def close(self) -> None:
        """Close the connections; it may be used again."""
        self._line.close()

    def _batch(self, texts: Sequence[str], side: Side, until: float) -> list[Vector]:
        before = self._forms[side]
        # Services refuse an empty text.
        given = [before + head(text) or " " for text in texts]
        body: dict[str, object] = {"model": self._model, "input": given}
        if self._asked:
            body["dimensions"] = self._asked
        try:
            reply = self._line.post(json.dumps(body).encode(), until)
            if reply.status != 200:
                _refused(reply, asked=self._asked)
            rows = _rows(reply.body, len(texts), self._dimension)
        except _NoAnswer as error:
            raise ModelFailed(
                f"{self._name}: {error}", reason=error.reason, retry_after=error.retry_after
            ) from error
        self._dimension = rows.shape[1]
        return [row.tobytes() for row in rows.astype("<f4")]


class _NoAnswer(Exception):
    """No vectors came; `reason` as `ModelFailed` has it."""

    def __init__(self, what: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(what)
        self.reason = reason
        self.retry_after = retry_after


# -- names and settings ----------------------------------------------------------------------------


def _forms(model: str) -> Mapping[Side, str]:
    for pattern, query, passage in FORMS:
        if re.search(pattern, model.lower()):
            return {"query": query, "passage": passage}
    return {"query": "", "passage": ""}


def _forms_key(forms: Mapping[Side, str]) -> str:
    both = "\n\n".join(forms.values())
    return (
        f", forms {hashlib.blake2b(both.encode(), digest_size=2).hexdigest()}"
        if both.strip()
        else ""
    )


def _endpoint(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url.strip())
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as error:  # brackets or a port that are none
        raise Invalid("embedding.base_url", f"is none ({error})") from error
    if not known:
        raise Invalid("embedding.base_url", "expected http://… or https://…")
    if "@" in parts.netloc:
        raise Invalid("embedding.base_url", "holds a password; a key goes into embedding.api_key")
    path = parts.path.rstrip("/").removesuffix("/embeddings")
    return parts._replace(path=f"{path}/embeddings", fragment="")


def _checked_key(key: str) -> str:
    found = key.strip()
    if not found.isascii() or not found.isprintable():
        raise Invalid("embedding.api_key", "has characters that no key has")
    return found


def _loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# -- the line --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Line:
    """The connections to one endpoint."""

    def __init__(self, endpoint: SplitResult, key: str) -> None:
        self.host = endpoint.hostname or ""
        self.place = urlunsplit(endpoint._replace(query="")).removesuffix("/embeddings")
        self._url = urlunsplit(endpoint)
        self._scheme = endpoint.scheme
        self._headers = {"Content-Type": "application/json", "User-Agent": "memstrata"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._pid, self._lock = os.getpid(), Lock()
        self._pool: urllib3.PoolManager | None = None

    def post(self, body: bytes, until: float) -> _Reply:
        """The answer to `body`, whole, before the monotonic clock says `until`.

        Raises:
            _NoAnswer: none came.
            Invalid: the URL is none after all.
        """
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        left = until - monotonic()
        if left <= 0:
            raise _too_late()
        try:
            with self._connections().request(
                "POST",
                self._url,
                body=body,
                headers=self._headers,
                timeout=Timeout(total=left),
                retries=False,
                preload_content=False,
            ) as response:
                return _Reply(response.status, response.headers, _whole(response, until))
        except HTTPError as error:
            raise _translated(error) from error

    def close(self) -> None:
        if self._pid == os.getpid() and self._pool is not None:
            self._pool.clear()

    def _connections(self) -> urllib3.PoolManager:
        if self._pid != os.getpid():
            # After a fork: the connections are the parent's, the lock may be held by a thread that is gone.
            self._pid, self._lock, self._pool = os.getpid(), Lock(), None
        with self._lock:
            if self._pool is None:
                self._pool = _pool(self._scheme, self.host)
            return self._pool


def _pool(scheme: str, host: str) -> urllib3.PoolManager:
    """Connections through the proxy that the environment names, if it does, never on loopback."""
    from urllib.request import getproxies, proxy_bypass

    import urllib3

    options: dict[str, Any] = {"maxsize": 8}
    if scheme == "https":
        options["ssl_context"] = _certificates()
    proxy = getproxies().get(scheme, "")
    if not proxy or _loopback(host) or proxy_bypass(host):
        return urllib3.PoolManager(**options)
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    who = unquote(urlsplit(proxy).netloc.rpartition("@")[0])
    headers = urllib3.make_headers(proxy_basic_auth=who) if who else None
    return urllib3.ProxyManager(proxy, proxy_headers=headers, **options)


def _certificates() -> Any:
    """The system's certificates (or those that SSL_CERT_FILE names); certifi's where there are none."""
    import ssl

    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _whole(response: urllib3.BaseHTTPResponse, until: float) -> bytes:
    pieces = bytearray()
    for piece in response.stream(_PIECE):
        pieces += piece
        if monotonic() > until:
            raise _too_late()
        if len(pieces) > LARGEST:
            raise _NoAnswer(f"its answer is larger than {LARGEST >> 20} MiB", "server")
    return bytes(pieces)


def _too_late() -> _NoAnswer:
    return _NoAnswer("no answer within the deadline", "timeout")


def _translated(error: Exception) -> MemstrataError | _NoAnswer:
    """urllib3's exceptions as ours."""
    from urllib3 import exceptions as theirs

    match error:
        case theirs.LocationValueError():
            return Invalid("embedding.base_url", f"cannot be used ({type(error).__name__})")
        case theirs.NewConnectionError():
            return _NoAnswer("cannot be reached", "refused")
        case theirs.TimeoutError():
            return _too_late()
        case theirs.SSLError():
            return _NoAnswer("its certificate is not trusted here, or it speaks no TLS", "refused")
        case theirs.ProxyError():
            return _NoAnswer("cannot be reached through the proxy", "refused")
        case _:
            return _NoAnswer(f"was cut off ({type(error).__name__})", "cut")


# -- what was answered -----------------------------------------------------------------------------


def _refused(reply: _Reply, *, asked: int) -> NoReturn:
    """Raise what a status other than 200 means."""
    status = reply.status
    told = " ".join(filter(None, (f"HTTP {status}", _code(reply.body))))
    if 300 <= status < 400:
        raise Invalid("embedding.base_url", f"{told}: it moved; name the new address")
    if status in (401, 403):
        raise Invalid("embedding.api_key", f"{told}: the endpoint wants another key")
    if status == 404:
        raise Invalid("embedding.model", f"{told}: no such model, or embedding.base_url lacks /v1")
    if 400 <= status < 500 and status not in _LATER:
        hint = "; perhaps its vectors cannot be shortened (embedding.dimensions)" if asked else ""
        raise Invalid("embedding.model", f"{told}: it refuses to embed{hint}")
    reason = "rate_limited" if status == 429 else "server"
    raise _NoAnswer(told, reason, _retry_after(reply.headers))


def _code(body: bytes) -> str:
    """`(rate_limit_exceeded)`: the provider's code, if it is one."""
    try:
        error = json.loads(body)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    return f"({code})" if isinstance(code, str) and _CODE.fullmatch(code) else ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; a date counts from the provider's own clock."""
    said = headers.get("Retry-After", "").strip()
    if said.isdecimal():
        return float(said)
    try:
        until, now = (parsedate_to_datetime(one) for one in (said, headers.get("Date", "")))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _rows(body: bytes, count: int, dimension: int) -> Rows:
    """The vectors of an answer in the order of the texts, of unit length.

    Raises:
        _NoAnswer: it holds something else; what.
    """
    import numpy as np

    rows = np.array(_ordered(_items(body, count)))
    if dimension and rows.shape[1] != dimension:
        raise _wrong(f"vectors of {rows.shape[1]} numbers where {dimension} were expected")
    if not np.isfinite(rows).all():
        raise _wrong("a vector with a number that is none")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not ((lengths > 0) & np.isfinite(lengths)).all():
        raise _wrong("a vector without a direction")
    unit: Rows = rows / lengths
    return unit


def _items(body: bytes, count: int) -> list[Mapping[str, Any]]:
    try:
        items = list(json.loads(body)["data"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _wrong("no list of vectors") from error
    if len(items) != count:
        raise _wrong(f"{len(items)} vectors for {count} texts")
    return items


def _ordered(items: Sequence[Mapping[str, Any]]) -> list[Rows]:
    try:
        by_index = {int(item.get("index", at)): item["embedding"] for at, item in enumerate(items)}
        rows = [_numbers(by_index[at]) for at in range(len(items))]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _wrong("vectors that are not numbered, or no numbers in them") from error
    if len({row.shape for row in rows}) != 1 or rows[0].ndim != 1 or not rows[0].size:
        raise _wrong("vectors of several lengths")
    return rows


def _numbers(said: object) -> Rows:
    """A list of numbers, or float32 in base64, which some send unasked."""
    import numpy as np

    if isinstance(said, str):
        import base64

        return np.frombuffer(base64.b64decode(said, validate=True), "<f4").astype(np.float64)
    return np.array(said, dtype=np.float64)


def _wrong(what: str) -> _NoAnswer:
    return _NoAnswer(f"it answered with {what}", "server")
