"""The measurements of the documentation: their commands, and how docs/measure runs them.

The result is a file NAME.json like the output of `islands bench --json`, with its provenance and
its tables as text, or for `islands reproduce` a folder.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from islands.backends import choose
from islands.doctor.nvidia import gpus
from islands.paths import published
from islands.record.provenance import provenance
from islands.text import count

HERE = Path(__file__).resolve().parent
LIST = HERE / "measurements.toml"
_KEPT = (
    *("instance", "algorithm", "cost", "best_known", "gap", "seconds", "evaluations", "device"),
    *("generations", "seed", "bound", "bound_estimate", "bound_kind", "bound_seconds"),
)
"""The keys of the JSON of a run that are kept."""
_EXPERIMENT = ("*.txt", "provenance.json")
"""The files of the folder of an experiment that are kept."""


def listed(path: Path = LIST) -> dict[str, list[str]]:
    """Return the command lines of each measurement in a list."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    lines = {name: [each] if isinstance(each, str) else each for name, each in found.items()}
    return {name: [" ".join(line.split()) for line in each] for name, each in lines.items()}


class Ran(NamedTuple):
    """A command that has run."""

    line: str
    output: str
    seconds: float
    processor_seconds: float
    """User and system time of the command and its processes."""


def measure(name: str, lines: Sequence[str], folder: Path) -> None:
    """Run the commands of a measurement in an empty folder, and write its results to `folder`."""
    with TemporaryDirectory() as temporary:
        place = Path(temporary)
        (place / "docs").symlink_to(HERE)
        ran = [run(line, place) for line in lines]
        if (place / name / "provenance.json").exists():
            _copy(place / name, folder / name)
            return
    with published(folder / f"{name}.json") as path:
        path.write_text(json.dumps(measurement(ran)) + "\n", encoding="utf-8")


def run(line: str, place: Path) -> Ran:
    """Run a command line in a folder, with this checkout and this Python."""
    words = [sys.executable if word == "python" else word for word in shlex.split(line)]
    if words[0] == "islands":
        words[:1] = [sys.executable, "-m", "islands"]
    others = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(HERE.parent), *([others] if others else [])])
    began, before = time.perf_counter(), _processor_seconds()
    done = subprocess.run(
        words, cwd=place, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{line}: ended with status {done.returncode}")
    seconds = time.perf_counter() - began
    return Ran(line, done.stdout, seconds, _processor_seconds() - before)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measurement(ran: Sequence[Ran]) -> dict[str, Any]:
    """Return the provenance of the outputs of commands, and their tables."""
    first, *more = ran
    times = {
        "lines": [each.line for each in ran],
        "seconds": sum(each.seconds for each in ran),
        "processor_seconds": sum(each.processor_seconds for each in ran),
    }
    if more:
        return {"provenance": _made(first.line) | times, "printed": {"times": _times(ran)}}
    if "--json" not in shlex.split(first.line):
        return {"provenance": _made(first.line) | times, "printed": {"text": first.output}}
    found = json.loads(first.output.splitlines()[-1])  # a launcher may print lines before it
    if "provenance" in found:  # the output of islands bench
        return {**found, "provenance": found["provenance"] | times}
    runs = [{key: each[key] for key in _KEPT} for each in found.get("runs", [found])]
    made = _made(first.line) | {"devices": list(dict.fromkeys(each["device"] for each in runs))}
    return {"provenance": made | times, "printed": {"runs": table_of_runs(runs)}, "runs": runs}


def _made(line: str) -> dict[str, Any]:
    """Return the provenance of the output of a command."""
    found = gpus() if "cuda" in line.split() else []
    devices = list(dict.fromkeys(gpu.name for gpu in found)) or [choose("cpu").device]
    driver = found[0].driver if found else None
    command = shlex.split(line.removeprefix("islands "))
    return {**provenance(), "devices": devices, "driver": driver, "command": command}


def _times(ran: Sequence[Ran]) -> str:
    """Return the times of commands as a table."""
    rows = (f"{each.seconds:>8.2f} {each.processor_seconds:>10.2f}  {each.line}" for each in ran)
    return "\n".join([f"{'seconds':>8} {'processor':>10}  command", *rows])


def table_of_runs(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the results of `islands run --json` as a table, with bounds if there are any.

    The column "below" is the gap between the bound and the best known value, in per cent.
    """
    has_bounds = any(each["bound_kind"] for each in runs)
    head = f"{'instance':<20} {'algorithm':<10} {'cost':>12} {'gap %':>8} {'seconds':>8}"
    head += f" {'evaluations/s':>14}"
    if has_bounds:
        head += f" {'bound':>12} {'below %':>8} {'seconds':>8}  kind"
    return "\n".join([head, *(_row_of_run(each, has_bounds) for each in runs)])


def _row_of_run(run: Mapping[str, Any], has_bounds: bool) -> str:
    row = f"{run['instance']:<20} {run['algorithm']:<10} {_shown(run['cost']):>12}"
    row += f" {_shown(run['gap'], '.4f'):>8} {run['seconds']:>8.2f}"
    row += f" {count(run['evaluations'] / run['seconds']):>14}"
    if not has_bounds:
        return row
    bound = run["bound"] if run["bound"] is not None else run["bound_estimate"]
    best = run["best_known"]
    below = 100 * (best - bound) / best if best and bound is not None else None
    row += (
        f" {_shown(bound):>12} {_shown(below, '.4f'):>8} {_shown(run['bound_seconds'], '.2f'):>8}"
    )
    return f"{row}  {run['bound_kind']}"


def _shown(value: float | None, form: str = "") -> str:
    """Format a number; return a dash for None."""
    return "-" if value is None else f"{value:{form}}"


def _copy(experiment: Path, folder: Path) -> None:
    """Copy the tables and the provenance of an experiment."""
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for pattern in _EXPERIMENT:
        for path in experiment.glob(pattern):
            shutil.copy(path, new)
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
