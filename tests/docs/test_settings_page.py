"""docs/settings.md agrees with the program's settings."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
from pages import ROOT
from scripts_for_tests import script


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """Return the script docs/generate as a module."""
    return script(ROOT / "docs" / "generate")


def test_the_page_is_up_to_date(generate: ModuleType) -> None:
    assert generate.main(["--check"]) == 0, "run docs/generate"


def test_the_contents_have_each_section() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    sections = re.findall(r"^###? (.+)$", page, re.MULTILINE)
    assert len(sections) > 15
    contents = page.partition("\n## ")[0]
    for section in sections:
        anchor = re.sub(r"[^a-z -]", "", section.lower()).replace(" ", "-")
        assert f"(#{anchor})" in contents


def test_the_page_has_each_setting_with_its_help() -> None:
    from islands.algorithms.brkga import BrkgaSettings

    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert "| `rho` | `0.7` | 0.5 to 1 |" in page
    for name in BrkgaSettings.names():
        sentence, _, default = BrkgaSettings.words(name).rpartition(" (default: ")
        assert f"| `{name}` | `{default.removesuffix(')')}` |" in page
        assert f"| {sentence} |" in page
