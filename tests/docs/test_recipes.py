"""The recipes of README as a reader uses them: saved to files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import ROOT, blocks, commands

from islands.cli import main


def test_saved_scripts_of_the_readme_can_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    every = blocks(ROOT / "README.md")
    for block in every:
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
    shells = [block for block in every if block.language == "sh"]
    checks = [
        line for each in shells for line in commands(each) if line[:2] == ["islands", "check"]
    ]
    assert checks
    for _, *words in checks:
        assert main([*words, "--samples", "5"]) == 0
