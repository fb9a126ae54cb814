"""A Python that stands ready runs and ends as a new one does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jobs import is_alive
from ready_python import ready_python

_SHOWS = """
import os, sys
print(__name__, sys.argv[1:], os.getcwd(), os.environ.get("READY"), sys.stdin.read())
print("why", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("how", ["-c", "file", "-m", "-P"])
def test_a_line_runs_as_with_python(
    how: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("READY", "yes")
    Path("shows.py").write_text(_SHOWS)
    first = {"-c": ["-c", _SHOWS], "file": ["shows.py"], "-m": ["-m", "shows"]}.get(
        how, ["-P", "-c", _SHOWS]
    )
    done, usual = (
        subprocess.run(
            [*python, *first, str(status), "b c"], input="given", text=True, capture_output=True
        )
        for python in (ready_python(), [sys.executable])
    )
    assert done.returncode == usual.returncode == status
    assert (done.stdout, done.stderr) == (usual.stdout, usual.stderr)


def test_a_process_that_ends_by_a_signal_ends_its_client_so() -> None:
    done = subprocess.run([*ready_python(), "-c", "import os; os.abort()"], capture_output=True)
    assert done.returncode == -signal.SIGABRT


_WAITS = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_are_passed_on(number: signal.Signals) -> None:
    with subprocess.Popen(
        [*ready_python(), "-c", _WAITS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        pid = int(client.stdout.readline())
        assert pid != client.pid
        os.kill(client.pid, number)
        _, said = client.communicate(timeout=20)
    assert client.returncode == -number or "KeyboardInterrupt" in said
    deadline = time.monotonic() + 20
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
