"""Where a command's text goes: rich tables in a terminal, plain lines, one a record, in a pipe."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What could drive a terminal or turn a line around; a stored message may hold it."""

PIPE_WIDTH: Final = 100
"""Columns of what is folded in a pipe."""

Row = Sequence[str]


def clean(text: str) -> str:
    """`text` with what could drive a terminal replaced, and tabs as blanks."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\t", "    "))


def line(text: str) -> str:
    """`text` on one line."""
    return " ".join(clean(text).split())


def width(text: str) -> int:
    """Columns that `text` takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 1 + (unicodedata.east_asian_width(one) in "WF")
        for one in text
    )


def padded(text: str, columns: int) -> str:
    """`text` filled up with blanks to `columns`."""
    return text + " " * max(0, columns - width(text))


class Out:
    """Prints to one stream. `terminal` decides between rich and plain text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.terminal = stream.isatty()
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The rich console of the stream, made on first use."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self._stream,
                width=None if self.terminal else PIPE_WIDTH,
                highlight=False,
                emoji=False,
                markup=False,
            )
        return self._console

    def text(self, text: str = "") -> None:
        """Print `text` and a line break."""
        self._stream.write(f"{clean(text)}\n")

    def heading(self, text: str) -> None:
        """Print a heading, bold in a terminal."""
        if self.terminal:
            self.console.print(clean(text), style="bold", soft_wrap=True)
        else:
            self.text(text)

    def fields(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and values in two columns, those without a value left out."""
        widest = max((width(name) for name, _ in rows), default=0)
        for name, value in rows:
            if value:
                self.text(f"{padded(name, widest)}  {line(value)}")

    def table(self, headings: Row, rows: Sequence[Row], *, whole: Container[int] = (0,)) -> None:
        """Print a table: in a terminal with headings and folded cells, in a pipe one line a row."""
        if self.terminal:
            self.grid(headings, rows, whole=whole)
            return
        cells = [[line(cell) for cell in row] for row in rows]
        widths = [max(map(width, column)) for column in zip(*cells, strict=True)] if cells else []
        for row in cells:
            columns = [padded(cell, wide) for cell, wide in zip(row, widths, strict=True)]
            self._stream.write("  ".join(columns).rstrip() + "\n")

    def grid(self, headings: Row, rows: Sequence[Row], *, whole: Container[int] = ()) -> None:
        """Print a table with folded cells, in a pipe too; the columns numbered in `whole` are never folded."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for number, heading in enumerate(headings):
            table.add_column(Text(heading), overflow="fold", no_wrap=number in whole)
        for row in rows:
            table.add_row(*(Text(line(cell)) for cell in row))
        if self.terminal:
            self.console.print(table)
            return
        with self.console.capture() as captured:
            self.console.print(table)
        for text in captured.get().splitlines():
            self._stream.write(f"{text.rstrip()}\n")


class LogLine(logging.Formatter):
    """A log record as `warning: file.absent {…}`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return f"{record.levelname.lower()}: {line(record.getMessage())}"
