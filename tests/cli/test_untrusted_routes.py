"""Data never run a script: all routes and spellings by which a file could name one.

The script leaves a mark and fails. Each route is tried as it is, which must leave no mark, and with
trust, which must leave one, so that the route does lead to the script.
"""

import io
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands_for_tests import Patch
from commands_of_slurm import Commands, in_array
from standing_ranks import StandingRanks

import islands
from islands.cli import main
from islands.cli.job import main as job
from islands.errors import IslandsError, UntrustedError, UsageError

MARK = Path("ran")
EVIL = "evil/a=b/evil.py"
PAYLOAD = f"from pathlib import Path\nPath({str(MARK)!r}).touch()\nraise RuntimeError('was run')\n"
QUICK = ["--backend", "cpu", "--threads", "1", "--quiet", "--stop", "generations=1"]

Settings = dict[str, Any]
SPELLINGS: dict[str, Settings] = {
    "short": {"migration": f"{EVIL}:P"},
    "dotted": {"migration.topology": f"{EVIL}:P"},
    "nested": {"migration": {"topology": f"{EVIL}:P"}},
    "improver": {"improver": f"{EVIL}:P"},
    "improver.name": {"improver": {"name": f"{EVIL}:P"}},
    "algorithm": {"algorithm": f"{EVIL}:P"},
    "encoding": {"encoding": f"{EVIL}:P"},
    "crossover": {"crossover": f"{EVIL}:P"},
    "mutation": {"mutation": f"{EVIL}:P"},
    "colony": {"colony": [{"islands": 2, "migration": {"topology": f"{EVIL}:P"}}]},
    "colonies": {"colonies": [{"crossover": f"{EVIL}:P"}]},
    "a colony's text": {"colonies": ["islands=2", f"islands=2 crossover={EVIL}:P"]},
    "a colony's quotes": {"colony": [f"islands=2 algorithm='{EVIL}:P'"]},
    "no name": {"crossover": EVIL},
    "another path": {"crossover": f"./evil/../{EVIL}:P"},
}
INSTANCE: dict[str, Settings] = {"instance": {"instance": f"{EVIL}:P"}}
CROSSOVER = f'crossover = "{EVIL}:P"'
COLONIES = f"colonies = ['islands=2 mutation={EVIL}:P']"


def toml(settings: Settings) -> str:
    def value(each: Any) -> str:
        if isinstance(each, dict):
            return "{" + ", ".join(f'"{key}" = {value(of)}' for key, of in each.items()) + "}"
        return f"[{', '.join(map(value, each))}]" if isinstance(each, list) else json.dumps(each)

    return "".join(f'"{key}" = {value(each)}\n' for key, each in settings.items())


def config(settings: Settings) -> str:
    Path("evil/settings.toml").write_text(toml(settings))
    return "evil/settings.toml"


def batch(settings: Settings, names: str = "demo/tsp", config: str | None = None) -> str:
    """Return the folder of an interrupted batch."""
    kept = {"is_open": False, "runs": 1, "options": settings, "config": config}
    Path("evil/batch.json").write_text(json.dumps(kept))
    Path("evil/instances.jsonl").write_text(f"{json.dumps(names)}\n")
    return "evil"


def listed(line: str) -> str:
    Path("list.txt").write_text(f"# a list\n{line}\n")
    return "list.txt"


def element(line: str) -> list[str]:
    return [listed(f"{line} {' '.join(QUICK)}"), "--out", "all"]


@pytest.fixture(autouse=True)
def _evil(own_cache: None) -> None:
    Path(EVIL).parent.mkdir(parents=True)
    Path(EVIL).write_text(PAYLOAD)
    Path("evil/evil.py").write_text(PAYLOAD)
    Path("evil/evil.py:problem").write_text("an instance?\n")


def stopped(settings: str) -> str:
    """Return the folder of a stopped run with a line added to its settings."""
    assert main(["run", "demo/tsp", "--out", "run", *QUICK]) == 0
    Path("run/solution.parquet").unlink()
    path = Path("run/run.toml")
    sign, lines = path.read_text().rpartition("# SHA-256")[0].split("\n", 1)
    path.write_text(f"{sign}\n{settings}\n{lines}")
    return "run"


