"""The tables of a folder, and what made them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from islands.display.heartbeat import duration
from islands.errors import InputError
from islands.record.files import bounded_rows
from islands.record.folder import PROVENANCE
from islands.report.page import paragraph
from islands.untrusted import bounded_text, parsing

Row = Mapping[str, str]


def made_by(folder: Path) -> dict[str, Any]:
    """Return what made the tables of a folder; empty if they are not complete."""
    path = folder / PROVENANCE
    if not path.is_file():
        return {}
    with parsing(path):
        made = json.loads(bounded_text(path))
        _ = str(made["date"])[:10], made["commit"], made["changed"]  # a damaged file has no such
        return dict(made)


def facts_of(made: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield when and with which program tables were made, how long it took, and the driver."""
    if not made:
        return
    commit = str(made["commit"])[:12] if made["commit"] else None
    yield "date", str(made["date"])[:10]
    yield "commit", f"{commit}, with changes" if commit and made["changed"] else commit
    yield "ranks", made.get("ranks")
    yield "GPU driver", made.get("driver")
    if isinstance(made.get("seconds"), int | float):
        yield "time", duration(made["seconds"])


def command_of(made: Mapping[str, Any]) -> str:
    """Return the command that made the tables as a part of a page; empty if it is unknown."""
    command = made.get("command")
    if not isinstance(command, list):
        return ""
    line = shlex.join(["islands", *map(str, command)])
    return paragraph("Made with:", "soft") + f'<pre class="wide" tabindex="0">{escape(line)}</pre>'


def rows_of(path: Path, delimiter: str) -> list[dict[str, str]]:
    """Return the rows of a table; refuse a damaged one."""
    _, rows = bounded_rows(path, delimiter)
    if any(None in row or None in row.values() for row in rows):
        raise InputError(f"{path}: a row has another number of columns than the header. Restore it")
    return rows


def number(text: str) -> float | None:
    """Return the number in a text, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def short(text: str) -> str:
    """Return a number with few digits and no exponent, or other text as it is."""
    value = number(text)
    if value is None:
        return "" if text == "None" else text
    if len(text) <= 8 and "e" not in text.lower():
        return text
    if abs(value) >= 1e4:
        return f"{value:.2f}".removesuffix(".00")
    return f"{value:.6g}"
