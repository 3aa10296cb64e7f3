"""A language model's endpoint on loopback, for tests: OpenAI chat completions and Anthropic messages.

It says what its script says, one reply a request, streamed or not as the request asks for, and
keeps what it was sent. Failures are replies too: see the functions below `Reply`. Like the scripted
model it fails the test at its end when it was asked while this process had a transaction open.
"""

from __future__ import annotations

import json
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from threading import Event, Thread
from typing import Any, Final, Self

from memstrata.adapters.model_scripted import is_in_transaction

USAGE: Final = (120, 30)
"""Tokens in and out, if a reply does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request gets. `finish` is OpenAI's word (stop, length), put into Anthropic's where needed.

    `hang`: nothing, until one side hangs up; `cut`: the connection ends in the middle of the body;
    `raw`: the body itself, whatever it is.
    """

    text: str = ""
    thinking: str = ""
    finish: str = "stop"
    usage: tuple[int, int] = USAGE
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    code: str = ""
    hang: bool = False
    cut: bool = False
    raw: bytes | None = None


def timeout() -> Reply:
    """No answer at all."""
    return Reply(hang=True)


def rate_limited(seconds: int = 7) -> Reply:
    """429 with Retry-After."""
    return Reply(
        status=429,
        headers={"Retry-After": str(seconds)},
        error="slow down",
        code="rate_limit_exceeded",
    )


def server_error(status: int = 500) -> Reply:
    """A fault of the provider's."""
    return Reply(status=status, error="something broke", code="server_error")


def wrong_key() -> Reply:
    """401; providers like to repeat a part of the key, which no error of ours may show."""
    return Reply(status=401, error="Incorrect API key: sk-demo-0000", code="invalid_api_key")


def unknown_model() -> Reply:
    """404."""
    return Reply(status=404, error="no such model", code="model_not_found")


def too_long() -> Reply:
    """400: more than the context window holds."""
    return Reply(status=400, error="maximum context length is 8192", code="context_length_exceeded")


def no_such_form() -> Reply:
    """400: the provider does not know this response format."""
    return Reply(status=400, error="response_format is not supported", code="unsupported_parameter")


def out_of_tokens(thinking: str = "") -> Reply:
    """Empty, with finish reason `length`: all tokens went into thinking."""
    return Reply(thinking=thinking, finish="length")


def cut_stream(text: str = '{"candidates": [{"scope": "user", ') -> Reply:
    """A body that breaks off."""
    return Reply(text=text, cut=True)


def refused_url() -> str:
    """A base URL on which nobody listens."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


# -- answers that models give ----------------------------------------------------------------------

GOOD: Final[Mapping[str, Any]] = {
    "scope": "user",
    "type": "user",
    "name": "preferred drink",
    "description": "The user prefers tea to coffee",
    "confidence": 0.9,
    "priority": 60,
    "entities": [],
    "evidence": [{"message": "m1", "quote": "I prefer tea to coffee"}],
    "subject": "user",
    "slot": "preferred drink",
    "change": "states",
}
"""One candidate without a fault, about the message "I prefer tea to coffee"."""


def item(**fields: Any) -> dict[str, Any]:
    """`GOOD` with `fields` in place; None leaves one out."""
    return {name: value for name, value in {**GOOD, **fields}.items() if value is not None}


def candidates(*items: Mapping[str, Any]) -> str:
    """The answer that holds `items`, as JSON."""
    return json.dumps({"candidates": list(items)}, ensure_ascii=False)


PROSE: Final = "There is nothing in this conversation that I would keep for later."
OTHER_LANGUAGE: Final = "这段对话里没有值得长期保存的内容。"
FENCED: Final = f"Sure!\n```json\n{json.dumps(GOOD)}\n```\nHope that helps."
BARE_LIST: Final = json.dumps([GOOD])
HALF: Final = candidates(GOOD, item(name="home", description="The user lives in Porto"))[:-40]
BAD_ESCAPE: Final = candidates(item(body="a path")).replace("a path", r"C:\users\dora \u12")
MISSING_FIELDS: Final = candidates(GOOD, {"name": "home", "description": "The user lives in Porto"})
INVENTED_IDS: Final = candidates(item(evidence=[{"message": "m77", "quote": "I prefer tea"}]))
THINKING: Final = f"<think>\nDoes m1 {{state}} a [preference]? Yes.\n</think>\n{candidates(GOOD)}"


# -- the server ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent to the stub; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


Said = Reply | str | Callable[[Request], Reply | str]
"""A reply, a text, or a function that says either when it hears the request."""


class StubModel:
    """The endpoint. A context manager; `requests` holds what it was sent, in order.

    With `repeat` the last reply stands for all that follow.
    """

    def __init__(
        self, *replies: Said, guard: Callable[[], bool] = is_in_transaction, repeat: bool = False
    ) -> None:
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self.left = Event()
        """Set when a client hung up on a reply that never came."""
        self.waiting = Event()
        """Set while a client waits for one."""
        self.connections: set[socket.socket] = set()
        self._wake, self.woken = socket.socketpair()
        self._replies = deque(replies)
        self._guard = guard
        self._repeat = repeat
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stub = self
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wake.close()
        self._server.shutdown()
        for connection in list(self.connections):
            with suppress(OSError):  # it may end by itself meanwhile
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()
        self.woken.close()
        assert not self.faults, self.faults

    @property
    def url(self) -> str:
        """Without a path: what Anthropic's client calls the base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """What OpenAI's client calls the base URL."""
        return f"{self.url}/v1"

    def say(self, *replies: Said) -> None:
        """Add replies to the script."""
        self._replies.extend(replies)

    def next(self, request: Request) -> Reply:
        """The next reply; an error 500 that says so when the script is at its end."""
        self.requests.append(request)
        if self._guard():
            self.faults.append(f"request {len(self.requests)} came inside a transaction")
        if not self._replies:
            return Reply(status=500, error="the script is at its end")
        last = self._repeat and len(self._replies) == 1
        said = self._replies[0] if last else self._replies.popleft()
        reply = said(request) if callable(said) else said
        return Reply(text=reply) if isinstance(reply, str) else reply


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closing the stub waits for its answers
    stub: StubModel

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no fault here: cancelling is what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes; else each reply waits 40 ms
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.stub.connections.add(self.connection)

    def finish(self) -> None:
        self.server.stub.connections.discard(self.connection)
        super().finish()

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size))
        stub = self.server.stub
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = stub.next(Request(self.path, headers, body))
        if reply.hang:
            stub.waiting.set()
            ready, _, _ = select([self.connection, stub.woken], [], [])
            if self.connection in ready:
                stub.left.set()
            self.close_connection = True
            return
        speak = _OpenAI if self.path.endswith("/chat/completions") else _Anthropic
        if reply.status != 200:
            self._send(reply, json.dumps(speak.error(reply)), "application/json")
        elif body.get("stream"):
            lines = "".join(speak.events(reply, body["model"]))
            self._send(reply, lines, "text/event-stream")
        else:
            self._send(reply, json.dumps(speak.whole(reply, body["model"])), "application/json")

    def _send(self, reply: Reply, text: str, kind: str) -> None:
        data = text.encode() if reply.raw is None else reply.raw
        self.send_response(reply.status)
        for name, value in {"Content-Type": kind, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if reply.cut else data)
        self.close_connection = reply.cut

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the requests are kept instead."""


