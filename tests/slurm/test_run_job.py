"""The script run.sbatch on a cluster of two nodes: requeued, out of time, and without a node."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from jobs_on import RUN, SCRIPTS, User
from private_slurm import PrivateSlurm

from islands.slurm.attempts import Attempts

SCRIPT = str(SCRIPTS / "run.sbatch")
FOUR_RANKS = ["--nodes=2", "--ntasks-per-node=2"]
LONG = [*RUN, "--population", "2048", "--stop", "generations=600"]


@pytest.fixture
def user(cluster: PrivateSlurm, tmp_path: Path) -> User:
    return User(cluster, tmp_path)


def wait_for_generations(folder: Path, attempt: int, seconds: float = 60) -> None:
    """Wait until a attempt of a job has begun to show rows of progress."""
    deadline = time.monotonic() + seconds
    while len(starts := starts_in(folder / "log.txt")) < attempt or starts[-1].count("%") < 3:
        assert time.monotonic() < deadline, f"attempt {attempt} does not begin"
        time.sleep(0.1)


def starts_in(log: Path) -> list[str]:
    """Return what each start of a run has written to its log."""
    return log.read_text().split("run folder")[1:] if log.exists() else []


def test_a_run_that_is_requeued_three_times_has_the_same_bits(user: User) -> None:
    job = user.sbatch(*FOUR_RANKS, SCRIPT, *LONG, "--out", "run")
    for attempt in (1, 2, 3):
        wait_for_generations(user.folder / "run", attempt)
        user.cluster.call("scontrol", "requeue", job)
    user.cluster.wait(job, "COMPLETED", "FAILED")
    attempts = Attempts(user.folder / "run").all()
    assert [(attempt.status, attempt.signal) for attempt in attempts] == [(75, "SIGTERM")] * 3 + [
        (0, None)
    ]
    assert all(
        attempt.before.generation < attempt.after.generation
        for attempt in attempts[:-1]
        if attempt.after
    )
    result = user.result("run")
    assert result.ranks == 4
    assert result.digest == user.uninterrupted(*LONG).digest
    assert rows_of(user.folder / "run") == rows_of(user.folder / "alone")
    assert "done" in user.islands("status", "run")


def rows_of(folder: Path) -> list[tuple[int, int, float]]:
    """Return generation, island and best cost of each row of a run's records."""
    import pyarrow.parquet as parquet

    rows: list[tuple[int, int, float]] = []
    for path in sorted((folder / "trace").glob("*.parquet")):
        table = parquet.read_table(path)
        columns = (table.column(name).to_pylist() for name in ("generation", "island", "best"))
        rows += zip(*columns, strict=True)
    return sorted(rows)


def test_a_job_near_its_time_limit_writes_a_checkpoint_and_goes_on(user: User) -> None:
    # Slurm looks at limits every 30 s and sends the signal up to a minute early, so that a attempt
    # of this job lasts 29 to 59 s.
    options = ["--time=1", "--signal=B:USR1@1"]
    words = [*RUN, "--population", "64", "--stop", "seconds=62"]
    job = user.sbatch(*options, SCRIPT, *words, "--out", "run")
    user.cluster.wait(job, "COMPLETED", "FAILED", "TIMEOUT", seconds=240)
    attempts = Attempts(user.folder / "run").all()
    assert {(attempt.status, attempt.signal) for attempt in attempts[:-1]} == {(75, "SIGUSR1")}
    assert attempts[-1].status == 0
    assert len(attempts) > 1
    assert 62 <= user.result("run").seconds < 64, "the run's limit counts over all attempts"


def test_a_run_goes_on_when_a_node_was_lost(user: User) -> None:
    words = [*LONG, "--set", "checkpoint.every=0.5s"]
    job = user.sbatch(*FOUR_RANKS, SCRIPT, *words, "--out", "run")
    wait_for_generations(user.folder / "run", 1)
    while not list((user.folder / "run").glob("checkpoints/*/manifest.json")):
        time.sleep(0.1)
    user.cluster.lose("n2")
    user.cluster.restore("n2")
    user.cluster.wait(job, "COMPLETED", "FAILED", seconds=240)
    attempts = Attempts(user.folder / "run").all()
    assert len(attempts) > 1
    assert attempts[-1].status == 0
    assert attempts[-1].before.generation > 0
    assert user.result("run").digest == user.uninterrupted(*words).digest


def test_a_run_that_cannot_progress_is_not_requeued_for_ever(user: User) -> None:
    words = [*RUN, "--stop", "generations=10", "--out", "run"]
    user.environment["ISLANDS_LAUNCHER"] = "sh -c 'exit 9'"  # a launcher that fails each time
    job = user.sbatch("--ntasks-per-node=2", SCRIPT, *words)
    user.cluster.wait(job, "FAILED", "COMPLETED")
    assert len(Attempts(user.folder / "run").all()) == 2
    said = user.output(job)
    assert "the last two attempts made no new checkpoint (no checkpoint)" in said
    assert "failed" in user.islands("status", "run")
