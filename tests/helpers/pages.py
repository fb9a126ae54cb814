"""The pages of documentation, and the blocks of code on them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_BLOCK = re.compile(r"(<!-- needs: ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# (\w+\.py)\n")


@dataclass(frozen=True)
class Block:
    """A block of code; `needs` lists its requirements besides an empty folder."""

    language: str
    text: str
    needs: str | None

    @property
    def file(self) -> str | None:
        """The file name on its first line, if there is one."""
        named = _FILE.match(self.text)
        return named[1] if named else None


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    return [
        Block(match[3], match[4], match[2])
        for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def prose(page: Path) -> str:
    """Return a page without its blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def commands(block: Block) -> list[list[str]]:
    """Return the words of each command in a shell block."""
    lines = block.text.replace("\\\n", " ").splitlines()
    split = [shlex.split(line, comments=True) for line in lines]
    return [words for words in split if words]
