"""The pages of documentation, and the commands and blocks of code in them, helps and scripts."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from islands.cli import COMMANDS, parser
from islands.cli.job import IN_JOBS as OF_JOBS

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


LAUNCHERS = ("mpirun", "srun", "sbatch")
HOSTS = ROOT / "launch" / "hosts.example"
_SCRIPTS = [
    *(ROOT / "launch" / name for name in ("quickstart", "bind", "supervise", "hosts.example")),
    *sorted((ROOT / "slurm").iterdir()),
]
_SUPERVISE = "launch/supervise"
_BEGINS = re.compile(r"(islands|islands-\w+|mpirun|srun|sbatch|launch/\w+|slurm/\w+\.sbatch) ")
_PLACEHOLDER = re.compile(r"\.\.\.|\[|(?<![\w.=-])[A-Z]{3,}(?![\w.])|\b[A-Z]+\.py:NAME\b")
"""Parts of a command line that the reader replaces, such as DIR; it is not one to try."""
_COMMENT = re.compile(r" {2,}(?!\\)|; ")
"""What ends a command in help texts and comments, where words about it or another one follow."""


@dataclass(frozen=True)
class Documented:
    """Everything that one file says to type, in order, and the files that it lets readers save."""

    name: str
    lines: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Started:
    """A command of `islands`, and how it is started."""

    words: tuple[str, ...]
    ranks: int = 1
    job: str = ""
    """The batch script that gets the words: run, sweep or scaling."""
    ranks_a_node: int = 1
    supervised: bool = False
    """Whether the words are those of `islands-supervise`."""


def pages() -> Iterator[Documented]:
    """Yield the commands of each page: those in blocks, and complete ones in sentences."""
    names = ("README", "ARCHITECTURE", "CONTRIBUTING")
    for page in (*(ROOT / f"{name}.md" for name in names), *sorted((ROOT / "docs").glob("*.md"))):
        if page.stem in ("measured", "figures"):  # written by docs/generate from docs/measured
            text = re.sub(r"<!-- table: .*?<!-- end -->", "", page.read_text(), flags=re.DOTALL)
        else:
            text = page.read_text(encoding="utf-8")
        found = re.findall(r"^```sh\n(.*?)^```$|(?<!`)`([^`\n]+)`(?!`)", text, re.DOTALL | re.M)
        lines = [
            line
            for block, span in found
            for line in (_joined(block) if block else _complete([span]))
            if block or len(line.split()) > 2  # not the mere name of a command
        ]
        saved = tuple((each.file, each.text) for each in blocks(page) if each.file)
        yield Documented(page.stem, tuple(lines), saved)


def helps() -> Iterator[Documented]:
    """Yield the examples in the help of each command."""
    for name in COMMANDS:
        (command,) = parser(name)._subparsers._group_actions  # type: ignore[union-attr]
        text = command.choices[name].epilog or ""  # type: ignore[call-overload, index]
        yield Documented(f"{name} --help", tuple(_complete(text.splitlines())))


def scripts() -> Iterator[Documented]:
    """Yield the commands in the comments of the scripts for clusters, and in the examples."""
    for path in _SCRIPTS:
        text = path.read_text(encoding="utf-8")
        # What quickstart prints at its end.
        text = text.replace("$islands ", "islands ").replace("'$root/launch/supervise'", _SUPERVISE)
        lines = [line.lstrip("#") for line in text.splitlines()]
        yield Documented(path.relative_to(ROOT).as_posix(), tuple(_complete(lines)))
    for path in sorted((ROOT / "docs" / "examples").glob("*.py")):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        yield Documented(f"docs/examples/{path.name}", tuple(_complete(words.splitlines())))


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


def started(words: Sequence[str]) -> Started | None:
    """Return what a command starts, or None if it is no command of `islands`."""
    name = re.sub(r"^launch/(?=bind|supervise)", "islands-", words[0])
    if name == "islands":
        return Started(tuple(words[1:]))
    if name == "launch/quickstart":
        climb = ("demo/tour", "--islands", "8", "--interval", "10")  # as the script has it
        return Started(("run", *(words[1:] or climb)), 2)
    if name == "islands-supervise":
        return Started(tuple(words[1:]), supervised=True)
    batch = next((word for word in words if re.fullmatch(r"slurm/\w+\.sbatch", word)), None)
    if batch is not None and name in ("sbatch", batch):
        return _of_batch(words, batch)
    if name in ("mpirun", "srun", "islands-bind") and "python" in words:
        place = words.index("python")
        if list(words[place : place + 3]) == ["python", "-m", "islands"]:
            return Started(tuple(words[place + 3 :]), _ranks(words[:place]))
    return None


def _ranks(launcher: Sequence[str]) -> int:
    """Return the number of ranks in `mpirun -n 4`; without it, each slot of a host has one."""
    if found := re.search(r" -n ?(\d+)", " ".join(launcher)):
        return int(found[1])
    assert "--hostfile" in launcher, f"{shlex.join(launcher)}: how many ranks?"
    return sum(map(int, re.findall(r"^\w+ slots=(\d+)", HOSTS.read_text(), re.MULTILINE)))


def _of_batch(words: Sequence[str], batch: str) -> Started:
    place = words.index(batch)
    job = batch.removeprefix("slurm/").removesuffix(".sbatch")
    assert job in OF_JOBS, f"{batch} is no script"
    options = dict(word.removeprefix("--").split("=") for word in words[1:place])
    if words[0] == batch:
        # It submits itself, with a rank for each of the GPUs in site.env, which has this example.
        site = (ROOT / "slurm" / "site.env").read_text()
        (gpus,) = re.findall(r"# export SBATCH_GPUS_PER_NODE=\w+:(\d+)", site)
        options = {"ntasks-per-node": gpus}
    each = int(options.get("ntasks-per-node", 1))
    nodes = int(options.get("nodes", 1))
    return Started(tuple(words[place + 1 :]), nodes * each, job, each)
