"""The script run.sbatch on a cluster of two nodes: requeues, time limits, lost nodes and so on.

ISLANDS_SLURM_REQUEUES sets the number of requeues.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from private_slurm import RUN, SCRIPTS, PrivateSlurm, User

from islands.progress.result import Result
from islands.slurm.jobs import JobAttempt, JobAttempts

SCRIPT = str(SCRIPTS / "run.sbatch")
FOUR_RANKS = ["--nodes=2", "--ntasks-per-node=2"]
OWN = """
import islands
COST = "__device__ long long cost(const Solution& s, int n, const Data&) { return 3 * s[0]; }"
problem = islands.subset(8, cost=COST, reference=lambda s: 3 * s[:, 0])
"""
"""A script with a problem."""
WAITS = """
import time
import islands

def costs(orders):
    time.sleep(0.005 * len(orders))
    return orders[:, 0] + 1

problem = islands.permutation(8, batch=costs, best_known=1)
"""
"""A script whose runs last as long as others, but leave the cores to other tests."""
Submitted = tuple[User, str]
"""A user, and the number of the user's job."""
REQUEUES = int(os.environ.get("ISLANDS_SLURM_REQUEUES", "2"))
LONG = [*RUN, "--population", "2048", "--stop", f"generations={200 * REQUEUES}"]


