"""The record of a job's attempts: no progress, and the decision to requeue."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.errors import InputError, RunError
from islands.parallel import ERROR_FILE, RanksLostError, record_error
from islands.slurm.jobs import JobAttempts, JobProgress
from islands.slurm.run_job import _must_requeue


def write_checkpoint(folder: Path, generation: int) -> None:
    place = folder / "checkpoints" / f"{generation:012}.1"
    place.mkdir(parents=True)
    (place / "manifest.json").touch()


def test_progress_is_that_of_the_latest_checkpoint(tmp_path: Path) -> None:
    assert str(JobProgress.of(tmp_path)) == "no checkpoint"
    for generation in (40, 120):
        write_checkpoint(tmp_path, generation)
    assert JobProgress.of(tmp_path).generation == 120
    other = tmp_path / "checkpoints" / "best"  # of the user
    other.mkdir()
    (other / "manifest.json").touch()
    assert JobProgress.of(tmp_path).generation == 120


def test_attempts_are_read_as_they_were_written(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    first = attempts.end(attempts.begin("5", ["demo/tsp"]), 75, "SIGUSR1")
    second = attempts.begin("5", ["demo/tsp"])
    assert JobAttempts(tmp_path).all() == [first, second]


@pytest.mark.parametrize(
    ("endings", "are_stuck"),
    [
        ([], False),
        ([(137, None, False)], False),
        ([(137, None, False), (137, None, False)], True),
        ([(137, None, True), (137, None, False)], False),
        ([(75, "SIGUSR1", False), (75, "SIGUSR1", False)], True),
        ([(75, "SIGTERM", False), (75, "SIGTERM", False)], False),  # ended by Slurm, too early
        ([(137, None, False), (137, None, False), (75, "SIGUSR1", True)], False),
    ],
)
def test_two_attempts_without_a_new_checkpoint_are_stuck(
    tmp_path: Path, endings: list[tuple[int, str | None, bool]], are_stuck: bool
) -> None:
    attempts = JobAttempts(tmp_path)
    for number, (status, signal, progresses) in enumerate(endings, 1):
        attempt = attempts.begin("5", ["demo/tsp"])
        if progresses:
            write_checkpoint(tmp_path, 100 * number)
        attempts.end(attempt, status, signal)
    assert attempts.are_stuck("5") is are_stuck


def test_progress_outside_of_the_job_is_not_that_of_its_attempts(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    for generation in (100, 200):
        attempts.end(attempts.begin("5", ["demo/tsp"]), 137)
        write_checkpoint(tmp_path, generation)  # a user has resumed the run
    assert attempts.are_stuck("5")


def test_a_job_is_stuck_if_its_node_was_lost_twice(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    attempts.begin("5", ["demo/tsp"])
    attempts.begin("5", ["demo/tsp"])
    assert attempts.are_stuck("5")


def test_another_job_begins_anew(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    attempts.begin("5", ["demo/tsp"])
    attempts.begin("5", ["demo/tsp"])
    assert not attempts.are_stuck("6")


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    JobAttempts(tmp_path).begin("5", ["demo/tsp"])
    with (tmp_path / "slurm/attempts.jsonl").open("a") as stream:
        stream.write("{half a li\n")
    with pytest.raises(InputError, match="is damaged"):
        JobAttempts(tmp_path).all()


def test_a_partial_last_line_is_ignored_and_replaced(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    first = attempts.begin("5", ["demo/tsp"])
    with (tmp_path / "slurm/attempts.jsonl").open("a") as stream:
        stream.write('{"job": "5", "num')
    assert attempts.all() == [first]
    second = attempts.begin("5", ["demo/tsp"])
    assert attempts.all() == [first, second]


def test_a_time_limit_without_a_checkpoint_is_no_progress(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    for _ in range(2):
        attempts.end(attempts.begin("5", []), 137, "SIGTERM", "time limit")
    assert attempts.are_stuck("5")


@pytest.mark.parametrize(
    ("status", "signal", "ending", "requeues"),
    [
        (75, "SIGUSR1", None, True),
        (75, "SIGUSR1", "time limit", True),  # SIGTERM followed SIGUSR1
        (75, "SIGTERM", "time limit", True),
        (75, "SIGTERM", "preemption", True),
        (75, "SIGTERM", "requeue", False),  # by Slurm itself
        (75, "SIGTERM", "cancel", False),
        (75, "SIGUSR1", "cancel", False),
        (75, "SIGTERM", None, False),  # scancel --signal=TERM
        (75, "SIGTERM", "no answer from Slurm", True),
        (0, None, None, True),  # an mpirun that has lost a node
        (1, None, None, True),  # the same; no rank has reported an error
        (137, None, None, True),
        (2, None, None, False),
        (126, None, None, False),  # of a shell: the program cannot be executed
        (127, None, None, False),  # of a shell: the program is missing
        (128, None, None, True),
        (130, None, None, False),
    ],
)
def test_a_job_requeues_itself_unless_slurm_or_a_user_decides(
    tmp_path: Path, status: int, signal: str | None, ending: str | None, requeues: bool
) -> None:
    attempts = JobAttempts(tmp_path)
    attempt = attempts.end(attempts.begin("5", []), status, signal, ending)
    assert _must_requeue(attempt, [tmp_path]) is requeues


def test_a_run_that_failed_with_its_own_error_is_not_requeued(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    attempt = attempts.begin("5", [])
    attempts.errors.write_text("no feasible solution found\nanother rank\n")
    attempt = attempts.end(attempt, 1, error=attempts.reported_error())
    assert attempt.error == "no feasible solution found"
    assert not _must_requeue(attempt, [tmp_path])
    assert attempts.begin("5", []).error is attempts.reported_error() is None


def test_ranks_report_their_own_errors_but_not_the_loss_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = JobAttempts(tmp_path)
    attempts.begin("5", [])
    record_error(ValueError("outside of a job"))
    monkeypatch.setenv(ERROR_FILE, str(attempts.errors))
    of_mpi = type("Exception", (RuntimeError,), {"__module__": "mpi4py.MPI"})
    for error in (RanksLostError("rank 1 died"), of_mpi("process failed"), KeyboardInterrupt()):
        record_error(error)
        assert attempts.reported_error() is None
    record_error(RunError("no feasible solution found"))
    assert attempts.reported_error() == "no feasible solution found"
