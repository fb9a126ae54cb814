"""Self-contained HTML pages with a light and a dark theme, for screens, phones and paper.

Jinja2 renders them from `templates/`.
"""

import re
import time
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import islands
from islands.errors import UsageError
from islands.paths import publish
from islands.report.figure import inline, needed, style
from islands.text import either

TEMPLATES = Path(__file__).parent / "templates"
_SUFFIXES = (".html", ".htm")
_NUMBER = re.compile(r"[-+\d>~]|none$|nan$|$")


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
            self.add(_element("section", title, parts))

    def html(self) -> str:
        """Return the whole page."""
        script = (TEMPLATES / "page.js").read_text()
        text: str = _template("page.html").render(
            page=self,
            style=(TEMPLATES / "page.css").read_text(),
            script=script,
            allowed=b64encode(sha256(script.encode()).digest()).decode(),
            version=islands.__version__,
            time=time.strftime("%H:%M:%S"),
        )
        return text

    def write(self, path: Path) -> None:
        """Write the page to a file."""
        publish(path, self.html(), errors="backslashreplace")


def require_html(option: str, path: Path) -> None:
    """Reject the path of a page, given as an option, if browsers would not open it as HTML."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{option} {path}: must end in {either(_SUFFIXES)}, as a page is HTML")


def require_packages() -> None:
    """Raise an error if Matplotlib or Jinja2 is missing."""
    style()
    _template("page.html")


@cache
def _template(name: str) -> Any:
    with needed("jinja2"):
        from jinja2 import Environment, FileSystemLoader
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
    return environment.get_template(name)


def _element(name: str, *values: object) -> str:
    """Return the HTML of an element, in which texts are escaped."""
    return str(getattr(_template("elements.html").module, name)(*values)).strip()


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of text."""
    return _element("paragraph", text, kind)


def note(text: str) -> str:
    """Return a highlighted remark."""
    return paragraph(text, "note")


def preformatted(text: str, kind: str = "wide") -> str:
    """Return a text with its line breaks."""
    return _element("preformatted", text, kind)


def contents(names: Sequence[str]) -> str:
    """Return links to the articles with these names."""
    return _element("contents", names)


def article(page: Page) -> str:
    """Return a page as an article of another page."""
    return _element("article", page)


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names and values as a grid; empty without values."""
    return _element("facts", [pair for pair in pairs if pair[1] not in (None, "")])


def table(rows: Iterable[Mapping[str, object]]) -> str:
    """Return a table of rows with the same headings; empty without rows."""
    cells = list(rows)
    return table_of(list(cells[0]), [list(row.values()) for row in cells]) if cells else ""


def table_of(names: Sequence[str], rows: Iterable[Sequence[object]], *, words: bool = False) -> str:
    """Return a table of numbers and text, or only of `words`; empty without rows."""
    cells = [[str(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    columns = list(zip(*cells, strict=True))
    texts = [not all(map(_NUMBER.match, column)) for column in columns]
    # The width of the table in characters, with its headings wrapped.
    pairs = zip(names, columns, strict=True)
    width = sum(1 + max(map(len, [*name.split(), *column])) for name, column in pairs)
    return _element("table", names, cells, texts, words, width)


def folded(title: str, body: str) -> str:
    """Return a collapsed part with a title; empty without a body."""
    return _element("folded", title, body)


def image(title: str, source: str) -> str:
    """Return a picture that is given by its address."""
    return _element("image", title, source)


def figure(picture: str, caption: str, numbers: str = "") -> str:
    """Return a picture with its caption, and its numbers as a table."""
    return _element("figure", picture, caption, numbers)


def plot(drawn: Any, caption: str, numbers: str = "", *, label: str = "") -> str:
    """Return a Matplotlib figure with its caption and numbers; `label` is for screen readers."""
    return figure(inline(drawn, label or caption), caption, numbers)


def figures(*parts: str, kind: str = "") -> str:
    """Return figures in a grid as wide as the page; those of kind `three` are narrower."""
    return _element("figures", [part for part in parts if part], kind)
