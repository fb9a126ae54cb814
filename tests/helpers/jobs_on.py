"""Jobs that a user submits to the private cluster, and their results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from private_slurm import PrivateSlurm

import islands
from islands.progress.result import Result
from islands.record.solution import recorded

SCRIPTS = Path(islands.__file__).parents[1] / "slurm"
RUN = ["demo/tsp", "--backend", "cpu", "--threads", "1", "--islands", "4", "--algorithm", "brkga"]
"""A run with short generations, so that an attempt of any length makes progress."""


class User:
    """A user of the cluster, with a folder and an environment."""

    def __init__(self, cluster: PrivateSlurm, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        programs = Path(sys.executable).parent
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("OMPI")},
            **cluster.environment,
            # Nodes have more processors than this machine: waiting ranks leave theirs to others.
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHON": sys.executable,
            "PYTHONPATH": str(Path(islands.__file__).parents[1]),
        }

    def call(self, *command: str, status: int = 0) -> str:
        """Return the output of a command; it must end with this status."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stderr}"
        return done.stdout if status == 0 else done.stderr

    def islands(self, *words: str, status: int = 0) -> str:
        """Return the output of `islands` with these words."""
        return self.call(sys.executable, "-m", "islands", *words, status=status)

    def sbatch(self, *words: str) -> str:
        """Return the number of the job that sbatch submits."""
        return self.call("sbatch", "--parsable", *words).strip()

    def output(self, job: str) -> str:
        """Return the output of a job."""
        return "".join(path.read_text() for path in sorted(self.folder.glob(f"*-{job}*.out")))

    def result(self, folder: str) -> Result:
        """Return the result of a finished run."""
        return recorded(self.folder / folder).result

    def uninterrupted(self, *words: str) -> Result:
        """Return the result of the same run on one rank, outside of Slurm."""
        self.islands("run", *words, "--out", "alone")
        return self.result("alone")
