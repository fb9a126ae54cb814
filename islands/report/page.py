"""Self-contained HTML pages with a light and a dark theme, for screens, phones and paper."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import islands
from islands.errors import UsageError
from islands.paths import publish
from islands.report.figure import inline
from islands.report.interactive import SCRIPT, STYLE, policy
from islands.text import either

_SUFFIXES = (".html", ".htm")
_NUMBER = re.compile(r"[-+\d>~]|none$|nan$|$")
_CSS = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c1e21; --soft: #5d636b; --grid: #d8dadd;
  --card: #f6f7f8; --link: #1a5fb4; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --ink: #e4e6e9; --soft: #a2a8b0;
  --grid: #3a3f46; --card: #1e2125; --link: #8ab8f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 72rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
article h1 { margin-top: 3rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; border-bottom: 1px solid var(--grid); }
p, figcaption { max-width: 46rem; margin: .4rem 0; }
a { color: var(--link); }
.soft, figcaption, footer { color: var(--soft); font-size: .87rem; }
.figures { display: grid; gap: 1.25rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); }
.three { grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
figure { margin: .5rem 0; min-width: 0; max-width: 40rem; break-inside: avoid; }
figure svg, figure img { display: block; width: 100%; height: auto; }
.facts { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr));
  margin: 1rem 0; padding: 0; }
.facts div { background: var(--card); border-radius: 6px; padding: .5rem .75rem; min-width: 0; }
.facts dt { color: var(--soft); font-size: .8rem; }
.facts dd { margin: 0; font-weight: 600; }
.wide { overflow-x: auto; max-width: 100%; }
.command { white-space: pre-wrap; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; border-bottom: 1px solid var(--grid);
  overflow-wrap: normal; vertical-align: top; }
th { vertical-align: bottom; }
.text, .words td, .words th { text-align: left; }
td { white-space: nowrap; }
.words td { overflow-wrap: anywhere; white-space: normal; }
th { font-weight: 600; color: var(--soft); }
details { margin: .4rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: .87rem; }
.note { border-left: 3px solid #dd7127; padding: .1rem .75rem; margin: .75rem 0; }
footer { margin-top: 3rem; }
@media print { :root { --page: #fff; --ink: #000; --soft: #444; --grid: #ccc; --card: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; }
  .wide { overflow: visible; } .facts div { border: 1px solid var(--grid); }
  .wide table { font-size: min(8.5pt, calc(760pt / var(--characters, 60))); }
  .wide th, .wide td { padding: .15em .6em .15em 0; } pre.wide { white-space: pre-wrap; }
  details::details-content { content-visibility: visible; display: block; height: auto; } }
"""


@dataclass
class Page:
    """A page that grows section by section."""

    title: str
    parts: list[str] = field(default_factory=list)
    reload: int | None = None
    """Seconds after which a browser reloads the page; None for a page that does not change."""

    def add(self, *parts: str) -> None:
        """Add HTML at the end, if there is any."""
        self.parts += [part for part in parts if part]

    def section(self, title: str, *parts: str) -> None:
        """Add a section unless it would be empty."""
        if any(parts):
            self.add(f"<section><h2>{escape(title)}</h2>", *parts, "</section>")

    def html(self) -> str:
        """Return the whole page."""
        reload, made = "", f"Page written by islands {islands.__version__}"
        if self.reload is not None:
            reload = f'<meta http-equiv="refresh" content="{self.reload}">'
            made += f" at {time.strftime('%H:%M:%S')}, reloaded every {self.reload} s"
        head = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy()}{reload}'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_CSS}{STYLE}</style></head><body><main>"
            f"<h1>{escape(self.title)}</h1>"
        )
        foot = f"</main><footer>{made}</footer><script>{SCRIPT}</script></body></html>\n"
        return "\n".join([head, *self.parts, foot])

    def write(self, path: Path) -> None:
        """Write the page to a file."""
        publish(path, self.html(), errors="backslashreplace")


def require_html(option: str, path: Path) -> None:
    """Refuse a file name for a page, the value of an option, that browsers do not open as HTML."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{option} {path}: must end in {either(_SUFFIXES)}, as a page is HTML")


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def note(text: str) -> str:
    """Return a highlighted remark."""
    return f'<p class="note">{escape(text)}</p>'


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names and values as a grid."""
    cells = [
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in pairs
        if value not in (None, "")
    ]
    return f'<dl class="facts">{"".join(cells)}</dl>' if cells else ""


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """Return a table of rows with the same headings; empty without rows."""
    cells = list(rows)
    return table_of(list(cells[0]), [list(row.values()) for row in cells]) if cells else ""


def table_of(names: Sequence[str], rows: Iterable[Sequence[object]], *, words: bool = False) -> str:
    """Return a table of numbers and text, or only of `words`; empty without rows."""
    cells = [[str(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    columns = zip(*cells, strict=True)
    kinds = ["" if all(map(_NUMBER.match, column)) else ' class="text"' for column in columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(names, kinds, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(f'<td{k}>{escape(c)}</td>' for c, k in zip(row, kinds, strict=True))}</tr>"
        for row in cells
    )
    width = "" if words else f' style="--characters: {_characters(names, cells)}"'
    return (
        f'<div class="wide" tabindex="0"{width}><table{" class=words" if words else ""}><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _characters(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table in characters, with its headings wrapped."""
    return sum(
        1 + max(map(len, [*name.split(), *(row[place] for row in rows)]), default=0)
        for place, name in enumerate(header)
    )


def folded(title: str, body: str) -> str:
    """Return a collapsed part with a title; empty without a body."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>" if body else ""


def figure(picture: str, caption: str, numbers: str = "") -> str:
    """Return a picture with its caption, and its numbers as a table."""
    return (
        f"<figure>{picture}<figcaption>{escape(caption)}</figcaption>"
        f"{folded('Numbers', numbers)}</figure>"
    )


def plot(drawn: Any, caption: str, numbers: str = "", *, label: str = "") -> str:
    """Return a figure of Matplotlib with its caption, or another `label`, and its numbers."""
    return figure(inline(drawn, label or caption), caption, numbers)


def figures(*parts: str, kind: str = "") -> str:
    """Return figures in a grid as wide as the page; those of kind `three` are narrower."""
    shown = [part for part in parts if part]
    return f'<div class="figures {kind}">{"".join(shown)}</div>' if shown else ""
