"""The console script. `--version` answers before anything is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn

from memstrata import __version__


def main() -> NoReturn:
    """Run the command line with the process's arguments and exit with its code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"memstrata {__version__}\n")
        sys.exit(0)
    from memstrata.interfaces.cli.run import run

    sys.exit(run(arguments))
