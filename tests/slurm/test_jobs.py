"""The allocation of a job, its attempts and its state; without a cluster."""

import time
from pathlib import Path

import pytest
from commands_of_slurm import Commands

from islands.errors import InputError, RunError, UsageError
from islands.parallel import ERROR_FILE, record_error
from islands.studies.clusters.commands import ending
from islands.studies.clusters.follow import state_of
from islands.studies.clusters.jobs import Job, JobAttempts, latest_job, reject_second_job
from islands.studies.clusters.ranks import Allocation, find_launcher
from islands.studies.clusters.run_job import _must_requeue
from islands.studies.clusters.submit import seconds_of, signal_before, submit_job, time_limit
from islands.studies.clusters.sweep import element_options

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "solve"}
NO_GPUS = {"SLURM_GPUS_ON_NODE": "0"}


def allocation(**variables: str) -> Allocation:
    return Allocation.of(JOB | variables)


def test_tasks_of_each_node_are_read() -> None:
    assert allocation(SLURM_TASKS_PER_NODE="4(x2),1", **NO_GPUS).ranks == (4, 4, 1)
    assert allocation(SLURM_TASKS_PER_NODE="2", **NO_GPUS).ranks == (2,)


@pytest.mark.parametrize(
    ("variables", "gpus"),
    [
        ({"SLURM_GPUS_ON_NODE": "4"}, 4),
        ({"SLURM_GPUS_ON_NODE": "4", "CUDA_VISIBLE_DEVICES": "0"}, 4),  # --gpus-per-task
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, 2),
        ({"CUDA_VISIBLE_DEVICES": ""}, 0),
    ],
)
def test_gpus_are_counted_however_slurm_grants_them(variables: dict[str, str], gpus: int) -> None:
    assert allocation(**variables).gpus == gpus


def test_ranks_and_gpus_that_do_not_match_are_rejected() -> None:
    for tasks, gpus in (("2", "0"), ("1", "4"), ("4", "2")):
        job = allocation(SLURM_TASKS_PER_NODE=tasks, SLURM_GPUS_ON_NODE=gpus)
        with pytest.raises(UsageError):
            job.require_a_gpu_for_each_rank(on_cpu=False, share_gpu=False)
        job.require_a_gpu_for_each_rank(on_cpu=True, share_gpu=False)
    with pytest.raises(UsageError, match="nowhere"):
        find_launcher(2, {"ISLANDS_LAUNCHER": "nowhere"})


def test_time_limits_are_those_of_users_or_of_slurm() -> None:
    for text, limit, seconds in (
        ("90s", "00:01:30", 90),
        ("1h", "01:00:00", 3600),
        ("1-12:00:00", "1-12:00:00", 129600),
        ("2-6", "2-6", 194400),
        ("5:30", "5:30", 330),
        ("2-6:30", "2-6:30", 196200),
    ):
        assert (time_limit(text), seconds_of(limit)) == (limit, seconds)
    for text in ("", "1x", "60", "-1h", "0s", "1-", "nan"):
        with pytest.raises(ValueError, match="must be a time such as"):
            time_limit(text)
    assert seconds_of("1") == 60, "of a site, a number alone means minutes"
    assert signal_before("1") == "B:USR1@15"
    assert signal_before("01:00:00") == "B:USR1@120"
    assert signal_before("UNLIMITED") is None


def test_an_element_has_its_number_as_seed_or_a_line_of_the_list(tmp_path: Path) -> None:
    assert element_options(["demo/tsp"], 3) == ["demo/tsp", "--seed", "3"]
    assert element_options(["demo/tsp"], 0)[-1] == "0"
    with pytest.raises(UsageError, match="--seed 5"):
        element_options(["demo/tsp", "--seed", "5"], 3)
    path = tmp_path / "sweep.txt"
    path.write_text("# eight islands\n\ndemo/tsp --islands 8\n  # more\n\t\ndemo/qap\n")
    assert element_options([str(path), "--quiet"], 2) == ["demo/qap", "--quiet"]
    for element in (0, 3):
        with pytest.raises(UsageError, match=f"element {element}: .* for elements 1 to 2"):
            element_options([str(path)], element)


def write_checkpoint(folder: Path, generation: int) -> None:
    place = folder / "checkpoints" / f"{generation:012}.1"
    place.mkdir(parents=True)
    (place / "manifest.json").touch()


@pytest.mark.parametrize(
    ("endings", "are_stuck"),
    [
        ([], False),
        ([(137, None, False)], False),
        ([(None, None, False), (None, None, False)], True),  # its node was lost twice
        ([(137, None, False), (137, None, False)], True),
        ([(137, None, True), (137, None, False)], False),
        ([(75, "SIGUSR1", False), (75, "SIGUSR1", False)], True),
        ([(75, "SIGTERM", False), (75, "SIGTERM", False)], False),  # ended by Slurm, too early
        ([(137, None, False), (137, None, False), (75, "SIGUSR1", True)], False),
    ],
)
def test_two_attempts_without_a_new_checkpoint_are_stuck(
    tmp_path: Path, endings: list[tuple[int | None, str | None, bool]], are_stuck: bool
) -> None:
    attempts = JobAttempts(tmp_path)
    for number, (status, signal, progresses) in enumerate(endings, 1):
        attempt = attempts.begin("5", ["demo/tsp"])
        if progresses:
            write_checkpoint(tmp_path, 100 * number)
        if status is not None:
            attempts.end(attempt, status, signal)
    assert attempts.are_stuck("5") is are_stuck
    assert not attempts.are_stuck("6"), "another job begins anew"


