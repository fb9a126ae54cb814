"""Two hosts on one machine: network namespaces with their own names, joined by a virtual cable."""

import json
import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

# Linux allows 15 characters in the name of an interface.
CABLE = f"isl{os.getpid()}"
# Replaces `ssh HOST COMMAND`; a namespace has the name of its host.
AGENT = """#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c \
    'echo "$0" >/proc/sys/kernel/hostname; exec sh -c "$*"' "$host" "$@"
"""


class CannotMakeHostsError(Exception):
    """The reason why this machine cannot simulate two hosts."""


class TwoHosts:
    """Two hosts for Open MPI, which starts its daemon on the second one through an agent."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0:
            raise CannotMakeHostsError("network namespaces need root")
        for tool in ("ip", "unshare"):
            if shutil.which(tool) is None:
                raise CannotMakeHostsError(f"no {tool} found (Debian: iproute2, util-linux)")
        self.names = [f"islands-{os.getpid()}-{letter}" for letter in "ab"]
        self._agent = folder / "agent"
        self._agent.write_text(AGENT)
        self._agent.chmod(0o755)
        self.hostfile = folder / "hosts"
        self.hostfile.write_text("".join(f"{name} slots=2\n" for name in self.names))

    def __enter__(self) -> Self:
        first, second = self.names
        try:
            for name in self.names:
                _ip("netns", "add", name)
            peer = ("type", "veth", "peer", "name", f"{CABLE}b", "netns", second)
            _ip("link", "add", f"{CABLE}a", "netns", first, *peer)
            for number, (name, letter) in enumerate(zip(self.names, "ab", strict=True), 1):
                _ip("-n", name, "address", "add", f"10.77.0.{number}/24", "dev", CABLE + letter)
                _ip("-n", name, "link", "set", "lo", "up")
                _ip("-n", name, "link", "set", CABLE + letter, "up")
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise CannotMakeHostsError(f"ip {error.stderr.strip()}") from error
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            self.lose(name)

    def lose(self, name: str) -> None:
        """Remove a host with all its processes."""
        pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
        for pid in pids.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def start(self, *line: str, **more: str) -> subprocess.Popen[str]:
        """Start a program on the first host; Open MPI connects to the second one."""
        # If oversubscription is allowed, Open MPI starts all ranks on the first host.
        kept = {key: value for key, value in os.environ.items() if "mapping_policy" not in key}
        return subprocess.Popen(
            [str(self._agent), self.names[0], shlex.join(line)],
            env={**kept, "PRTE_MCA_plm_ssh_agent": str(self._agent), **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def launch(self, mpirun: str, *command: str) -> tuple[int, str, str]:
        """Return status, output and errors of `mpirun` with two ranks on each host."""
        running = self.start(mpirun, "--hostfile", str(self.hostfile), "-n", "4", *command)
        out, error = running.communicate(timeout=120)
        return running.returncode, out, error

    def carried(self) -> tuple[int, int]:
        """Return the bytes that the first host has sent and received through the cable."""
        (link,) = json.loads(_ip("-n", self.names[0], "-s", "-j", "link", "show", f"{CABLE}a"))
        counted: dict[str, Any] = link["stats64"]
        return int(counted["tx"]["bytes"]), int(counted["rx"]["bytes"])


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout
