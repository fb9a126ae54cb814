"""Links in the documentation: those inside it have targets, the others are well-formed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pages import PAGES, ROOT, prose

ALL_PAGES = (
    *PAGES,
    *(ROOT / f"{name}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING")),
)
_DOI = re.compile(r"10\.\d{4,9}/[\w.()/:-]+\w")


def is_well_formed(link: str) -> bool:
    """Return whether a link to another site names a host by https, or a document by its DOI."""
    scheme, _, rest = link.partition(":")
    if scheme == "doi":
        return _DOI.fullmatch(rest) is not None
    parts = urlsplit(link)
    return (
        scheme == "https"
        and re.fullmatch(r"(\w[\w-]*\.)+[a-z]{2,}", parts.hostname or "") is not None
        and re.search(r"[\s<>\"\\]", link) is None
    )


def external(text: str) -> list[str]:
    """Return the links of a text to other sites: in brackets, bare, and DOIs."""
    found = re.findall(r"\]\((\w+:[^)]*)\)|((?:https?|ftp)://[^\s)>]+)|(doi:[^\s)]+)", text)
    return [link.rstrip(".,;") for groups in found for link in groups if link]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_links_to_other_sites_are_well_formed(page: Path) -> None:
    assert [link for link in external(prose(page)) if not is_well_formed(link)] == []


def test_malformed_links_are_detected() -> None:
    text = "[a](htps://a.org/x) [b](https://a b.org) http://plain.org, doi:11.1/x. https://nowhere"
    found = external(text)
    assert found == [
        *("htps://a.org/x", "https://a b.org", "http://plain.org", "doi:11.1/x", "https://nowhere"),
    ]
    assert not any(map(is_well_formed, found))
    right = (
        "https://example.org/a?b=c#d (doi:10.1109/CEC.2010.5586286), doi:10.5753/wscad.2019.8653"
    )
    assert [is_well_formed(link) for link in external(right)] == [True] * 3


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