def rejected_without_trust(perform: Callable[[list[str]], int], line: list[str]) -> None:
    assert perform(line) in (1, 2)
    assert not MARK.exists()
    perform([*line, "--trust"])
    assert MARK.exists(), "the test does not reach the script"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_settings_in_a_file_run_no_script(spelling: str) -> None:
    given = SPELLINGS[spelling]
    rejected_without_trust(main, ["resume", batch(given)])
    MARK.unlink()
    rejected_without_trust(main, ["run", "demo/tsp", "--config", config(given), *QUICK])


NAMED: dict[str, Callable[[], str]] = {
    "a folder": lambda: "run evil --batch",
    "a pattern": lambda: "run evil/*problem --batch",
    "a pattern of scripts": lambda: "run evil/*.py --batch",
    "a list": lambda: f"run @{listed(f'{EVIL}:P')} --batch",
    "a list of lists": lambda: f"run @{listed('evil')} --batch",
    "a batch": lambda: f"resume {batch({}, f'{EVIL}:P')}",
    "a batch's config": lambda: f"resume {batch({}, config=config(SPELLINGS['short']))}",
    "--batch --config": lambda: f"run demo/tsp --batch --config {config(SPELLINGS['nested'])}",
    "--config": lambda: f"run --config {config(INSTANCE['instance'])} {' '.join(QUICK)}",
    "--config of a series": lambda: (
        f"run --runs 2 --config {config(INSTANCE['instance'])} {' '.join(QUICK)}"
    ),
    "tune": lambda: f"tune demo/tsp --config {config(SPELLINGS['short'])} --over rho=0.5..0.7",
    "bench": lambda: f"bench quality --of demo/tsp --variant {config(SPELLINGS['short'])}",
    "resume": lambda: f"resume {stopped(CROSSOVER)}",
    "resume, colonies": lambda: f"resume {stopped(COLONIES)}",
    "submit resume": lambda: f"submit resume {stopped(CROSSOVER)} --dry-run",
    "submit": lambda: f"submit --dry-run --backend cpu --config {config(SPELLINGS['short'])}",
}


@pytest.mark.parametrize("route", NAMED)
def test_names_in_a_file_run_no_script(route: str) -> None:
    rejected_without_trust(main, NAMED[route]().split())


@pytest.mark.parametrize("is_pipe", [True, False], ids=["pipe", "file"])
def test_standard_input_runs_no_script(monkeypatch: Patch, is_pipe: bool) -> None:
    def perform(line: list[str]) -> int:
        if not is_pipe:
            monkeypatch.setattr(sys, "stdin", io.StringIO(f"{EVIL}:P\n"))
            return main(line)
        reader, writer = os.pipe()
        os.write(writer, f"{EVIL}:P\n".encode())
        os.close(writer)
        with os.fdopen(reader) as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            return main(line)

    rejected_without_trust(perform, ["run", "-", "--batch", "--out", "out", *QUICK])


LINES = [
    f"{EVIL}:P",
    f"demo/tsp --crossover={EVIL}:P",
    f"demo/tsp --crossover {EVIL}:P",
    f"demo/tsp --set crossover={EVIL}:P",
    f"demo/tsp --set 'crossover = {EVIL}:P'",
    f"demo/tsp --colony 'islands=2 crossover={EVIL}:P'",
    f"demo/tsp --colony='islands=2 crossover={EVIL}:P'",
    "demo/tsp --config evil/settings.toml",
    "resume run",
]


@pytest.fixture
def array(tmp_path: Path, monkeypatch: Patch) -> Callable[[list[str]], int]:
    """Return a function that runs the first element of a job array with some options."""
    Commands(tmp_path / "commands", monkeypatch)
    for name, value in in_array(1).items():
        monkeypatch.setenv(name, value)
    return lambda words: job(["sweep", *words])


Array = Callable[[list[str]], int]


@pytest.mark.parametrize("line", LINES)
def test_a_list_of_a_job_array_runs_no_script(array: Array, line: str) -> None:
    config(SPELLINGS["nested"])
    stopped(CROSSOVER)
    rejected_without_trust(array, element(line))


def test_a_list_of_a_job_array_may_not_trust_its_scripts(array: Array) -> None:
    rejected_without_trust(array, element(f"{EVIL}:P --trust"))
    assert array(element("demo/tsp --trust")) == 2
    assert not Path("all/1/run.toml").exists()


