"""`python -m memstrata` is the command line."""

from __future__ import annotations

from memstrata.interfaces.cli.main import main

if __name__ == "__main__":
    main()
