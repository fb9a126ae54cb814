"""The nodes, ranks and GPUs of this job, as the environment of its batch script describes them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from islands.errors import UsageError
from islands.text import counted

_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?")


@dataclass(frozen=True)
class Allocation:
    """The job, and the ranks and GPUs of its nodes."""

    job: str
    """Its number, such as 15, or 15_3 for an element of a job array."""
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
        """Return the allocation that Slurm's variables describe."""
        job = environment.get("SLURM_JOB_ID")
        if not job:
            raise UsageError(
                "SLURM_JOB_ID is not set: this command runs inside a Slurm job. Submit one with:"
                " sbatch slurm/run.sbatch INSTANCE, or islands submit INSTANCE"
            )
        element, array = (environment.get(f"SLURM_ARRAY_{name}") for name in ("TASK_ID", "JOB_ID"))
        if element is not None and array is not None:
            # The last element has the number of the array, which means all elements to Slurm.
            job = f"{array}_{element}"
        tasks = environment.get("SLURM_TASKS_PER_NODE", "1")
        return cls(
            job=job,
            name=environment.get("SLURM_JOB_NAME", "islands"),
            ranks=_tasks(tasks),
            gpus=_gpus(environment),
            restarts=int(environment.get("SLURM_RESTART_COUNT", "0")),
            element=None if element is None else int(element),
            array=array,
        )

    def require_a_gpu_for_each_rank(self, *, on_cpu: bool, share_gpu: bool) -> None:
        """Refuse a job whose ranks and GPUs do not match."""
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
    found = [_TASKS.fullmatch(word) for word in words.split(",")]
    if not all(found):
        raise UsageError(f"SLURM_TASKS_PER_NODE={words}: Slurm writes counts such as 2(x3),1")
    counts = [(int(each[1]), int(each[2] or 1)) for each in found if each]
    return tuple(tasks for tasks, nodes in counts for _ in range(nodes))


def _gpus(environment: Mapping[str, str]) -> int:
    """Return the number of GPUs of this node that the job may use."""
    granted = environment.get("SLURM_GPUS_ON_NODE")
    if granted:
        return int(granted)
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip()])
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return sum(line.startswith("GPU ") for line in listed.stdout.splitlines())
