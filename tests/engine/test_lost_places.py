"""A full disk, a closed terminal or a signal: the result or a checkpoint is still written."""

import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from instance_texts import tsplib_text
from jobs import PROGRAM, ran, wait_until
from problems_for_tests import cities

from islands import read_run, resume, solve
from islands.record.folder import FINISHED

pytestmark = pytest.mark.slow

RUN = ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--islands", "2"]
BYTES = 20_000
"""The longest file: the trace and the solution fit, a checkpoint does not."""


def on_a_small_disk(*line: str) -> subprocess.CompletedProcess[str]:
    """Run `islands` where no file may be longer than `BYTES`."""
    return ran(
        *(*PROGRAM, *line),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # which would be cut off, too
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES)),
    )


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Programs and catalogues are in the cache."""
    solve("demo/tsp", backend="cpu", islands=2, threads=1, generations=1)


FULL_ON_RANK_1 = """
import errno, os, sys
from islands.cli import main
from islands.errors import UnwritableError
from islands.record.checkpoint import Checkpoints

def failing(*_):
    raise UnwritableError(f"rank-001.npz: {os.strerror(errno.ENOSPC)}")

if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    Checkpoints._write_arrays = failing
sys.exit(main())
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_full_disk_does_not_lose_the_result(
    ranks: int, tmp_path: Path, mpirun: list[str]
) -> None:
    line = [*RUN, "--stop", "generations=20", "--json", "--out", str(tmp_path / "a")]
    whole = solve("demo/tsp", backend="cpu", islands=2, threads=1, generations=20)
    if ranks == 1:
        done = on_a_small_disk(*line)
    else:
        done = ran(*mpirun, "2", sys.executable, "-c", FULL_ON_RANK_1, *line)
    assert done.returncode == 1, done.stderr
    made = json.loads(done.stdout)
    assert (made["cost"], made["solution"]) == (whole.cost, whole.items())
    assert f"rank-{ranks - 1:03}.npz" in made["write_error"]
    assert done.stderr.count("rank-") == 1
    assert read_run(tmp_path / "a").digest == whole.digest


def test_a_checkpoint_that_cannot_be_written_ends_the_run_with_its_result(tmp_path: Path) -> None:
    line = [*RUN, "--set", "checkpoint.every=0.2", "--out", str(tmp_path / "a"), "--quiet"]
    done = on_a_small_disk(*line, "--stop", "seconds=60")
    assert done.returncode == 1
    (shown,) = [line for line in done.stdout.splitlines() if line.startswith("Solution: ")]
    assert sorted(json.loads(shown.removeprefix("Solution: "))) == [*range(120)]
    assert not (tmp_path / "a" / FINISHED).exists()
    assert resume(tmp_path / "a", generations=30).generations == 30


def test_in_python_the_result_is_returned_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    settings: dict[str, Any] = {"backend": "cpu", "islands": 2, "generations": 3}
    whole = solve("demo/tsp", **settings)
    with monkeypatch.context() as patched:
        patched.setattr("islands.record.journal.write_solution", failing)
        with pytest.warns(RuntimeWarning) as warned:
            result = solve("demo/tsp", **settings, out=tmp_path / "a")
    assert str(warned[0].message) == result.write_error
    assert warned[0].filename == __file__
    assert result.items() == whole.items()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resume(tmp_path / "a").items() == whole.items()
    assert read_run(tmp_path / "a").write_error == ""


def test_a_closed_terminal_ends_a_run_with_a_checkpoint(tmp_path: Path) -> None:
    own, other = pty.openpty()
    line = [*PROGRAM, *RUN, "--stop", "seconds=60", "--interval", "1"]
    process = subprocess.Popen(
        [*line, "--out", str(tmp_path / "a")],
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # its terminal
    )
    os.close(other)
    shown = b""
    while b"| " not in shown:
        shown += os.read(own, 4096)
    time.sleep(0.3)
    os.close(own)
    assert process.wait(30) == 75
    assert [*(tmp_path / "a" / "checkpoints").glob("*/manifest.json")]
    assert resume(tmp_path / "a", generations=1).cost is not None


@pytest.mark.parametrize("nohup", [False, True])
def test_a_hangup_is_as_sigterm_unless_it_was_ignored(nohup: bool, tmp_path: Path) -> None:
    line = [*PROGRAM, *RUN, "--stop", "seconds=2", "--quiet"]
    process = subprocess.Popen(
        [*line, "--out", str(tmp_path / "a"), "--json"],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if nohup else None,
    )
    wait_until((tmp_path / "a" / "trace").exists, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGHUP)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == (0 if nohup else 75)
    assert json.loads(said)["suspended"] is not nohup
    assert (tmp_path / "a" / FINISHED).exists() is nohup


def test_a_reader_that_leaves_ends_a_run_with_a_checkpoint(tmp_path: Path) -> None:
    line = [*PROGRAM, *RUN, "--stop", "seconds=60"]
    with subprocess.Popen(
        [*line, "--out", str(tmp_path / "a")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        while b"| " not in process.stdout.readline():  # the run has begun
            pass
        process.stdout.close()
        assert process.wait(60) == 75
    assert resume(tmp_path / "a", generations=1).cost is not None


SLOW = [
    *("--algorithm", "brkga", "--improver", "tabu", "--set", "improver.steps=50000"),
    *("--islands", "2", "--population", "48", "--backend", "cpu", "--threads", "1"),
]
"""With 80 cities, a generation takes many seconds."""
EVERY_OTHER = [*SLOW, "--set", "improver.every=2"]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_signal_abandons_only_the_current_generation(
    ranks: int, tmp_path: Path, mpirun: list[str]
) -> None:
    (tmp_path / "many.tsp").write_text(tsplib_text(cities(80).file))
    launch = [*mpirun, str(ranks)] if ranks > 1 else []
    started = [*launch, *PROGRAM, "run", str(tmp_path / "many.tsp"), *EVERY_OTHER]
    started += ["--out", str(tmp_path / "a")]
    with subprocess.Popen(
        [*started, "--stop", "generations=2"], stdout=subprocess.PIPE, text=True
    ) as process:
        for shown in process.stdout:
            if shown.lstrip("*C ").startswith("0 "):
                break
        time.sleep(1)
        began = time.perf_counter()
        process.send_signal(signal.SIGUSR1)
        status = process.wait(60)
    assert status == 75
    assert time.perf_counter() - began < 9
    resumed = done("resume", str(tmp_path / "a"))
    whole = done("run", str(tmp_path / "many.tsp"), *EVERY_OTHER, "--out", str(tmp_path / "b"))
    assert resumed["generations"] == whole["generations"] == 1
    assert resumed["digest"] == whole["digest"]


def done(*line: str) -> dict[str, Any]:
    """Return the result of a command that ends with generation 1."""
    printed = ran(*PROGRAM, *line, "--json", "--stop", "generations=1", check=True).stdout
    return dict(json.loads(printed))
