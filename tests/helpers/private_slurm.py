"""A Slurm cluster of two nodes on this machine with daemons of its own, and jobs of a user."""

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import jobs

import islands
from islands.progress.result import Result
from islands.record.solution import recorded

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue")
_CPUS = 4
_LONGEST_SOCKET = 100
"""A socket's path has at most 108 characters."""


class NoSlurmError(Exception):
    """Something that a cluster needs is missing on this machine."""


class PrivateSlurm:
    """Two nodes, n1 and n2, each with its own slurmd; started at once, stopped by `close`."""

    nodes = ("n1", "n2")

    def __init__(self, folder: Path) -> None:
        missing = [name for name in _PROGRAMS if _program(name) is None]
        if missing:
            raise NoSlurmError(
                f"no {', '.join(missing)} (Debian, Ubuntu: apt-get install slurm-wlm munge)"
            )
        if os.geteuid() != 0:
            raise NoSlurmError("only root can start Slurm's daemons")
        self.folder = folder
        self._ports = _free_ports(1 + len(self.nodes))
        self._write_configuration()
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, *command: str) -> str:
        """Return what a command of Slurm prints; it must succeed."""
        done = jobs.ran(*command, env=os.environ | self.environment)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout.strip()

    def job(self, number: str) -> Mapping[str, str]:
        """Return the values that Slurm shows for a job: JobState, Restarts, Reason and so on."""
        words = self.call("scontrol", "--oneliner", "show", "job", number).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def wait(self, number: str, *states: str, seconds: float = 120) -> None:
        """Wait until a job is in one of these states."""
        jobs.wait_until(lambda: self.job(number)["JobState"] in states, seconds=seconds)

    def wait_for_restart(self, number: str, restarts: int) -> None:
        """Wait until a job has been requeued this many times."""
        jobs.wait_until(lambda: int(self.job(number)["Restarts"]) >= restarts, seconds=90)

    def lose(self, node: str) -> None:
        """Kill the daemon of a node and all its processes, as a power failure does.

        Slurm finds this after SlurmdTimeout.
        """
        pids = [int((self.folder / node / "slurmd.pid").read_text())]
        own = self.processes(node)
        parents = {jobs.parent_of(pid) for pid in own}
        pids += [pid for pid in parents if _name(pid) == "slurmstepd"]  # it would report the rest
        pids += own
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def processes(self, node: str) -> list[int]:
        """Return the processes of jobs on a node; nodes of other clusters have the same names."""
        words = {f"SLURMD_NODENAME={node}", f"SLURM_CONF={self.environment['SLURM_CONF']}"}
        return [pid for pid in jobs.all_pids() if words <= _environment(pid)]

    def set_down(self, node: str) -> None:
        """Make Slurm find at once that a node is lost."""
        self.call("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")

    def restore(self, node: str) -> None:
        """Start the daemon of a lost node again."""
        self._run("slurmd", "-N", node)
        # A job may use it at once, or still be ending on the other node.
        self._wait_for_states({"idle", "mix", "alloc", "comp"})

    def close(self) -> None:
        if (self.folder / "slurmctld.pid").exists():
            with suppress(AssertionError):
                self.call("scancel", "--user=root", "--signal=KILL", "--full")
                self.call("scancel", "--user=root")
                time.sleep(0.5)
        names = [f"{node}/slurmd.pid" for node in self.nodes] + ["slurmctld.pid", "munged.pid"]
        for path in (self.folder / name for name in names):
            with suppress(FileNotFoundError, ProcessLookupError):
                os.kill(int(path.read_text()), signal.SIGKILL)  # they leave nothing to keep

    def _start(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._run(
            *("munged", "--force", f"--key-file={key}", f"--socket={self._socket()}"),
            f"--pid-file={self.folder / 'munged.pid'}",
            f"--log-file={self.folder / 'munged.log'}",
            f"--seed-file={self.folder / 'munge.seed'}",
        )
        self._run("slurmctld")
        for node in self.nodes:
            self._run("slurmd", "-N", node)
        self._wait_for_states({"idle"})

    def _socket(self) -> Path:
        return self.folder / "munge.socket"

    def _run(self, name: str, *options: str) -> None:
        done = jobs.ran(str(_program(name)), *options, env=os.environ | self.environment)
        if done.returncode != 0:
            raise NoSlurmError(f"{name}: {done.stderr.strip()}")

    def _wait_for_states(self, states: set[str]) -> None:
        """Wait until each node is in one of these states."""
        deadline = time.monotonic() + 30
        while True:
            with suppress(AssertionError):
                found = set(self.call("sinfo", "--noheader", "--format=%t").split())
                if found and found <= states:
                    return
            if time.monotonic() > deadline:
                raise NoSlurmError(
                    f"its nodes are not {' or '.join(sorted(states))}; see"
                    f" {self.folder / 'slurmctld.log'}"
                )
            time.sleep(0.2)

    def _write_configuration(self) -> None:
        if len(str(self._socket())) > _LONGEST_SOCKET:
            raise NoSlurmError(f"the path {self.folder} is too long for a socket")
        here, control, *ports = socket.gethostname().partition(".")[0], *self._ports
        for name in ("state", *self.nodes):
            (self.folder / name).mkdir(parents=True)
        text = Path(__file__).with_name("slurm.conf").read_text()
        text = text.format(folder=self.folder, socket=self._socket(), here=here, control=control)
        for node, port in zip(self.nodes, ports, strict=True):
            where = f"NodeHostname={here} NodeAddr=127.0.0.1 Port={port} CPUs={_CPUS}"
            text += f"NodeName={node} {where}\n"
        nodes = f"Nodes={','.join(self.nodes)} State=UP"
        text += f"PartitionName=main {nodes} Default=YES PriorityTier=2 PreemptMode=OFF\n"
        # A job in it ends when a job in main needs its nodes; Slurm does not requeue it.
        text += f"PartitionName=cheap {nodes} PriorityTier=1 PreemptMode=CANCEL\n"
        (self.folder / "slurm.conf").write_text(text)


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _name(pid: int) -> str:
    """Return the name of a process, or an empty string if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _environment(pid: int) -> set[str]:
    """Return the environment of a process, which is empty if it has ended."""
    with suppress(OSError):
        return {*Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")}
    return set()


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
        done = jobs.ran(*command, cwd=self.folder, env=self.environment, timeout=300)
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stderr}"
        return done.stdout if status == 0 else done.stderr

    def islands(self, *words: str, status: int = 0) -> str:
        return self.call(*jobs.PROGRAM, *words, status=status)

    def sbatch(self, *words: str) -> str:
        """Return the number of the job that sbatch submits."""
        return self.call("sbatch", "--parsable", *words).strip()

    def output(self, job: str) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob(f"*-{job}*.out")))

    def result(self, folder: str) -> Result:
        return recorded(self.folder / folder).result

    def uninterrupted(self, *words: str) -> Result:
        """Return the result of the same run on one rank, outside of Slurm."""
        self.islands("run", *words, "--out", "alone")
        return self.result("alone")