@pytest.fixture(scope="module")
def alone(cluster: PrivateSlurm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the run without interruption, on one rank and without Slurm."""
    user = User(cluster, tmp_path_factory.mktemp("alone"))
    user.uninterrupted(*LONG)
    return user.folder / "alone"


@pytest.fixture(scope="module")
def limited(cluster: PrivateSlurm, tmp_path_factory: pytest.TempPathFactory) -> list[Submitted]:
    """Return two jobs that exceed their time limits while other tests run, one on each node.

    Only the first one receives SIGUSR1. Slurm checks limits every 30 s and sends the signal up to a
    minute early, so that an attempt takes 29 to 59 s.
    """
    jobs = []
    for node, notice, stop in (("n1", "USR1", "seconds=62"), ("n2", "CONT", "seconds=600")):
        user = User(cluster, tmp_path_factory.mktemp("limited"))
        (user.folder / "waits.py").write_text(WAITS)
        options = ["--time=1", f"--signal=B:{notice}@1", f"--nodelist={node}"]
        words = ["waits.py:problem", *RUN[1:], "--population", "16", "--stop", stop, "--out", "run"]
        jobs.append((user, user.sbatch(*options, SCRIPT, *words)))
    return jobs


def attempts_of(user: User) -> list[JobAttempt]:
    return JobAttempts(user.folder / "run").all()


def wait_for_generations(user: User, attempt: int, seconds: float = 120) -> None:
    """Wait until the log of an attempt has several rows of progress."""
    deadline = time.monotonic() + seconds
    while len(starts := starts_of(user)) < attempt or starts[-1].count("%") < 3:
        assert time.monotonic() < deadline, f"attempt {attempt} does not begin"
        time.sleep(0.1)


def starts_of(user: User) -> list[str]:
    """Return what each start of a run has written to its log."""
    log = user.folder / "run/log.txt"
    return log.read_text().split("run folder")[1:] if log.exists() else []


def rows_of(folder: Path) -> list[tuple[int, int, float]]:
    """Return generation, island and best cost of each row of a run's records."""
    import pyarrow.parquet as parquet

    rows: list[tuple[int, int, float]] = []
    for path in sorted((folder / "trace").glob("*.parquet")):
        table = parquet.read_table(path)
        columns = (table.column(name).to_pylist() for name in ("generation", "island", "best"))
        rows += zip(*columns, strict=True)
    return sorted(rows)


def require_same(user: User, alone: Path) -> Result:
    """Compare digest and rows with the run without interruption; return the result."""
    result = user.result("run")
    assert result.digest == User(user.cluster, alone.parent).result("alone").digest
    assert rows_of(user.folder / "run") == rows_of(alone)
    return result


def test_a_run_that_is_requeued_several_times_has_the_same_bits(
    limited: list[Submitted], user: User, alone: Path
) -> None:
    job = user.sbatch(*FOUR_RANKS, SCRIPT, *LONG, "--out", "run")
    for attempt in range(1, REQUEUES + 1):
        wait_for_generations(user, attempt)
        user.cluster.call("scontrol", "requeue", job)
    user.cluster.wait(job, "COMPLETED", "FAILED", seconds=60 + 30 * REQUEUES)
    *requeued, last = attempts_of(user)
    assert [(each.status, each.ending) for each in requeued] == [(75, "requeue")] * REQUEUES
    assert all(each.after and each.before.generation < each.after.generation for each in requeued)
    assert last.status == 0
    assert require_same(user, alone).ranks == 4
    assert "done" in user.islands("status", "run")


def test_a_preempted_job_requeues_itself_and_a_cancelled_job_does_not(user: User) -> None:
    words = [*RUN, "--population", "2048", "--stop", "generations=100000", "--out", "run"]
    job = user.sbatch("--partition=cheap", *FOUR_RANKS, SCRIPT, *words)
    wait_for_generations(user, 1)
    urgent = user.sbatch("--nodes=2", "--ntasks-per-node=3", "--wrap=sleep 1")
    user.cluster.wait(urgent, "COMPLETED")
    wait_for_generations(user, 2)
    user.call("scancel", job)
    user.cluster.wait(job, "CANCELLED")
    ends = [(each.status, each.signal, each.ending) for each in attempts_of(user)]
    assert ends == [(75, "SIGTERM", "preemption"), (75, "SIGTERM", "cancel")]
    assert "stopped" in user.islands("status", "run")


def test_a_job_near_its_time_limit_writes_a_checkpoint_and_goes_on(
    limited: list[Submitted],
) -> None:
    user, job = limited[0]
    user.cluster.wait(job, "COMPLETED", "FAILED", "TIMEOUT", seconds=240)
    *earlier, last = attempts_of(user)
    assert earlier
    assert {(each.status, each.signal) for each in earlier} == {(75, "SIGUSR1")}
    assert last.status == 0
    assert 62 <= user.result("run").seconds < 64, "the run's limit counts over all attempts"


def test_a_job_that_slurm_ends_at_its_time_limit_requeues_itself(limited: list[Submitted]) -> None:
    user, job = limited[1]
    wait_for_generations(user, 2)
    user.call("scancel", job)
    user.cluster.wait(job, "CANCELLED")
    ends = [(each.status, each.signal, each.ending) for each in attempts_of(user)]
    assert ends[0] == (75, "SIGTERM", "time limit")


def test_a_run_goes_on_when_its_nodes_were_lost(user: User, alone: Path) -> None:
    job = user.sbatch(*FOUR_RANKS, SCRIPT, *LONG, "--set", "checkpoint.every=0.5s", "--out", "run")
    batch_host_last = ("n2", "n1")
    for attempt, node in enumerate(batch_host_last, 1):
        wait_for_generations(user, attempt)
        before = JobAttempts(user.folder / "run").all()[-1].before.generation
        while checkpoint_of(user) <= before:
            time.sleep(0.1)
        user.cluster.lose(node)
        if node == "n1":
            user.cluster.set_down(node)  # only Slurm can requeue a job without its batch host
        user.cluster.wait_for_restart(job, attempt)
        user.cluster.restore(node)
    user.cluster.wait(job, "COMPLETED", "FAILED", seconds=240)
    attempts = attempts_of(user)
    assert len(attempts) > 2
    assert attempts[-1].status == 0
    assert not any(each.error for each in attempts), "the ranks report no error of their own"
    assert attempts[-1].before.generation > attempts[1].before.generation > 0
    require_same(user, alone)


def checkpoint_of(user: User) -> int:
    """Return the generation of the latest checkpoint, or -1."""
    paths = (user.folder / "run/checkpoints").glob("*/manifest.json")
    return max((int(path.parent.name.partition(".")[0]) for path in paths), default=-1)


def test_a_run_without_progress_is_not_requeued_for_ever(user: User) -> None:
    words = [*RUN, "--stop", "generations=10", "--out", "run"]
    user.environment["ISLANDS_LAUNCHER"] = "sh -c 'exit 9'"  # a launcher that always fails
    job = user.sbatch("--ntasks-per-node=2", SCRIPT, *words)
    user.cluster.wait(job, "FAILED", "COMPLETED")
    assert len(attempts_of(user)) == 2
    assert "the last two attempts made no new checkpoint (no checkpoint)" in user.output(job)
    assert "failed" in user.islands("status", "run")


def test_a_series_of_a_script_replaces_older_runs_even_if_it_is_requeued_at_once(
    user: User,
) -> None:
    (user.folder / "own.py").write_text(OWN)
    series = ["own.py:problem", *RUN[1:], "--population", "64", "--runs", "2", "--out", "all"]
    user.islands("run", *series, "--stop", "generations=5")
    words = [*series, "--stop", "generations=20", "--force"]
    job = user.sbatch("--ntasks-per-node=2", SCRIPT, *words)
    deadline = time.monotonic() + 60
    while not (begun := JobAttempts(user.folder / "all").all()) or not begun[0].holds_run:
        assert time.monotonic() < deadline, "the first attempt does not begin"
        time.sleep(0.02)
    user.cluster.call("scontrol", "requeue", job)
    user.cluster.wait(job, "COMPLETED", "FAILED")
    first, last = JobAttempts(user.folder / "all").all()
    assert (first.ending, last.status) == ("requeue", 0)
    results = [user.result(f"all/subset-8-seed{seed}") for seed in (1, 2)]
    assert [(each.generations, each.ranks) for each in results] == [(20, 2)] * 2
    assert f"done (job {job})" in user.islands("status", "all")
