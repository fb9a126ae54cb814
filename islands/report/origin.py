"""How a run was made: the command that repeats it, the versions, and all settings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from islands.progress.result import Result
from islands.record.folder import SETTINGS
from islands.report.page import figures, table
from islands.report.recorded import COLONY, RecordedRun, flat

_NAMES = {"python": "Python", "numpy": "NumPy", "cupy": "CuPy"}
_PYTHON_PACKAGE = re.compile(r"-cuda\d+x$")


def origin(run: RecordedRun) -> str:
    """Return a table of what is needed to repeat a run."""
    return table(["origin", "value"], _origin_rows(run), words=True)


def settings(run: RecordedRun) -> str:
    """Return tables of all settings."""
    rows = [*_setting_rows(run.settings, _used(run))]
    size = -(-len(rows) // 3)
    parts = [rows[first : first + size] for first in range(0, len(rows), size)]
    tables = [table(["setting", "value"], part, words=True) for part in parts]
    return figures(*tables, kind="three")


def _origin_rows(run: RecordedRun) -> Iterator[tuple[str, str]]:
    """Yield the command, the date, the device and the versions, as far as they are recorded."""
    result = run.result
    line = ["islands", "run", "--config", str(run.folder / SETTINGS)]
    if result is not None and result.ranks > 1:
        line = ["mpirun", "-n", str(result.ranks), *line]
    yield "repeat it with", shlex.join(line)
    if result is None:
        return
    yield "same digest again", "yes" if result.reproducible else "no"
    if run.date:
        yield "finished", run.date
    yield "device", f"{result.device} (backend {result.backend})"
    if run.versions:
        yield "versions", ", ".join(f"{_named(k)} {v}" for k, v in run.versions.items())


def _named(package: str) -> str:
    name = _PYTHON_PACKAGE.sub("", package)
    return _NAMES.get(name, name)


def _used(run: RecordedRun) -> dict[str, str]:
    """Return what the run used for settings that left the choice to the program."""
    result = run.result
    if result is None:
        return {}
    used = {}
    if run.settings.get("backend") == "auto":
        used["backend"] = result.backend
    threads = _threads(result)
    if run.settings.get("threads") == 0 and threads:
        used["threads"] = threads
    return used


def _threads(result: Result) -> str:
    """Return the number of threads of a CPU, as its name states it."""
    found = re.fullmatch(r"CPU, (\d+) threads?", result.device)
    return found[1] if found is not None else ""


def _setting_rows(
    settings: Mapping[str, Any], used: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table of settings; each colony has one row."""
    for name, value in settings.items():
        if name != COLONY:
            yield name, f"{_shown(value)}, used: {used[name]}" if name in used else _shown(value)
            continue
        for number, colony in enumerate(value):
            own = (f"{key} = {_shown(each)}" for key, each in flat(colony).items())
            yield f"colony {number}", ", ".join(own)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # as in run.toml
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
