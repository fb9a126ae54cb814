"""Measure the time from the command to the first row by step, in a separate process."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass

from islands.text import show

_INSTANCE = "demo/tsp"
_TIMEOUT = 300


@dataclass(frozen=True)
class Startup:
    """Seconds of each step, in order, for the instance demo/tsp on one rank."""

    backend: str
    seconds: dict[str, float]
    compiled: bool
    """Whether programs were compiled, not loaded from the cache."""

    @property
    def total(self) -> float:
        """Seconds from the command to the first row."""
        return sum(self.seconds.values())


def timed_start(backend: str) -> Startup | None:
    """Return the times of a start on this backend; None if it fails."""
    command = [sys.executable, "-P", "-m", "islands.doctor.startup", backend]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=True)
        report = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    moments = {"python": began, **report["moments"]}
    ends = [*list(moments.values())[1:], report["end"]]
    seconds = {
        step: round(end - moment, 3)
        for (step, moment), end in zip(moments.items(), ends, strict=True)
    }
    return Startup(backend, seconds, report["compiled"])


def _start(backend_name: str) -> None:
    """Start a run up to its first row, and print when each step began."""
    moments = {"imports": time.monotonic()}
    from islands.configuration.request import Request
    from islands.engine.build import make_archipelago, take_device
    from islands.engine.loading import load_and_resolve
    from islands.parallel import World

    moments["instance"] = time.monotonic()
    options = {"instance": _INSTANCE, "backend": backend_name, "stop": "generations=1"}
    resolved = load_and_resolve(Request(options))
    moments["device"] = time.monotonic()
    backend = take_device(World(), backend_name)
    compiled: list[str] = []
    backend.compiling.announce = compiled.append
    moments["programs"] = time.monotonic()
    archipelago = make_archipelago(resolved, World(), backend)
    moments["generation 0"] = time.monotonic()
    archipelago.start()
    archipelago.measure()
    end = time.monotonic()
    show(json.dumps({"moments": moments, "end": end, "compiled": bool(compiled)}))


if __name__ == "__main__":
    _start(sys.argv[1])
