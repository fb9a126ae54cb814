"""The program knows each documented command, its options and its settings."""

import os
import re
import tomllib
from functools import cache

import pytest
from pages import PAGES, ROOT, blocks, documented, of_islands, words_of
from scripts_for_tests import script

import islands
from islands.cli import parsed
from islands.cli.run import of_arguments
from islands.display.messages import opening
from islands.engine.loading import load_and_resolve
from islands.instances.catalogue import catalogue

_SCRIPTS = ("launch/quickstart", "tests/run", "docs/measure", "docs/generate", "docs/plot")
_OF_SHELL = ("export", "ls", "cmp", "sleep", "kill", "git", "cp", ".")
_LAUNCHERS = ("sbatch", "slurm/sweep.sbatch")
_SAVED = {block.file for page in PAGES for block in blocks(page)}
"""The scripts that readers save from a page."""
_READERS_OWN = re.compile(r"\.py|--config|--start|--batch|--runs|/.*/|\.tsp|\.txt|\.toml")
"""What names files of the reader, or several instances."""


@cache
def every_line() -> list[tuple[str, str]]:
    """Return all documented commands, and those of docs/measure, each with its place."""
    known = script(ROOT / "docs" / "measure").known()
    of_measure = [(name, line) for name, lines in known.items() for line in lines]
    return [each for each in (*documented(), *of_measure) if words_of(each[1])]


def header(words: list[str], ranks: int = 1) -> list[str]:
    """Return the first lines of a run with these words, on ranks with a CPU or a GPU each."""
    args = parsed(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMPI_COMM_WORLD_RANK", "0")
        patch.setenv("OMPI_COMM_WORLD_SIZE", str(ranks))
        name = args.instances[0] if args.instances else "demo/tour"
        resolved = load_and_resolve(of_arguments(args).also({"instance": name}))
    return opening(islands.__version__, resolved, resolved.deal(ranks)).splitlines()


def require_known(words: list[str]) -> None:
    for path in words:
        if path.startswith(("launch/", "tests/", "docs/")):
            assert (ROOT / path.partition(":")[0]).exists(), f"{path} is missing"
    if own := of_islands(words):
        if "--help" not in own:
            parsed(own)
    elif words[:2] == ["pip", "install"]:
        extras = words[2].removeprefix(".[").removesuffix("]").split(",")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        assert {*extras} <= {*project["project"]["optional-dependencies"]}
    elif files := [word for word in words if word.endswith(".py")]:
        examples = ROOT / "docs" / "examples"
        assert all(
            each in _SAVED or (ROOT / each).is_file() or (examples / each).is_file()
            for each in files
        )
    elif words[0] in _SCRIPTS:
        assert os.access(ROOT / words[0], os.X_OK)
    else:
        assert words[0] in (*_OF_SHELL, *_LAUNCHERS), "unknown command"


def test_each_command_and_its_options_are_known() -> None:
    for place, line in every_line():
        try:
            require_known(words_of(line))
        except (islands.IslandsError, AssertionError) as error:
            raise AssertionError(f"{place}: {line}") from error


@pytest.mark.slow
@pytest.mark.usefixtures("published")
def test_each_run_has_settings_and_an_instance_that_exist() -> None:
    for _, line in every_line():
        words = of_islands(words_of(line))
        if words[:1] == ["run"] and not _READERS_OWN.search(line):
            assert header(words), line


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_headers_match_islands_and_ranks_as_documented(device: str) -> None:
    page = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    section = page.partition("## Ranks and islands\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `mpirun -n (\d) python -m islands (.*)` \| `(.*)` \|$", section, re.M)
    assert len(rows) == 3
    for ranks, line, shown in rows:
        assert shown in header([*line.split(), "--backend", device], int(ranks)), line


def test_published_names_are_those_of_the_catalogue() -> None:
    known = {*catalogue().names()}
    sets = {name.partition("/")[0] for name in known}
    for place, line in every_line():
        for word in of_islands(words_of(line)):
            name = re.fullmatch(r"(\w+)/\w+", word)
            assert not name or name[1] not in sets or word in known, f"{place}: {line}"
