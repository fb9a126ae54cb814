"""The wheel alone in an empty environment, where a script brings the parts of a run."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from outside import Shifts
from scipy.optimize import linear_sum_assignment

from islands.backends.base import Backend

ROOT = Path(__file__).parents[1]
OUTSIDE = ROOT / "tests" / "helpers" / "outside.py"
PARTS = {
    "algorithm": "Breed",
    "crossover": "Alternate",
    "mutation": "Neighbours",
    "migration": "hopping",
}
RUN = ["run", "outside.py:shifts", "--encoding", "keys", "--improver", "none", "--islands", "5"]
RUN += ["--population", "24", "--interval", "4", "--migrants", "1"]
RUN += ["--set", "checkpoint.every=0.1"]
for _option, _name in PARTS.items():
    RUN += [f"--{_option}", f"outside.py:{_name}"]
LAUNCHES = ["run", "demo/tsp", "--algorithm", "threshold.py:Threshold", "--improver", "none"]
LAUNCHES += ["--islands", "5", "--population", "24", "--interval", "4", "--migrants", "1"]
LAUNCHES += ["--migration", "outside.py:hopping", "--set", "checkpoint.every=0.1"]
"""With three launches a generation, a table, derived and travelling fields."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment that holds the wheel, and what it depends on."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    place = tmp_path_factory.mktemp("wheel")
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = place.glob("islands-*.whl")
    venv.create(place / "env", symlinks=True)
    (packages,) = (place / "env").glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    # The dependencies are those that are here, but not the package of this checkout.
    for name in ("purelib", "platlib"):
        for each in Path(sysconfig.get_path(name)).iterdir():
            if "islands" not in each.name and each.suffix != ".pth":
                link = packages / each.name
                link.exists() or link.symlink_to(each)
    return place / "env" / "bin" / "python"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    for script in (OUTSIDE, OUTSIDE.with_name("threshold.py")):
        shutil.copy(script, tmp_path)


def islands(python: Path, *line: str) -> list[str]:
    return [str(python), "-m", "islands", *line]


def done(*line: str) -> dict[str, Any]:
    line = (*line, "--json")
    ran = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


def killed(line: list[str], number: signal.Signals) -> int:
    """Start what runs for ever in `a`, end it by a signal, and return its last checkpoint."""
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(1200):
                if len(list(Path("a").glob("checkpoints/*/manifest.json"))) > 1:
                    break
                assert process.poll() is None, "it ended by itself"
                time.sleep(0.05)
            process.send_signal(number)
            status = process.wait(60)
        finally:
            process.kill()
    assert status == {signal.SIGKILL: -9, signal.SIGTERM: 75}[number]
    manifests = Path("a").glob("checkpoints/*/manifest.json")
    return max(int(path.parent.name.partition(".")[0]) for path in manifests)


def test_the_environment_holds_the_wheel_alone(python: Path) -> None:
    code = "import islands; print(islands.__file__); from islands.paths import data_folder;"
    code += "print(data_folder('kernels'))"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    for path in ran.stdout.split():
        assert Path(path).is_relative_to(python.parents[1])


@pytest.mark.parametrize("begun_in", ["python", "the command line"])
def test_a_run_of_a_script_is_killed_and_goes_on_on_other_ranks(
    backend: Backend, python: Path, mpirun: list[str], begun_in: str
) -> None:
    if begun_in == "python":
        last = killed([str(python), "outside.py", "a"], signal.SIGTERM)
    else:
        line = islands(python, *RUN, "--stop", "generations=1000000000", "--out", "a")
        line += ["--backend", "cpu", "--threads", "1"]
        last = killed(line, signal.SIGKILL)
    stop = ["--stop", f"generations={last + 103}"]
    resumed = done(*mpirun, "3", *islands(python, "resume", "a", *stop, "--threads", "1"))
    whole = done(*islands(python, *RUN, *stop, "--backend", backend.name, "--out", "b"))
    assert (resumed["ranks"], whole["ranks"]) == (3, 1)
    for key in ("digest", "cost", "solution", "island", "best_generation", "evaluations"):
        assert resumed[key] == whole[key]
    table = Shifts().table
    cost = sum(int(table[worker, shift]) for shift, worker in enumerate(resumed["solution"]))
    assert resumed["cost"] == cost
    assert sorted(resumed["solution"]) == list(range(len(table)))
    # No order is better than the best, and an evolved one is better than most.
    assert table[linear_sum_assignment(table)].sum() <= cost < table.mean() * len(table) / 2


def test_an_algorithm_with_launches_of_its_own_goes_on_too(
    backend: Backend, python: Path, mpirun: list[str]
) -> None:
    line = islands(python, *LAUNCHES, "--stop", "generations=1000000000", "--out", "a")
    last = killed([*line, "--backend", "cpu", "--threads", "1"], signal.SIGKILL)
    stop = ["--stop", f"generations={last + 103}"]
    resumed = done(*mpirun, "2", *islands(python, "resume", "a", *stop, "--threads", "1"))
    whole = done(*islands(python, *LAUNCHES, *stop, "--backend", backend.name, "--out", "b"))
    for key in ("digest", "cost", "solution", "evaluations"):
        assert resumed[key] == whole[key]
    assert sorted(resumed["solution"]) == list(range(len(resumed["solution"])))
