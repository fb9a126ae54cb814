"""The program accepts every command in README and docs."""

from __future__ import annotations

import os
import re
import tomllib
from itertools import takewhile

import pytest
from pages import PAGES, ROOT, Block, blocks, commands
from scripts_for_tests import script

from islands.bench.variants import variants
from islands.cli import COMMANDS, parser
from islands.cli.run import options
from islands.errors import UsageError
from islands.instances.formats import FOUND_BY_NAME
from islands.instances.locate import find
from islands.problems import load
from islands.spec.resolve import layers, resolve

_KINDS = {"tsp": "tsplib national vlsi tsp cities", "qap": "qaplib", "mkp": "orlib sac94 gk mknap1"}
"""Words in the names of instances, by the demo that replaces them here."""
_LAUNCHERS = ("mpirun", "srun", "islands-bind")
_SCRIPTS = ("launch/quickstart", "tests/run", "docs/measure", "docs/generate")
_OF_SHELL = ("export", "ls", "cmp", "sleep", "kill", "git", "cp", ".")
_BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page))
    if block.language == "sh"
]
_MEASUREMENTS = [
    pytest.param(line, id=f"{name}-{number}")
    for name, lines in script(ROOT / "docs" / "measure").known().items()
    for number, line in enumerate(lines)
]
_SAVED = {block.file for page in PAGES for block in blocks(page)}
"""The scripts that readers save from a page."""


def demo(instance: str) -> str:
    parts = re.split(r"\W", instance)
    (kind,) = {kind for kind, words in _KINDS.items() if {*words.split(), kind} & {*parts}}
    return f"demo/{kind}"


def require_taken(words: list[str]) -> None:
    """Parse the arguments of `islands`; resolve the settings of a run, with a demo as instance.

    So are those of methods that `islands bench quality` compares.
    """
    args = parser(words[0]).parse_args(words)
    if "variant" in args and ".py:" not in args.of[0]:
        for each in variants(args.variant):
            name = find(args.of[0], FOUND_BY_NAME).name
            each.resolved(load(demo(name)), 1, {"backend": "cpu"})
    if words[0] != "run" or any(".py:" in word for word in words):
        return
    args.instances, given = [], args.instances
    for instance in given or ["demo/tsp"]:
        asked = {**options(args), "instance": demo(instance)}
        asked.pop("format", None)
        resolve(layers(asked), load(asked["instance"]))


def islands_line(words: list[str]) -> list[str]:
    """Return the arguments of `islands` in a command; check its launcher."""
    if words[0] == "islands-supervise":
        ranks = next(place for place, word in enumerate(words) if word.isdigit())
        rest = words[ranks + 1 :]
        return rest if rest[0] in COMMANDS else ["run", *rest]
    if words[0] == "sbatch" or words[0].endswith(".sbatch"):
        (place,) = (place for place, word in enumerate(words) if word.endswith(".sbatch"))
        assert (ROOT / words[place]).is_file()
        return ["run", *words[place + 1 :]]
    if words[0] in _LAUNCHERS:
        place = words.index("python")
        assert words[place : place + 3] == ["python", "-m", "islands"]
        return words[place + 3 :]
    assert words[0] == "islands", f"{' '.join(words)}: unknown command"
    return words[1:]


def require_known(block: Block) -> None:
    """Require commands of the program, of its scripts or of the shell."""
    for words in commands(block):
        while re.match(r"\w+=", words[0]):
            words = words[1:]
        installed = [word.replace("islands-", "launch/") for word in words]
        for word in installed:
            if word.startswith(("launch/", "tests/")) or word in _SCRIPTS:
                assert os.access(ROOT / word, os.X_OK), f"{word} is no script"
        if words[:2] == ["pip", "install"]:
            extras = words[2].removeprefix(".[").removesuffix("]").split(",")
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
            assert set(extras) <= set(project["project"]["optional-dependencies"])
        elif words[0] == "python" and words[1].endswith(".py"):
            assert words[1] in _SAVED or (ROOT / words[1]).is_file(), f"{words[1]} is no script"
        elif words[0] not in (*_OF_SHELL, *_SCRIPTS):
            own = takewhile(lambda word: word[:1] not in (">", "&"), islands_line(words))
            require_taken(list(own))


@pytest.mark.parametrize("block", _BLOCKS)
def test_the_program_accepts_each_command(block: Block) -> None:
    require_known(block)


@pytest.mark.parametrize("line", _MEASUREMENTS)
def test_the_program_accepts_the_commands_of_measurements(line: str) -> None:
    require_known(Block("sh", line, None))


def test_wrong_commands_are_detected() -> None:
    method = "islands bench quality --of qaplib/tai60a --variant 'roh=0.6'"
    for line in (
        "islands run --sed 1",
        "islands walk",
        "islands run demo/tsp --set roh=0.6",
        method,
    ):
        with pytest.raises(UsageError, match=r"--sed|walk|roh"):
            require_known(Block("sh", line, None))
    for line in (
        "pip install '.[cuda99]'",
        "launch/bond python -m islands run",
        "iland run",
        "python no.py",
    ):
        with pytest.raises(AssertionError):
            require_known(Block("sh", line, None))
