"""Replacements of Slurm's commands, for tests without a cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


class Commands:
    """The commands sbatch, squeue and scontrol in a folder of the PATH, which print fixed text."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        folder.mkdir()
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        for name in ("sbatch", "squeue", "scontrol", "sacct"):
            self.prints(name, "")

    def prints(self, name: str, text: str) -> None:
        """Make a command print this text, and write its options to a file."""
        path = self._folder / name
        path.write_text(f"#!/bin/sh\necho \"$@\" >>'{path}.calls'\ncat <<'END'\n{text}\nEND\n")
        path.chmod(0o755)

    def fails(self, name: str, message: str) -> None:
        """Make a command fail with this message."""
        path = self._folder / name
        path.write_text(f"#!/bin/sh\necho '{message}' >&2\nexit 1\n")

    def calls(self, name: str) -> list[str]:
        """Return the options of each call of a command."""
        path = self._folder / f"{name}.calls"
        return path.read_text().splitlines() if path.exists() else []


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
