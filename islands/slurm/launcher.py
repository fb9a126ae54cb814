"""The command that starts the ranks of a job: mpirun or srun, depending on the MPI library."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from islands.errors import UsageError
from islands.parallel.library import vendor
from islands.paths import data_folder
from islands.slurm.commands import output

VARIABLE = "ISLANDS_LAUNCHER"
"""The variable of the launcher: auto, mpirun, srun, or a command such as `srun --mpi=pmix`."""
_PMI = ("pmi2", "pmix", "cray_shasta")
"""Interfaces of srun for MPI libraries; PyPI's MPICH supports the first."""
_DAEMON = f"{shlex.quote(sys.executable)} -m islands.slurm.processes"
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # A rank is one process with several threads; launch/bind gives each its cores.
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # Start daemons with SIGTERM blocked: see islands/slurm/processes.py.
    "PRTE_MCA_prte_launch_agent": f"{_DAEMON} prted",
    "OMPI_MCA_orte_launch_agent": f"{_DAEMON} orted",
}


@dataclass(frozen=True)
class Launcher:
    """The command and the variables that start the ranks of a job."""

    words: tuple[str, ...]
    """The command before the program, without the numbers of ranks and nodes."""
    variables: Mapping[str, str]

    def command(self, ranks: Sequence[int], program: Sequence[str]) -> list[str]:
        """Return the command that starts `program` with the given number of ranks on each node."""
        if not self.words:
            return [*program]
        bind = ["sh", str(data_folder("launch") / "bind")]
        return [*self.words, *self._places(ranks), *bind, *program]

    def _places(self, ranks: Sequence[int]) -> list[str]:
        count = ["-n", str(sum(ranks))]
        name = Path(self.words[0]).name
        if name == "srun":
            return [f"--nodes={len(ranks)}", *count, "--kill-on-bad-exit=1"]
        if len(set(ranks)) > 1:
            return count
        if self.variables:
            return [*count, "--map-by", f"ppr:{ranks[0]}:node:oversubscribe"]
        return [*count, "-ppn", str(ranks[0])]


def find_launcher(ranks: int, environment: Mapping[str, str] = os.environ) -> Launcher:
    """Return the launcher that the site has chosen, or the one that fits the MPI library."""
    chosen = environment.get(VARIABLE) or "auto"
    if ranks == 1 and chosen == "auto":
        return Launcher((), {})
    found = vendor()
    if found is None:
        raise UsageError(
            f"mpi4py is missing, which {ranks} ranks need. Install it with:"
            " pip install 'islands[mpi]'"
        )
    # PyPI's MPI libraries install their commands next to Python.
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"
    is_open_mpi = found[0].startswith("Open MPI")
    variables = {**_OPEN_MPI, "PATH": path} if is_open_mpi else {}
    if chosen == "auto":
        chosen = "mpirun" if is_open_mpi else "srun"
    words = shlex.split(chosen)
    if words == ["srun"]:
        words = ["srun", f"--mpi={_interface()}"]
    if (command := which(words[0], path=path)) is None:
        raise UsageError(
            f"{VARIABLE}={chosen}: not found on the PATH. Set it to auto, mpirun, srun or a path"
        )
    if Path(command).name != "srun":
        return Launcher((command, *words[1:]), variables)
    # launch/bind binds the ranks. A cluster without binding warns about the option.
    binding = ["--cpu-bind=none"] if _cluster_binds() else []
    return Launcher((command, *words[1:], *binding), {})


def _cluster_binds() -> bool:
    """Return whether Slurm binds tasks to cores."""
    plugin = re.search(r"^TaskPlugin\s*=\s*(.*)$", output(["scontrol", "show", "config"]), re.M)
    return plugin is not None and plugin[1].strip() not in ("", "(null)", "none", "task/none")


def _interface() -> str:
    """Return the interface between srun and MPI libraries that works on this cluster."""
    listed = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
    offered = set(re.findall(r"\w+", listed.stdout + listed.stderr))
    for name in _PMI:
        if name in offered and _works(name):
            return name
    raise UsageError(
        f"srun cannot start a program with --mpi={', --mpi='.join(_PMI)}. Set {VARIABLE} to the"
        " command that starts ranks on this cluster, such as mpirun"
    )


def _works(interface: str) -> bool:
    """Return whether srun starts a program with an interface; not all listed ones are installed."""
    command = ["srun", f"--mpi={interface}", "--nodes=1", "--ntasks=1", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
