"""Pages whose HTML is checked: whole, described, and without a need for a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from islands.report.folders import page_for

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
    text = page_for(folders, trusted=trusted).html()
    found = Checked(text)
    assert found.pictures == found.described
    assert len(found.ids) == len(set(found.ids))
    for link in found.links:
        assert link.startswith("data:") or link.removeprefix("#") in found.ids
    assert "<script" not in text
    assert not re.search(r"url\((?!#)|@import|\bon\w+=", text)
    return text


def plain(text: str) -> str:
    """Return the words of a page."""
    style = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", style))
