"""The program accepts each documented command, with its own instance and number of ranks."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pages
import pytest
from commands_of_slurm import Commands
from pages import PAGES, ROOT, Documented, Started, blocks, started, words_of
from scripts_for_tests import script
from without_search import tried

from islands import problems
from islands.errors import IslandsError
from islands.instances import locate
from islands.instances.catalogue import catalogue
from islands.paths import data_folder

_SCRIPTS = ("launch/quickstart", "tests/run", "docs/measure", "docs/generate", "docs/plot")
_OF_SHELL = ("export", "ls", "cmp", "sleep", "kill", "git", "cp", ".")
_SAVED = {block.file for page in PAGES for block in blocks(page)}
"""The scripts that readers save from a page."""
EXAMPLES = ROOT / "docs" / "examples"
_DEMOS = data_folder("instances")
_SPREAD = """
import islands

problem = islands.permutation(8, function=lambda order: int(order[0]))


class Spread(islands.Crossover):
    name, encodings = "spread", ("permutation",)
    header = islands.Header("spread", "")
"""


def demo(name: str) -> Callable[[Path], None]:
    """Return what copies a file of a demo."""
    return lambda to: _copy(_DEMOS / name, to)


def run_of(line: str) -> Callable[[Path], None]:
    """Return what begins a run in a folder."""

    def begin(folder: Path) -> None:
        _stand_in(line.split())
        words = ("run", *line.split(), "--out", str(folder))
        tried(Started(words), has_gpus=False, captured=folder.with_name("captured"))
        assert (folder / "run.toml").exists()

    return begin


def settings(to: Path) -> None:
    """Write the settings of a run."""
    run_of("demo/tsp")(to.with_name("any"))
    _copy(to.with_name("any") / "run.toml", to)


def text(words: str) -> Callable[[Path], None]:
    """Return what writes a file."""
    return lambda to: _write(to, words)


STAND_INS: dict[str, tuple[Callable[[Path], None], str]] = {
    "my/cities.tsp": (demo("tsp/demo.tsp"), "cities of the reader"),
    "first.tour": (demo("tsp/demo.opt.tour"), "a tour of these cities"),
    "my/mknap1.txt": (
        lambda to: _copy(Path(os.environ["ISLANDS_INSTANCES"], "mkp/orlib/mknapcb1.txt"), to),
        "a file with several knapsacks",
    ),
    **{
        f"setcover/{name}.txt": (
            lambda to: _copy(Path(os.environ["ISLANDS_INSTANCES"], "setcover", to.name), to),
            "the unicost file of a covering, of which the catalogue knows the one with costs",
        )
        for name in ("scp41", "scp51", "scp61", "scpb1", "scpc1", "scpd1")
    },
    "hosts": (lambda to: _copy(pages.HOSTS, to), "the reader's hosts: those of the example"),
    "sweep.txt": (
        text("tsplib/eil51 --seed 3 --algorithm brkga --set rho=0.7\ntsplib/eil51 --seed 4\n"),
        "a list of the reader; its first line is the one in the comment of sweep.sbatch",
    ),
    "old.json": (
        lambda to: _copy(ROOT / "docs" / "measured" / "tabu-cpu.json", to),
        "what the command before prints",
    ),
    "first/bench.json": (
        lambda to: _copy(ROOT / "docs" / "measured" / "qap-cpu.json", to),
        "what the command before writes: the measurement of other instances",
    ),
    "mine.py": (text(_SPREAD), "a script of the reader, with a problem and a crossover"),
    "elsewhere/mine.py": (text(_SPREAD), "the same script in another folder"),
    "flow.py": (
        lambda to: _copy(ROOT / "docs" / "examples" / "flow_shop.py", to),
        "the problem of another page, which is a flow shop too",
    ),
    "run.toml": (settings, "those of any run"),
    "runs/zi929-20260101-120000": (
        run_of("national/zi929 --algorithm ga --crossover mine.py:Spread"),
        "an earlier run of the reader, with a part of a script",
    ),
    "runs/qap-20260101-120000": (
        run_of("demo/qap --backend cpu"),
        "an earlier run of the reader, submitted by the line above",
    ),
    "runs/sw24978-7": (
        run_of("national/sw24978"),
        "the run that the first command of the comment makes in job 7",
    ),
}
"""What stands in for files and folders of a reader, and what these are.