def test_a_record_is_read_back_a_damaged_one_rejected_and_a_partial_line_replaced(
    tmp_path: Path,
) -> None:
    attempts, path = JobAttempts(tmp_path), tmp_path / "slurm/attempts.jsonl"
    first = attempts.end(attempts.begin("5", ["demo/tsp"]), 75, "SIGUSR1")
    with path.open("a") as stream:
        stream.write('{"job": "5", "num')
    assert attempts.all() == [first]
    second = attempts.begin("5", ["demo/tsp"])
    assert JobAttempts(tmp_path).all() == [first, second]
    with path.open("a") as stream:
        stream.write("{half a li\n")
    with pytest.raises(InputError, match="is damaged"):
        JobAttempts(tmp_path).all()


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


def test_ranks_report_their_own_errors_which_are_final_but_not_the_loss_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = JobAttempts(tmp_path)
    attempt = attempts.begin("5", [])
    record_error(ValueError("outside of a job"))
    monkeypatch.setenv(ERROR_FILE, str(attempts.errors))
    of_mpi = type("Exception", (RuntimeError,), {"__module__": "mpi4py.MPI"})
    for error in (of_mpi("process failed"), KeyboardInterrupt()):
        record_error(error)
        assert attempts.reported_error() is None
    record_error(RunError("no feasible solution found"))
    attempt = attempts.end(attempt, 1, error=attempts.reported_error())
    assert attempt.error == "no feasible solution found"
    assert not _must_requeue(attempt, [tmp_path])
    assert attempts.begin("5", []).error is attempts.reported_error() is None


def submit(folder: Path, number: str) -> None:
    (folder / "slurm").mkdir(parents=True, exist_ok=True)
    (folder / "slurm/job.sbatch").touch()
    Job(number, str(folder), str(folder / "slurm/job.sbatch"), time.time()).write()


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ("JobState=RUNNING Restarts=1 PreemptTime=None Reason=None", None),
        ("JobState=COMPLETING Restarts=2 Reason=None", "requeue"),
        ("JobState=COMPLETING Restarts=1 Reason=None", "cancel"),
        ("JobState=COMPLETING Restarts=1 Reason=TimeLimit", "time limit"),
        ("JobState=COMPLETING Restarts=1 PreemptTime=2026-01-01T12:00:00", "preemption"),
        ("JobState=RUNNING Restarts=1 PreemptTime=2026-01-01T12:00:00", "preemption"),
        ("JobState=RUNNING", None),
    ],
)
def test_slurm_tells_why_it_ends_a_job(slurm: Commands, shown: str, why: str | None) -> None:
    slurm.prints("scontrol", f"JobId=5 {shown}")
    assert ending("5", restarts=1) == why


def test_a_rejected_job_leaves_the_folder_as_it_was(slurm: Commands) -> None:
    slurm.fails("sbatch", "sbatch: error: Job violates a limit")
    for lines in (None, ["demo/tsp", "demo/qap"]):
        with pytest.raises(InputError, match="Job violates a limit"):
            submit_job("new script", Path("runs/new"), lines)
        assert not Path("runs/new").exists()
    submit(Path("run"), "5")
    Path("run/slurm/job.sbatch").write_text("old script")
    with pytest.raises(InputError):
        submit_job("new script", Path("run"), None)
    assert Path("run/slurm/job.sbatch").read_text() == "old script"
    assert {path.name for path in Path("run/slurm").iterdir()} == {"job.sbatch", "job.json"}


def test_a_resubmitted_job_is_the_one_that_is_shown(slurm: Commands) -> None:
    folder = Path("run")
    submit(folder, "5")
    attempts = JobAttempts(folder)
    attempts.end(attempts.begin("5", []), 75, "SIGTERM", "cancel")
    assert "sbatch run/slurm/job.sbatch" in state_of(folder).detail
    attempts.begin("6", [])
    assert latest_job(folder) == "6"
    submit(folder, "7")
    slurm.prints("squeue", "PENDING|(Priority)")
    assert str(state_of(folder)) == "queued (job 7): Priority"
    slurm.prints("squeue", "PENDING|(None)")
    assert str(state_of(folder)) == "queued (job 7)"


def test_a_second_job_for_a_folder_is_rejected(slurm: Commands) -> None:
    folder = Path("run")
    submit(folder, "5")
    reject_second_job(folder)
    slurm.prints("squeue", "5")
    reject_second_job(folder, own="5")
    with pytest.raises(UsageError, match="scancel 5"):
        reject_second_job(folder)
