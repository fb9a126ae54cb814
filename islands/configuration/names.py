"""Names of files and scripts in the settings of a run, valid in any working directory."""

from __future__ import annotations

from pathlib import Path

from islands.custom import scripts
from islands.custom.scripts import is_reference
from islands.errors import UsageError
from islands.instances.locate import parted
from islands.paths import reading
from islands.problems.base import Problem


def start_name(name: str, problem: Problem) -> str:
    """Return the full name of a solution's file, which may be next to the instance's file."""
    with reading(name):
        neighbour = problem.path and not Path(name).exists() and problem.path.parent / name
        if neighbour and neighbour.exists():
            return lasting(str(neighbour))
    return lasting(name)


def lasting(name: str) -> str:
    """Return a name that is valid in any folder: an absolute path, or another name unchanged."""
    if is_reference(name):
        return scripts.lasting(name)
    with reading(name):
        path = Path(name) if Path(name).exists() else parted(Path(name))[0]
        part = Path(name).name.removeprefix(path.name)
        lasting = f"{path.resolve()}{part}" if path.exists() else name
    try:
        lasting.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{lasting!a}: is not UTF-8, which run.toml requires. Rename the file or its folder"
        ) from None
    return lasting
