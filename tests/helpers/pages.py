"""The pages of documentation, and the commands and blocks of code in them, helps and scripts."""

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from islands.cli import COMMANDS, parser

ROOT = Path(__file__).parents[2]
DOCS = (*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "design").glob("*.md")))
PAGES = (ROOT / "README.md", *DOCS)

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
    return [
        Block(match[3], match[4], match[2])
        for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def prose(page: Path) -> str:
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


_SCRIPTS = [
    *(ROOT / "launch" / name for name in ("quickstart", "bind", "supervise", "hosts.example")),
    *sorted((ROOT / "slurm").iterdir()),
]
_BEGINS = re.compile(r"(islands|islands-\w+|mpirun|srun|sbatch|launch/\w+|slurm/\w+\.sbatch) ")
_PLACEHOLDER = re.compile(r"\.\.\.|\[|(?<![\w.=-])[A-Z]{3,}(?![\w.])|\b[A-Z]+\.py:NAME\b")
"""Parts of a command line that the reader replaces, such as DIR; it is not one to try."""
_COMMENT = re.compile(r" {2,}(?!\\)|; ")
"""What ends a command in help texts and comments, where words about it or another one follow."""


def documented() -> Iterator[tuple[str, str]]:
    """Yield the commands in pages, help texts, scripts and examples, each with its place."""
    names = ("README", "ARCHITECTURE", "CONTRIBUTING")
    for page in (*(ROOT / f"{name}.md" for name in names), *DOCS):
        text = page.read_text(encoding="utf-8")
        if page.stem in ("measured", "figures", "tests"):  # docs/generate writes their tables
            text = re.sub(r"<!-- table: .*?<!-- end -->", "", text, flags=re.DOTALL)
        found = re.findall(r"^```sh\n(.*?)^```$|(?<!`)`([^`\n]+)`(?!`)", text, re.DOTALL | re.M)
        for block, span in found:
            if block or len(span.split()) > 2:  # not the mere name of a command
                for line in _joined(block) if block else _complete([span]):
                    yield page.stem, line
    texts = {f"{name} --help": _epilog(name).splitlines() for name in COMMANDS}
    for path in _SCRIPTS:
        text = path.read_text(encoding="utf-8").replace("$islands ", "islands ")
        texts[path.name] = [line.lstrip("#") for line in text.splitlines()]
    for path in sorted((ROOT / "docs" / "examples").glob("*.py")):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        texts[path.name] = words.splitlines()
    for name, lines in texts.items():
        for line in _complete(lines):
            yield name, line


def _epilog(name: str) -> str:
    (command,) = parser(name)._subparsers._group_actions
    return command.choices[name].epilog or ""


def _joined(text: str) -> list[str]:
    return [line for line in re.sub(r" *\\\n *", " ", text).splitlines() if line.strip()]


def _complete(lines: Sequence[str]) -> Iterator[str]:
    """Yield the command lines among these lines, without remarks that follow them."""
    for line in _joined("\n".join(each.strip() for each in lines)):
        for part in _COMMENT.split(line):
            is_ours = re.search(r"\bpython |islands|slurm/|quickstart", part)
            if _BEGINS.match(part) and is_ours and not _PLACEHOLDER.search(part):
                yield part


def words_of(line: str) -> list[str]:
    """Return the words of a command, without variables before it and redirections after it."""
    words = shlex.split(line, comments=True)
    while words and re.match(r"\w+=", words[0]):
        words = words[1:]
    return list(takewhile(lambda word: not re.match(r"\d?[<>]|&", word), words))


def of_islands(words: Sequence[str]) -> list[str]:
    """Return the words that a command passes to `islands`; none if it does not start it."""
    text = shlex.join(words)
    if found := re.search(r"(?:^islands|python -m islands) (.*)", text):
        return shlex.split(found[1])
    supervise = r"^islands-supervise (?:-k |-[Hr] \w+ )*\d+"
    found = re.search(rf"(?:run\.sbatch|{supervise}) (?!resume)(.*)", text)
    return ["run", *shlex.split(found[1])] if found else []
