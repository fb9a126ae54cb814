"""The ranks of a job: the nodes that Slurm grants, and the command that starts ranks on them."""

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
from islands.studies.clusters.commands import output
from islands.text import counted

LAUNCHER = "ISLANDS_LAUNCHER"
"""The variable of the launcher: auto, mpirun, srun, or a command such as `srun --mpi=pmix`."""
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")
_PMI = ("pmi2", "pmix", "cray_shasta")
"""Interfaces of srun for MPI libraries; PyPI's MPICH supports the first."""
_DAEMON = f"{shlex.quote(sys.executable)} -P -m islands.studies.clusters.processes"
_OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # A rank is one process with several threads; launch/bind gives each its cores.
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # Start daemons with SIGTERM blocked: see islands/studies/clusters/processes.py.
    "PRTE_MCA_prte_launch_agent": f"{_DAEMON} prted",
    "OMPI_MCA_orte_launch_agent": f"{_DAEMON} orted",
}


@dataclass(frozen=True)
class Allocation:
    """A job with the ranks and GPUs of its nodes."""

    job: str
    """The number of the job, such as 15, or 15_3 for an element of a job array."""
    name: str
    ranks: tuple[int, ...]
    """The number of ranks of each node."""
    gpus: int
    """The number of GPUs of the first node, which runs the batch script."""
    restarts: int = 0
    element: int | None = None
    """The number of this element in its job array."""
    array: str | None = None
    """The number of the job array."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Allocation:
        """Return the allocation that Slurm's variables describe to its batch script."""
        job = environment.get("SLURM_JOB_ID")
        if not job:
            raise UsageError(
                "SLURM_JOB_ID is not set: this command runs inside a Slurm job. Submit one with:"
                " sbatch slurm/run.sbatch INSTANCE, or islands submit INSTANCE"
            )
        element, array = (environment.get(f"SLURM_ARRAY_{name}") for name in ("TASK_ID", "JOB_ID"))
        if element is not None and array is not None:
            # SLURM_JOB_ID of the last element is that of the array, which means all elements.
            job = f"{array}_{element}"
        return cls(
            job=job,
            name=environment.get("SLURM_JOB_NAME", "islands"),
            ranks=_tasks(environment.get("SLURM_TASKS_PER_NODE", "1")),
            gpus=_gpus(environment),
            restarts=int(environment.get("SLURM_RESTART_COUNT", "0")),
            element=None if element is None else int(element),
            array=array,
        )

    @property
    def folder(self) -> Path:
        """The folder of the run if the user names no other."""
        return Path("runs") / f"{self.name}-{self.job}"

    def require_a_gpu_for_each_rank(self, *, on_cpu: bool, share_gpu: bool) -> None:
        """Reject a job whose ranks and GPUs do not match."""
        if on_cpu:
            return
        ranks = self.ranks[0]
        node = f"{counted(ranks, 'rank')} and {counted(self.gpus, 'GPU')} on the first node"
        if self.gpus == 0:
            raise UsageError(
                f"the job has {node}. Request GPUs, for example with sbatch --gpus-per-node={ranks}"
                f" --ntasks-per-node={ranks}, or run with --backend cpu"
            )
        if ranks < self.gpus or (ranks > self.gpus and not share_gpu):
            share = ", or add --share-gpu to the run" if ranks > self.gpus else ""
            raise UsageError(
                f"the job has {node}, but each rank uses one GPU. Request"
                f" --ntasks-per-node={self.gpus} with --gpus-per-node={self.gpus}{share}"
            )


def _tasks(words: str) -> tuple[int, ...]:
    """Return the tasks of each node: (2, 2, 1) for `2(x2),1`."""
    matches = [_TASKS.fullmatch(word) for word in words.split(",")]
    if not all(matches):
        raise UsageError(f"SLURM_TASKS_PER_NODE={words}: Slurm writes counts such as 2(x3),1")
    counts = [(int(match[1]), int(match[2] or 1)) for match in matches if match]
    return tuple(tasks for tasks, nodes in counts for _ in range(nodes))


def _gpus(environment: Mapping[str, str]) -> int:
    """Return the number of GPUs of this node that the job may use."""
    if granted := environment.get("SLURM_GPUS_ON_NODE"):
        return int(granted)
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip()])
    return sum(line.startswith("GPU ") for line in output(["nvidia-smi", "-L"]).splitlines())


def difference_from_site(environment: Mapping[str, str]) -> str | None:
    """Return a warning if this job has another account, partition or QOS than site.env, or None.

    sbatch reads these from its environment, so site.env must be sourced first. A job of
    `islands submit` has them as directives, which the command line may override.
    """
    if "ISLANDS_SITE" in environment:
        return None
    for name in ("account", "partition", "qos"):
        of_job = environment.get(f"SLURM_JOB_{name.upper()}", "")
        of_site = environment.get(f"SBATCH_{name.upper()}", "")
        if of_site and of_job not in ("", *of_site.split(",")):
            return (
                f"the job has {name} {of_job}, but site.env names {of_site}. Source site.env"
                " before sbatch, or run the script itself, which sources it"
            )
    return None


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
    """Return the launcher that the site has chosen, or the one for the MPI library."""
    chosen = environment.get(LAUNCHER) or "auto"
    if ranks == 1 and chosen == "auto":
        return Launcher((), {})
    library = vendor()
    if library is None:
        raise UsageError(
            f"mpi4py is missing, which {ranks} ranks need. Install it with:"
            " pip install 'islands[mpi]'"
        )
    # PyPI's MPI libraries install their commands next to Python.
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"
    is_open_mpi = library[0].startswith("Open MPI")
    variables = {**_OPEN_MPI, "PATH": path} if is_open_mpi else {}
    if chosen == "auto":
        chosen = "mpirun" if is_open_mpi else "srun"
    words = shlex.split(chosen)
    if words == ["srun"]:
        words = ["srun", f"--mpi={_interface()}"]
    if (command := which(words[0], path=path)) is None:
        raise UsageError(
            f"{LAUNCHER}={chosen}: not found on the PATH. Set it to auto, mpirun, srun or a path"
        )
    if Path(command).name != "srun":
        return Launcher((command, *words[1:]), variables)
    # launch/bind binds the ranks, not srun. A cluster without binding warns about the option.
    binding = ["--cpu-bind=none"] if _cluster_binds() else []
    return Launcher((command, *words[1:], *binding), {})


def _cluster_binds() -> bool:
    """Return whether Slurm binds tasks to cores."""
    plugin = re.search(r"^TaskPlugin\s*=\s*(.*)$", output(["scontrol", "show", "config"]), re.M)
    return plugin is not None and plugin[1].strip() not in ("", "(null)", "none", "task/none")


def _interface() -> str:
    """Return the first interface between srun and MPI libraries that works on this cluster."""
    listed = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
    offered = set(re.findall(r"\w+", listed.stdout + listed.stderr))
    for name in _PMI:
        if name in offered and _works(name):
            return name
    raise UsageError(
        f"srun cannot start a program with --mpi={', --mpi='.join(_PMI)}. Set {LAUNCHER} to the"
        " command that starts ranks on this cluster, such as mpirun"
    )


def _works(interface: str) -> bool:
    """Return whether srun starts a program with an interface; not all listed ones are installed."""
    command = ["srun", f"--mpi={interface}", "--nodes=1", "--ntasks=1", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
