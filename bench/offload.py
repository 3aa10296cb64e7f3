"""The offload, measured on the real engine: `python -m bench.offload --data PATH`.

It is `memstrata bench offload`, with the report written beside this file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from memstrata.interfaces.cli.run import run

OUT: Final = Path(__file__).with_suffix(".md")


def main(arguments: Sequence[str]) -> int:
    """Measure and write; nothing when no data was named."""
    if not any(one.partition("=")[0] == "--data" for one in arguments):
        print("no --data PATH was given: nothing was measured", file=sys.stderr)
        return 0
    return run(["bench", "offload", "--out", str(OUT), *arguments])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