@pytest.mark.parametrize("has_slurm", [False, True])
def test_an_element_of_a_sweep_needs_slurm(monkeypatch: Patch, has_slurm: bool) -> None:
    """Outside of a job array, and inside of something that only has its variables."""
    for name, value in in_array(1).items():
        if has_slurm:
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert job(["sweep", "demo/tsp", *QUICK]) == 2


def test_words_after_a_list_may_name_its_scripts(array: Array) -> None:
    words = element(f"demo/tsp --crossover {EVIL}:P")
    assert array([*words, f"--crossover={EVIL}:P"]) == 2
    assert MARK.exists()


SENT = ["evil.py:d", "a=evil.py", "a,evil.py", "a evil.py"]
"""Names of folders that look as if they named a script next to them."""


def sent(name: str) -> str:
    """Return a folder of a run that names the script that its own name seems to name."""
    folder = Path("recv", name)
    assert main(["run", "demo/tsp", "--out", str(folder), *QUICK]) == 0
    for script in ("recv/evil.py", "evil.py"):
        Path(script).write_text(PAYLOAD)
    path = folder / "run.toml"
    text = path.read_text().rpartition("# SHA-256")[0]
    named = "recv/evil.py:P" if name == SENT[0] else "evil.py:P"
    path.write_text(text.replace('"demo/tsp"', f'"{named}"'))
    (folder / "list.txt").write_text(f"{named}\n")
    return str(folder)


OF_FOLDERS: dict[str, Callable[[str], list[str]]] = {
    "report": lambda sent: ["report", sent],
    "plot": lambda sent: ["plot", sent],
    "resume": lambda sent: ["resume", sent, "--stop", "generations=2"],
    "submit": lambda sent: ["submit", "resume", sent, "--stop", "generations=2", "--dry-run"],
    "run --config": lambda sent: ["run", "--config", f"{sent}/run.toml", *QUICK],
    "run --runs": lambda sent: ["run", "--runs", "2", "--config", f"{sent}/run.toml", *QUICK],
    "run --batch": lambda sent: ["run", f"@{sent}/list.txt", "--batch", *QUICK],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    [("report", SENT[0]), *((command, name) for command in [*OF_FOLDERS][1:] for name in SENT)],
)
def test_the_name_of_a_folder_names_no_script(command: str, name: str) -> None:
    line = OF_FOLDERS[command](sent(name))
    main(line)
    assert not MARK.exists()
    main([*line, "--trust"])
    assert MARK.exists(), "the test does not reach the script"


@pytest.mark.slow
@pytest.mark.parametrize("name", SENT)
def test_the_name_of_a_file_or_folder_as_an_instance_names_no_script(name: str) -> None:
    folder = sent(name)
    Path("recv/evil.py:P").write_text("an instance?")
    Path("recv/*.py").write_text(PAYLOAD)
    for line in (
        *(["verify", folder, folder], ["check", folder], ["instances", "show", folder]),
        *(["status", folder], ["export", folder, "--csv", "t.csv"], ["collect", folder]),
        *(["run", folder, *QUICK], ["run", folder, "--batch", *QUICK]),
        *(["run", "recv/evil.py:P", *QUICK], ["run", "recv/*.py", "--batch", *QUICK]),
        *(["run", "demo/tsp", "--start", folder, *QUICK], ["check", "recv/evil.py:P"]),
        *(["bench", "gpus", folder], ["bench", "quality", "--of", "recv/evil.py:P"]),
        ["tune", folder, "--over", "rho=0.5..0.7"],
        ["resume", folder, folder, "--stop", "generations=2"],
        ["plot", folder, "--instance", folder, "--out", "recv/evil.py:p.png"],
        ["run", "demo/tsp", "--out", folder, "--config", f"{folder}/run.toml", *QUICK],
    ):
        main(line)
        assert not MARK.exists(), line


@pytest.mark.parametrize("name", SENT)
def test_the_name_of_a_batch_names_no_script(name: str) -> None:
    Path("evil.py").write_text(PAYLOAD)
    Path(batch({"migration": "evil.py:P"})).rename(name)
    rejected_without_trust(main, ["resume", name])


