"""The settings of a site: the file site.env, which the batch scripts source too."""

from __future__ import annotations

import subprocess
from pathlib import Path

from islands.errors import InputError
from islands.paths import data_folder

_PREFIX = "SBATCH_"
_OTHER_NAMES = {"TIMELIMIT": "time", "JOB_NAME": "job-name", "NO_REQUEUE": "no-requeue"}


def find_site(named: Path | None) -> Path:
    """Return the path of site.env: that of `--site`, ./, ./slurm/, or the unedited one."""
    if named is not None:
        if not named.is_file():
            raise InputError(f"--site {named}: no such file. Copy and edit {_unedited()}")
        return named.resolve()
    for place in (Path("site.env"), Path("slurm", "site.env")):
        if place.is_file():
            return place.resolve()
    return _unedited()


def directives_of(site: Path) -> dict[str, str]:
    """Return the options of sbatch that a site sets through SBATCH_ variables."""
    command = 'set -a; . "$1" >/dev/null || exit; exec env -0'
    done = subprocess.run(
        ["bash", "-c", command, "bash", str(site)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise InputError(
            f"{site}: bash cannot source it: {done.stderr.strip() or done.returncode}. Correct it"
        )
    variables = dict(each.split("=", 1) for each in done.stdout.split("\0") if "=" in each)
    of_slurm = {
        name.removeprefix(_PREFIX): value
        for name, value in variables.items()
        if name.startswith(_PREFIX)
    }
    return {
        _OTHER_NAMES.get(name, name.lower().replace("_", "-")): value
        for name, value in of_slurm.items()
    }


def _unedited() -> Path:
    return data_folder("slurm") / "site.env"
