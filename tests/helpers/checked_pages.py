"""Pages whose HTML is checked, and folders with invented results that they show."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from islands.cells.tuning import COLUMNS
from islands.record.files import write_table
from islands.record.inputs import trust_folder
from islands.report.page import TEMPLATES
from islands.studies.pages.folders import page_for

SCRIPT = (TEMPLATES / "page.js").read_text()
_VOID = {"meta", "br", "img", "input", "link", "path", "use", "image", "rect"}


class Checked(HTMLParser):
    """Collects the facts of a page; an element that is not closed is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.pictures = self.described = 0
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [str(given[name]) for name in ("src", "href", "xlink:href") if name in given]
        self.ids += [str(given["id"])] if "id" in given else []
        if tag in ("svg", "img"):
            self.pictures += 1
            self.described += bool(given.get("aria-label") or given.get("alt"))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


def page(*folders: Path, trusted: bool = False) -> str:
    """Return a page that is whole, described and needs no network."""
    for folder in folders if trusted else ():
        trust_folder(folder)
    text = page_for(folders).html()
    found = Checked(text)
    assert found.pictures == found.described
    assert len(found.ids) == len(set(found.ids))
    for link in found.links:
        assert link.startswith("data:") or link.removeprefix("#") in found.ids
    assert text.count("<script") == text.count(f"<script>{SCRIPT}</script>") == 1
    assert not re.search(r"url\((?!#)|@import|\bon\w+=", text)
    return text


def plain(text: str) -> str:
    style = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", style))


def tuning(folder: Path) -> None:
    """Write the tables of a tuning with two configurations."""
    names = ["configuration", "values", "mean_rank", "loss", "standard_deviation", "hits", "void"]
    names += ["evaluations", "seconds", "p"]
    values = [{"rho": 0.7, "bias": "rho"}, {"rho": 0.6, "bias": "log"}]
    rows = [
        [1, json.dumps(values[0]), 1.25, 0.5, 0.1, 3, 0, 100, 0.01, None],
        [2, json.dumps(values[1]), 1.75, 2.5, 0.1, 0, 1, 100, 0.02, 0.031],
    ]
    ranked = [dict(zip(names, row, strict=True)) for row in rows]
    write_table(folder / "ranking.tsv", names, ranked)
    write_table(folder / "tune.tsv", COLUMNS, [dict.fromkeys(COLUMNS, "demo/tsp")])


def experiment(folder: Path) -> None:
    """Write the settings, a table and a plot of an experiment."""
    (folder / "settings.toml").write_text('what = "xavier2019/table1"\nbackend = "cpu"\n')
    (folder / "table1.csv").write_text("instance,length\nzi929,95345.123456789\n")
    (folder / "table1.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
