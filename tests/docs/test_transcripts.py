"""The transcripts of runs in the documentation begin as the program does today."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pages import ROOT, Started, started, words_of
from without_search import tried

from islands.display.messages import idle_words
from islands.text import command_line

_RUN = re.compile(r"^\$ (islands (?:run|submit) .+)$", re.MULTILINE)
_OF_SUBMIT = ("--nodes", "--ranks-per-node", "--time", "--gpus-per-node")
_LINES = 2
"""The version and the instance, and the search; later lines depend on the machine."""


def transcripts() -> list[tuple[str, str, str]]:
    """Return page, command and text of each transcript with the header of a run."""
    found = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            command = _RUN.search(block)
            if command and re.search(r"^islands \d", block, re.MULTILINE):
                found.append((page.name, command[1], block))
    return found


@pytest.mark.parametrize(("page", "command", "text"), transcripts())
def test_a_transcript_begins_as_the_program(
    page: str, command: str, text: str, tmp_path: Path
) -> None:
    _, _, *words = shlex.split(command)
    for option in _OF_SUBMIT:
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    line = ("run", *words, "--backend", "cpu", "--out", str(tmp_path / "run"))
    printed = tried(Started(line), has_gpus=False, captured=tmp_path / "captured")
    assert header(text) == header(printed), page


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("has_gpus", [False, True])
def test_headers_match_islands_and_ranks_as_documented(
    has_gpus: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    section = section_on_ranks()
    rows = re.findall(r"^\| `(mpirun [^`]*)` \| `([^`]*)` \|$", section, re.MULTILINE)
    assert len(rows) == 3
    for line, shown in rows:
        command = started(words_of(line))
        assert command is not None
        printed = tried(command, has_gpus=has_gpus, captured=tmp_path / "captured")
        assert f"\n{shown}\n" in printed, line


def test_idle_ranks_are_reported_as_documented() -> None:
    with command_line():
        line = idle_words(3, 4, 4, "a generation takes ... ms, shared ... ms")
    assert f"\n{line}\n" in section_on_ranks()


def section_on_ranks() -> str:
    page = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    return page.partition("## Ranks and islands\n")[2].partition("\n## ")[0]


def header(text: str) -> list[str]:
    """Return the first lines of a run."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if re.match(r"islands \d", line))
    return lines[first : first + _LINES]
