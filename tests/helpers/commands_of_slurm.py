"""Replacements of Slurm's commands, for tests without a cluster."""

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from islands.studies.clusters import commands


class Commands:
    """The commands of Slurm, answered in this process: they print fixed text, or fail."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._answers: dict[str, tuple[int, str, str]] = {}
        self._calls = defaultdict[str, list[str]](list)
        folder.mkdir()
        for name in ("sbatch", "squeue", "scontrol", "sacct"):
            (folder / name).touch(0o755)  # it is only looked for
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(commands, "_run", self._answered)

    def _answered(self, command: Sequence[str], *_: object) -> CompletedProcess[str]:
        name, *options = command
        self._calls[name].append(" ".join(options))
        return CompletedProcess(command, *self._answers.get(name, (0, "", "")))

    def prints(self, name: str, text: str) -> None:
        self._answers[name] = (0, f"{text}\n", "")

    def fails(self, name: str, message: str) -> None:
        self._answers[name] = (1, "", f"{message}\n")

    def calls(self, name: str) -> list[str]:
        """Return the options of each call of a command."""
        return self._calls[name]


def in_array(element: int, job: str = "5") -> dict[str, str]:
    """Return the variables of an element of an array with three elements."""
    return {
        "SLURM_JOB_ID": str(int(job) + element),
        "SLURM_JOB_NAME": "sweep",
        "SLURM_ARRAY_JOB_ID": job,
        "SLURM_ARRAY_TASK_ID": str(element),
        "SLURM_ARRAY_TASK_MIN": "1",
        "SLURM_ARRAY_TASK_MAX": "3",
        "SLURM_JOB_NUM_NODES": "1",
        "SLURM_NTASKS_PER_NODE": "2",
        "SLURM_GPUS_ON_NODE": "0",
        "ISLANDS_SCRIPT": "/home/me/a folder/sweep.sbatch",
    }
