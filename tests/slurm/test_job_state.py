"""States, second jobs and checks before a job begins; without a cluster."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from commands_of_slurm import Commands

from islands.cli import main
from islands.cli.job import checked
from islands.errors import InputError, UsageError
from islands.slurm import commands
from islands.slurm.command_line import JobFacts
from islands.slurm.commands import ending
from islands.slurm.follow import state_of
from islands.slurm.jobs import Job, JobAttempts, latest_job, refuse_second_job
from islands.slurm.run_job import run_job
from islands.slurm.submit import submit_job

RUN = ["demo/tsp", "--backend", "cpu", "--stop", "generations=1", "--quiet"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(tmp_path / "commands", monkeypatch)


def submit(folder: Path, number: str) -> None:
    """Write the files of a submitted job."""
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


def test_slurm_is_asked_again_before_the_reason_is_unknown(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_PAUSE_SECONDS", 0)
    slurm.prints("scontrol", "")
    assert ending("5", restarts=0) == commands.UNKNOWN
    assert len(slurm.calls("scontrol")) == 3


def test_a_refused_job_leaves_the_folder_as_it_was(slurm: Commands) -> None:
    slurm.fails("sbatch", "sbatch: error: Job violates a limit")
    for lines in (None, ["demo/tsp", "demo/qap"]):
        with pytest.raises(InputError, match="Slurm refuses the job: Job violates a limit"):
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


def test_a_stopped_series_is_continued_with_its_words(slurm: Commands) -> None:
    attempts = JobAttempts(Path("all"))
    words = ["demo/tsp", "--runs", "2", "--out", "all"]
    attempts.end(attempts.begin("5", words), 75, "SIGTERM", "cancel")
    command = "sbatch slurm/run.sbatch demo/tsp --runs 2 --out all"
    assert state_of(Path("all")).detail.endswith(f"continue with: {command}")


def test_a_second_job_for_a_folder_is_refused(slurm: Commands) -> None:
    folder = Path("run")
    submit(folder, "5")
    refuse_second_job(folder)
    slurm.prints("squeue", "5")
    refuse_second_job(folder, own="5")
    with pytest.raises(UsageError, match=r"job 5 for this folder is queued .* scancel 5"):
        refuse_second_job(folder)


@pytest.mark.parametrize("options", [["--backend=cpu"], ["--set", "backend=cpu"]])
def test_the_backend_of_a_run_is_found_in_its_options(options: list[str]) -> None:
    assert checked(["run", "demo/tsp", *options]).on_cpu
    assert not checked(["run", "demo/tsp"]).on_cpu


def test_the_backend_of_a_run_is_found_in_files(tmp_path: Path) -> None:
    main(["run", *RUN, "--out", str(tmp_path / "run")])
    assert checked(["run", "--config", str(tmp_path / "run/run.toml")]).on_cpu
    assert checked(["resume", str(tmp_path / "run")]).on_cpu
    assert not checked(["resume", str(tmp_path / "run"), "--backend", "cuda"]).on_cpu


def test_the_options_of_a_run_are_checked_before_the_gpus_of_its_job(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "5")
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "0")

    def check(words: object) -> JobFacts:
        raise UsageError("unknown option '--nonsense'")

    with pytest.raises(UsageError, match="--nonsense"):
        run_job(["--nonsense"], check, Path("run"))
    with pytest.raises(UsageError, match="1 rank and 0 GPUs"):
        run_job([], lambda _: JobFacts(on_cpu=False), Path("other"))
    for folder in ("run", "other"):
        state = state_of(Path(folder))
        assert (state.word, state.job) == ("failed", "5")
        assert state.detail.startswith("status 2")
