"""Plots in a folder, which others may have written, as parts of a page."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

from islands.report.figure import themed
from islands.untrusted import bounded_text, parsing

_PARTS = {"svg", "g", "defs", "clipPath", "path", "rect", "use", "text", "tspan"}
_ATTRIBUTES = {"viewBox", "id", "clip-path", "style", "transform", "d", "x", "y", "href"}
_ATTRIBUTES |= {"width", "height"}
_WHITE = re.compile(r"fill: ?#ffffff")
_FOREIGN = re.compile(r"url\((?!#)|\\|@|expression")
"""What could load another file in the value of an attribute."""


def stored_picture(path: Path) -> tuple[str, str]:
    """Return an SVG file as part of a page, with the page's colours, and its title.

    Only the shapes and the texts are kept, so that nothing in the file can run or load anything.
    """
    with parsing(path, fix="Remove it, or repeat the command that wrote it"):
        # The text was written by Matplotlib; a document type of its own would define entities.
        text = re.sub(r"<!DOCTYPE svg PUBLIC[^>\[]*>", "", bounded_text(path), count=1)
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ValueError("it defines entities")
        root = ElementTree.fromstring(text)
        title = " ".join("".join(_title(root)).split()) or path.stem
        # Names of parts are unique in a page with several pictures.
        place = sha256(str(path).encode()).hexdigest()[:8]
        made = _copied(root, f"p{place}")
        body = ElementTree.tostring(made, encoding="unicode")
    return themed(_WHITE.sub("fill: none", body), title), title


def _title(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root if _name(each.tag) == "title"][:1]


def _copied(old: ElementTree.Element, place: str) -> ElementTree.Element:
    """Return an element with the parts and attributes that are shapes and texts."""
    new = ElementTree.Element(_name(old.tag))
    for key, value in old.attrib.items():
        name = _name(key)
        if name not in _ATTRIBUTES or _FOREIGN.search(value):
            continue
        if name == "href" and not value.startswith("#"):
            continue
        if name == "id" or name == "href":
            value = f"#{place}{value[1:]}" if name == "href" else f"{place}{value}"
        new.set(name, value.replace("url(#", f"url(#{place}"))
    new.text, new.tail = old.text, old.tail
    new.extend(_copied(each, place) for each in old if _name(each.tag) in _PARTS)
    return new


def _name(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2]
