"""A real panel process and a real browser; without Chromium these tests are skipped and say so."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.waiting import until

from memstrata import Memory

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
expect.set_options(timeout=20_000)
QUIET = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
).split()


@dataclass
class Server:
    """A panel that can be killed and started again on the same port."""

    home: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.port = self.port or free_port()
        about = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith("MEMSTRATA_")
            },
            "MEMSTRATA_EMBEDDING__MODEL": "none",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "MEMSTRATA_TIMEZONE": "UTC",
            "TZ": "UTC",
        }
        arguments = ["--home", str(self.home), "panel", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memstrata", *arguments], env=about, stderr=subprocess.DEVNULL
        )
        until(self.answers, 30)

    def answers(self) -> bool:
        """Whether it does."""
        try:
            with urlopen(self.url, timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for a module: its driver runs an event loop in this thread, which others want to be free."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


@pytest.fixture
def other(home: Path) -> Iterator[Memory]:
    """The same home, in the test's own process."""
    with Memory.open(home, settings={"timezone": "UTC"}, background=False) as memory:
        yield memory


@pytest.fixture
def server(home: Path) -> Iterator[Server]:
    """A running panel on the test's home."""
    found = Server(home)
    found.start()
    yield found
    found.kill()


Tab = Callable[..., Page]


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[Tab]:
    """Opens tabs of the panel; each must load nothing from elsewhere and log no error."""
    faults: list[str] = []
    with ExitStack() as stack:

        def opened(path: str = "/", **about: Any) -> Page:
            context = browser.new_context(**{"locale": "en-GB", "timezone_id": "UTC", **about})
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(20_000)
            page.on("pageerror", lambda error: faults.append(f"error: {error}"))
            page.on("request", lambda one: _note(one.url, server, faults))
            page.goto(server.url + path)
            return page

        yield opened
    assert not faults


def _note(url: str, server: Server, faults: list[str]) -> None:
    if not url.startswith((server.url, server.url.replace("http", "ws"), "data:", "blob:")):
        faults.append(f"from elsewhere: {url}")
