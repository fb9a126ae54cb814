"""The settings of a site: the file site.env, which the batch scripts source too."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from islands.errors import InputError
from islands.paths import data_folder
from islands.slurm.commands import without_options

_PREFIX = "SBATCH_"
_VALUES = (
    *("ACCOUNT", "ACCTG_FREQ", "BATCH", "CLUSTERS", "CONSTRAINT", "CONTAINER", "CORE_SPEC"),
    *("CPUS_PER_GPU", "DELAY_BOOT", "DISTRIBUTION", "EXCLUSIVE", "EXPORT", "GET_USER_ENV"),
    *("GPU_BIND", "GPU_FREQ", "GPUS", "GPUS_PER_NODE", "GPUS_PER_TASK", "GRES", "GRES_FLAGS"),
    *("HINT", "JOB_NAME", "MEM_BIND", "MEM_PER_CPU", "MEM_PER_GPU", "NETWORK", "OPEN_MODE"),
    *("PARTITION", "POWER", "PROFILE", "QOS", "RESERVATION", "SIGNAL", "THREAD_SPEC"),
    *("THREADS_PER_CORE", "WAIT_ALL_NODES", "WCKEY"),
)
"""SBATCH_ variables that are options of the same name."""
_OTHER_NAMES = {"TIMELIMIT": "time", "MEM_PER_NODE": "mem", "WAIT4SWITCH": "switches"}
_FLAGS = ("NO_REQUEUE", "OVERCOMMIT", "REQUEUE", "SPREAD_JOB", "USE_MIN_NODES")
"""SBATCH_ variables of options without a value. Others concern only the command sbatch."""


def find_site(named: Path | None) -> Path:
    """Return the path of site.env: the named file, one in ./ or ./slurm/, or the unedited one."""
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
        ["bash", "-c", command, "bash", str(site)],
        env=without_options(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise InputError(
            f"{site}: bash cannot source it: {done.stderr.strip() or done.returncode}. Correct it"
        )
    variables = dict(each.split("=", 1) for each in done.stdout.split("\0") if "=" in each)
    found = {
        name.removeprefix(_PREFIX): value
        for name, value in variables.items()
        if name.startswith(_PREFIX)
    }
    values = {
        _OTHER_NAMES.get(name) or _option(name): value
        for name, value in found.items()
        if name in _VALUES or name in _OTHER_NAMES
    }
    return values | {_option(name): "" for name in found if name in _FLAGS}


def difference_from_site(environment: Mapping[str, str]) -> str | None:
    """Return a warning if this job has another account, partition or QOS than site.env, or None.

    sbatch reads these from its environment, so site.env must be sourced first. A job of
    `islands submit` has them as directives, which the command line may override.
    """
    if "ISLANDS_SITE" in environment:
        return None
    for name in ("account", "partition", "qos"):
        of_job = environment.get(f"SLURM_JOB_{name.upper()}", "")
        of_site = environment.get(f"{_PREFIX}{name.upper()}", "")
        if of_site and of_job not in ("", *of_site.split(",")):
            return (
                f"the job has {name} {of_job}, but site.env names {of_site}. Source site.env"
                " before sbatch, or run the script itself, which sources it"
            )
    return None


def _option(name: str) -> str:
    return name.lower().replace("_", "-")


def _unedited() -> Path:
    return data_folder("slurm") / "site.env"
