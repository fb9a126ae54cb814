from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from islands.errors import InputError
from islands.run import hold
from islands.run.hold import held


def test_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "_PATIENCE_SECONDS", 0.0)
    with held(tmp_path):
        with (
            pytest.raises(InputError, match=r"another process is at work on this run; .*log\.txt"),
            held(tmp_path),
        ):
            pass
        with pytest.raises(InputError), held(tmp_path):
            pass
    with held(tmp_path):
        pass


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from islands.run.hold import held\n"
        "with held(Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        os.kill(process.pid, 9)
        with held(tmp_path):
            pass


def test_a_filesystem_without_locks_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(hold.fcntl, "flock", unsupported)
    with held(tmp_path), held(tmp_path):
        pass