def _pieces(text: str) -> Sequence[str]:
    return [text[at : at + 16] for at in range(0, len(text), 16)]


def _event(data: object, name: str = "") -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


class _OpenAI:
    """Chat completions. Thinking goes where local servers put it: `reasoning_content`."""

    @staticmethod
    def error(reply: Reply) -> object:
        return {"error": {"message": reply.error, "type": "error", "code": reply.code or None}}

    @staticmethod
    def whole(reply: Reply, model: str) -> object:
        message = {"role": "assistant", "content": reply.text}
        message |= {"reasoning_content": reply.thinking} if reply.thinking else {}
        return {
            **_OpenAI._head("chat.completion", model),
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
            "usage": _OpenAI._usage(reply),
        }

    @staticmethod
    def events(reply: Reply, model: str) -> Iterator[str]:
        head = _OpenAI._head("chat.completion.chunk", model)
        deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in _pieces(reply.thinking)]
        deltas += [{"content": piece} for piece in _pieces(reply.text)]
        for delta in deltas:
            yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        last = {"index": 0, "delta": {}, "finish_reason": reply.finish}
        yield _event({**head, "choices": [last]})
        yield _event({**head, "choices": [], "usage": _OpenAI._usage(reply)})
        yield _event("[DONE]")

    @staticmethod
    def _head(kind: str, model: str) -> dict[str, object]:
        return {"id": "chatcmpl-stub", "object": kind, "created": 1_700_000_000, "model": model}

    @staticmethod
    def _usage(reply: Reply) -> dict[str, int]:
        came, went = reply.usage
        return {"prompt_tokens": came, "completion_tokens": went, "total_tokens": came + went}


class _Anthropic:
    """Messages, with thinking as a block of its own."""

    @staticmethod
    def error(reply: Reply) -> object:
        kind = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}.get(
            reply.status, "invalid_request_error" if reply.status < 500 else "api_error"
        )
        return {"type": "error", "error": {"type": kind, "message": reply.error}}

    @staticmethod
    def whole(reply: Reply, model: str) -> object:
        blocks: list[dict[str, str]] = []
        if reply.thinking:
            blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": "c3R1Yg=="})
        if reply.text:
            blocks.append({"type": "text", "text": reply.text})
        return _Anthropic._message(reply, model) | {
            "content": blocks,
            "stop_reason": _Anthropic._stop(reply),
        }

    @staticmethod
    def events(reply: Reply, model: str) -> Iterator[str]:
        def event(name: str, **data: object) -> str:
            return _event({"type": name, **data}, name)

        start = _Anthropic._message(replace(reply, usage=(reply.usage[0], 0)), model)
        yield event("message_start", message=start)
        parts = (("thinking", "thinking", reply.thinking), ("text", "text", reply.text))
        for index, (kind, key, text) in enumerate(part for part in parts if part[2]):
            block = {"type": kind, key: "", **({"signature": ""} if kind == "thinking" else {})}
            yield event("content_block_start", index=index, content_block=block)
            for piece in _pieces(text):
                delta = {"type": f"{kind}_delta", key: piece}
                yield event("content_block_delta", index=index, delta=delta)
            yield event("content_block_stop", index=index)
        stop = {"stop_reason": _Anthropic._stop(reply), "stop_sequence": None}
        yield event("message_delta", delta=stop, usage={"output_tokens": reply.usage[1]})
        yield event("message_stop")

    @staticmethod
    def _message(reply: Reply, model: str) -> dict[str, object]:
        came, went = reply.usage
        return {
            "id": "msg_stub",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": came, "output_tokens": went},
        }

    @staticmethod
    def _stop(reply: Reply) -> str:
        return {"stop": "end_turn", "length": "max_tokens"}.get(reply.finish, reply.finish)
