"""Links in the documentation: they have targets."""

from __future__ import annotations

import re
from pathlib import Path

from pages import PAGES, ROOT, prose

ALL_PAGES = (
    *PAGES,
    *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")),
)


def test_links_have_targets() -> None:
    for page in ALL_PAGES:
        text = re.sub(r"`[^`]*`", "", prose(page))  # code is no link
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            path = (page.parent / target).resolve() if target else page
            assert path.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(path), f"{page.name}: {target}#{anchor}"


def test_pictures_exist() -> None:
    found = [
        (page.parent / source).is_file()
        for page in ALL_PAGES
        for source in re.findall(r'<img src="([^"]*)"|!\[[^]]*\]\(([^)]*)\)', prose(page))
        for source in filter(None, source)
    ]
    assert len(found) >= 6
    assert all(found)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
