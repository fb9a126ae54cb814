"""The programs of islands are compiled at the same time, and end together on an error."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from jobs import PROGRAM, is_alive, wait_until
from quick_compiler import in_scripts

from islands.backends import cpu
from islands.cli import main

RUN = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
RUN += ["--threads", "1", "--stop", "generations=2", "--improver", "none"]
_WAITS_FOR_OTHER = """
for _ in $(seq 600); do
    [ $(ls {folder}/started.* | wc -l) -ge 4 ] && exec {compiler} "$@"
    sleep 0.05
done
echo error: the other programs are not compiled at the same time >&2
exit 1
"""
_ONE_FAILS = """
while [ $(ls {folder}/started.* | wc -l) -lt 4 ]; do sleep 0.05; done
case "$*" in *ISLANDS_ALGORITHM*) echo error: rejected >&2; exit 1;; esac
exec sleep 100
"""
_HANGS = "exec sleep 100\n"
_CHILD_HANGS = "sleep 100\n"  # like g++, whose child processes do the work and hold its pipes


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cpu, "_cores", lambda: 3)


def compiler(body: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set CXX to a script that leaves a file for each program that it compiles."""
    script = folder / "compiler"
    real = in_scripts()
    start = f'[ "$1" = --version ] && exec {real} "$@"\necho $$ > {folder}/started.$$\n'
    script.write_text("#!/bin/sh\n" + start + body.format(folder=folder, compiler=real))
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))


def all_ended(folder: Path) -> bool:
    return not any(is_alive(int(each.read_text())) for each in started(folder))


def started(folder: Path) -> list[Path]:
    return list(folder.glob("started.*"))


@pytest.mark.slow
def test_pieces_of_the_programs_are_compiled_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler(_WAITS_FOR_OTHER, tmp_path, monkeypatch)
    assert main([*RUN, "--out", "a"]) == 0, capsys.readouterr().err
    assert len(started(tmp_path)) == 4 + 2  # three pieces and the other program, and two links


@pytest.mark.slow
def test_an_error_in_one_program_ends_all_compilers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler(_ONE_FAILS, tmp_path, monkeypatch)
    began = time.monotonic()
    assert main([*RUN, "--out", "a"]) == 1
    assert time.monotonic() - began < 30
    assert "compiler rejected a kernel: error: rejected" in capsys.readouterr().err
    assert all_ended(tmp_path)
    # Only the log of the error remains.
    left = [path for path in (tmp_path / "cache" / "programs").rglob("*") if path.is_file()]
    assert [path.suffix for path in left] == [".log"]
    assert not Path("a").exists()


@pytest.mark.slow
@pytest.mark.parametrize("body", [_HANGS, _CHILD_HANGS])
def test_an_interrupt_ends_all_compilers(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler(body, tmp_path, monkeypatch)
    command = [*PROGRAM, *RUN, "--out", "a"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(
            lambda: (
                len(started(tmp_path)) > 1 and all(path.read_text() for path in started(tmp_path))
            )
        )
        time.sleep(1)  # until their parent waits for them
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, b"islands: interrupted\n")
    assert all_ended(tmp_path)
    assert not any(path.is_file() for path in (tmp_path / "cache" / "programs").rglob("*"))