@pytest.mark.parametrize("path", [*(f"{name}/l.txt" for name in SENT), "evil.py:,.txt"])
@pytest.mark.parametrize("folder_first", [False, True])
def test_the_name_of_a_list_names_no_script(array: Array, path: str, folder_first: bool) -> None:
    Path("evil.py").write_text(PAYLOAD)
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(f"demo/tsp --crossover evil.py:P {' '.join(QUICK)}\n")
    words = ["--out", "all", path] if folder_first else [path, "--out", "all"]
    rejected_without_trust(array, words)


def test_endless_lists_are_rejected(array: Array, monkeypatch: Patch, little_memory: None) -> None:
    Path("zeros.txt").symlink_to("/dev/zero")
    assert array(["zeros.txt", "--out", "all"]) == 2
    assert main(["run", "@zeros.txt", "--batch"]) == 2
    with Path("zeros.txt").open() as zeros:
        monkeypatch.setattr(sys, "stdin", zeros)
        assert main(["run", "-", "--batch"]) == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 100_000))
    assert main(["run", "-", "--batch"]) == 2


@pytest.fixture
def little_memory() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 29), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


CALLS: dict[str, Callable[..., object]] = {
    "solve": lambda **more: islands.solve("demo/tsp", **more),
    "solve_many": lambda **more: islands.solve_many(["demo/tsp"], **more),
    "iter_many": lambda **more: [*islands.iter_many(iter(["demo/tsp"]), **more)],
}


def rejected_without_trust_in_python(perform: Callable[..., object]) -> None:
    with pytest.raises(UntrustedError):
        perform()
    assert not MARK.exists()
    with pytest.raises(IslandsError, match="was run"):
        perform(trust=True)
    assert MARK.exists()
    MARK.unlink()


@pytest.mark.parametrize("call", CALLS)
def test_a_configuration_runs_no_script_from_python(call: str) -> None:
    perform = partial(CALLS[call], config=config(SPELLINGS["nested"]), generations=1, backend="cpu")
    rejected_without_trust_in_python(perform)
    with pytest.raises(UntrustedError):
        perform()
    assert not MARK.exists(), "trust ends with the call"


def test_a_folder_runs_no_script_from_python() -> None:
    folder = stopped(CROSSOVER)
    rejected_without_trust_in_python(partial(islands.resume, folder))
    for perform in (lambda: islands.load(f"{EVIL}:P"), lambda: islands.Solver(f"{EVIL}:P")):
        with pytest.raises(IslandsError, match="was run"):
            perform()
        MARK.unlink()
        with pytest.raises(UntrustedError):
            islands.resume(folder)
        assert not MARK.exists(), "trust ends with the call"


def test_calls_between_the_results_of_many_keep_their_trust() -> None:
    Path("mine.py").write_text(
        "import islands\nproblem = islands.tsp([[0, 0], [0, 9], [9, 0], [9, 9], [5, 5]])\n"
    )
    names = iter(["mine.py:problem"] * 12)
    for _, found in islands.iter_many(names, generations=1, backend="cpu", threads=2):
        assert islands.solve("mine.py:problem", generations=1, backend="cpu").cost == found.cost
        with pytest.raises(UntrustedError):
            islands.solve("demo/tsp", config=config(SPELLINGS["short"]), generations=1)
    assert not MARK.exists()


def test_a_file_of_names_is_not_taken_from_python() -> None:
    with Path(listed(f"{EVIL}:P")).open() as names, pytest.raises(UsageError):
        islands.solve_many(names, generations=1)
    assert not MARK.exists()
    with pytest.raises(IslandsError, match="was run"):
        islands.solve_many([f"{EVIL}:P"], generations=1)  # what the program states


def test_the_folders_of_instances_run_no_script(monkeypatch: Patch) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", os.pathsep.join(["evil", "evil/evil.py"]))
    for name in ("evil", "evil.py:problem", "problem"):
        assert main(["run", name, *QUICK]) == 2
    assert not MARK.exists()


@pytest.mark.parametrize(
    "line", [["run", "@list.txt", "--batch"], ["run", "demo/tsp", "--config", "evil/settings.toml"]]
)
def test_ranks_run_no_script(standing_ranks: StandingRanks, line: list[str]) -> None:
    listed(f"{EVIL}:P")
    config(SPELLINGS["a colony's text"])
    assert standing_ranks.run(2, "-m", "islands", *line, *QUICK).returncode != 0
    assert not MARK.exists()
    standing_ranks.run(2, "-m", "islands", *line, *QUICK, "--trust")
    assert MARK.exists()