A page's own scripts, and files that its own commands have written before, come first.
"""


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def _write(to: Path, words: str) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(words)


def _stand_in(words: Sequence[str]) -> None:
    """Create the files that a command names and the reader has."""
    for name, (make, _) in STAND_INS.items():
        if any(_names(word, name) for word in words) and not Path(name).exists():
            make(Path(name))


def _names(word: str, name: str) -> bool:
    return re.search(rf"(^|[=,]){re.escape(name)}($|[:/,])", word) is not None


_PUBLISHED = {name for name in catalogue().names() if not name.startswith("demo/")}
_NAMES = _PUBLISHED | {name.partition("/")[2] for name in _PUBLISHED}
_SETS = {name.partition("/")[0] for name in _PUBLISHED}
_FROM_SETS = ("runs/zi929-20260101-120000", "runs/sw24978-7", "sweep.txt", "my/mknap1.txt:02")
"""Stand-ins that are made from published instances."""


def is_published(words: Sequence[str]) -> bool:
    """Return whether a command needs published instances."""
    parts = {part for word in words for part in re.split(r"[,=]", word)}
    uses_default = parts & {"quality", "colonies", "gpus"} and not parts & {"--of", "--mixes"}
    return (
        "reproduce" in words
        or bool(uses_default)
        or any(
            part in _NAMES or part in _FROM_SETS or part.partition("/")[0] in _SETS
            for part in (part.removesuffix("/run.toml") for part in parts)
        )
    )


def needs_gpus(command: Started) -> bool:
    """Return whether a command works only with GPUs; all others work with them, too."""
    words = " ".join(command.words)
    return "--backend cuda" in words or (bool(command.job) and "--backend cpu" not in words)


def require_known(line: str, *, has_gpus: bool = False) -> None:
    """Require a command of the program, of its scripts or of the shell."""
    words = words_of(line)
    if not words:
        return
    for word in words:
        path = re.sub("^islands-(?=bind|supervise)", "launch/", word)
        if path.startswith(("launch/", "tests/", "docs/")):
            assert (ROOT / path.partition(":")[0]).exists(), f"{line}: {path} is missing"
    if words[:2] == ["pip", "install"]:
        extras = words[2].removeprefix(".[").removesuffix("]").split(",")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        assert set(extras) <= set(project["project"]["optional-dependencies"])
    elif command := started(words):
        if has_gpus or not needs_gpus(command):
            _stand_in(words)
            tried(command, has_gpus=has_gpus, captured=Path("captured"))
    elif words[-1].endswith(".py") or words[0] == "python":
        (file,) = [word for word in words if word.endswith(".py")]
        assert file in _SAVED or (ROOT / file).is_file() or (EXAMPLES / file).is_file(), line
    elif words[0] in _SCRIPTS:
        assert os.access(ROOT / words[0], os.X_OK), f"{words[0]} is no script"
    else:
        assert words[0] in _OF_SHELL, f"{line}: unknown command"


def troubles(page: Documented, *, has_gpus: bool, published: bool) -> list[str]:
    """Return what is wrong with the commands of a page, tried one after the other."""
    for name, content in page.files:
        _write(Path(name), content)
    found = []
    for line in page.lines:
        if is_published(words_of(line)) == published:
            try:
                require_known(line, has_gpus=has_gpus)
            except (IslandsError, AssertionError) as error:
                found.append(f"{line}\n    {type(error).__name__}: {error}")
    return found


@pytest.fixture(scope="module", autouse=True)
def _read_once() -> Iterator[None]:
    """Find and read each instance once: many commands name the same ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(locate, "Index", cache(locate.Index))  # no command adds a file to a set
        for readers in (problems.READERS, problems.PART_READERS):
            for name, reader in readers.items():
                patch.setitem(readers, name, cache(reader))
        yield


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with the examples and the scripts of a checkout."""
    folder = tmp_path / "here"
    folder.mkdir()
    for name in ("docs", "launch", "slurm"):
        (folder / name).symlink_to(ROOT / name)
    for path in EXAMPLES.glob("*.py"):
        _copy(path, folder / path.name)
    monkeypatch.chdir(folder)
    Commands(tmp_path / "bin", monkeypatch)
    for name in [name for name in os.environ if name.startswith(("SLURM_", "SBATCH_"))]:
        monkeypatch.delenv(name)
    return folder


SOURCES = [
    pytest.param(each, has_gpus, id=f"{each.name}-{'gpus' if has_gpus else 'cpus'}")
    for each in (*pages.pages(), *pages.helps(), *pages.scripts())
    if each.lines
    for has_gpus in (False, True)
]
MEASUREMENTS = [
    pytest.param(Documented(name, tuple(lines)), "--backend cpu" not in lines[0], id=name)
    for name, lines in script(ROOT / "docs" / "measure").known().items()
]


@pytest.fixture
def _packages() -> None:
    """Require what some of the commands import."""
    for name in ("scipy", "matplotlib"):
        pytest.importorskip(name)


@pytest.mark.slow
@pytest.mark.usefixtures("here", "_packages")
@pytest.mark.parametrize(("page", "has_gpus"), [*SOURCES, *MEASUREMENTS])
def test_the_program_accepts_the_commands_of(page: Documented, has_gpus: bool) -> None:
    found = troubles(page, has_gpus=has_gpus, published=False)
    assert not found, "\n".join(found)


@pytest.mark.usefixtures("here", "_packages", "published")
@pytest.mark.parametrize(("page", "has_gpus"), [*SOURCES, *MEASUREMENTS])
def test_the_program_accepts_the_commands_on_published_instances_of(
    page: Documented, has_gpus: bool
) -> None:
    found = troubles(page, has_gpus=has_gpus, published=True)
    assert not found, "\n".join(found)


@pytest.mark.usefixtures("here")
def test_a_command_has_its_own_number_of_ranks() -> None:
    for line, header in (
        ("mpirun -n 4 islands-bind python -m islands run demo/tsp", "8 islands on 4 ranks, 2 each"),
        ("mpirun -n 3 python -m islands run --islands 1", "1 island on a team of 3 ranks"),
        ("islands-supervise -r 2 2 --islands 2", "2 islands on 2 ranks, 1 each"),
        ("launch/quickstart", "8 islands on a team of 2 ranks"),
        ("mpirun --hostfile hosts python -m islands run", "8 islands on 8 ranks, 1 each"),
        (
            "sbatch --nodes=2 --gpus-per-node=4 --ntasks-per-node=4 slurm/run.sbatch demo/tsp",
            "8 islands on 8 ranks, 1 each",
        ),
        (
            "islands submit demo/tsp --nodes 2 --gpus-per-node 8 --islands 4",
            "4 islands on 4 teams of 4 ranks",
        ),
    ):
        command = started(words_of(line))
        assert command is not None
        printed = tried(command, has_gpus=True, captured=Path("captured"))
        assert f"\n{header}\n" in printed, line
