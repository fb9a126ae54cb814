"""Whether an attempt continues the run in its folder or replaces it; without a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_of_slurm import Commands

from islands import cli
from islands.cli import job
from islands.cli.job import checked, trust_words
from islands.custom.trust import command
from islands.errors import UntrustedError
from islands.record.folder import FINISHED
from islands.record.solution import recorded
from islands.slurm import processes
from islands.slurm.command_line import CommandWords
from islands.slurm.follow import state_of
from islands.slurm.jobs import JobAttempts
from islands.slurm.run_job import continues, options

RUN = ["demo/tsp", "--backend", "cpu", "--threads", "1", "--islands", "2", "--population", "16"]
RUN += ["--algorithm", "brkga", "--quiet", "--stop", "generations=5"]
TSP = ["demo/tsp", "--stop", "generations=5"]
OLD, NEW = [*RUN, "--seed", "1"], [*RUN, "--seed", "2", "--out", "run", "--force"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "0")
    commands = Commands(tmp_path / "commands", monkeypatch)
    commands.prints("scontrol", "JobState=RUNNING")
    return commands


def attempt(monkeypatch: pytest.MonkeyPatch, number: str, *words: str) -> int:
    """Return the exit status of an attempt of a job."""
    monkeypatch.setenv("SLURM_JOB_ID", number)
    return job.main(["run", *words])


def killed(monkeypatch: pytest.MonkeyPatch, number: str, *words: str) -> None:
    """Make an attempt that ends before its ranks have begun."""
    with monkeypatch.context() as patched:
        patched.setattr(processes.Signals, "run", lambda *_: 137)
        assert attempt(monkeypatch, number, *words) == 137


def seed(folder: str) -> int:
    return int(recorded(Path(folder)).result.seed)


def test_force_replaces_the_old_run_even_if_the_first_attempt_ends_at_once(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.main(["run", *OLD, "--out", "run"])
    killed(monkeypatch, "5", *NEW)
    assert slurm.calls("scontrol")[-1] == "requeue 5"
    assert attempt(monkeypatch, "5", *NEW) == 0
    assert seed("run") == 2


def test_force_that_is_refused_keeps_the_old_run(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.main(["run", *OLD, "--out", "run"])
    assert attempt(monkeypatch, "5", *NEW, "--rho", "2") == 2
    assert seed("run") == 1
    assert attempt(monkeypatch, "6", *NEW) == 0
    assert seed("run") == 2


def test_the_same_words_continue_a_run_and_repeat_a_finished_one(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(monkeypatch, "5", *NEW)
    assert attempt(monkeypatch, "6", *NEW) == 0
    first = Path("run", FINISHED).stat().st_mtime_ns
    assert attempt(monkeypatch, "7", *[word for word in NEW if word != "--force"]) == 2
    assert attempt(monkeypatch, "8", *NEW) == 0
    assert Path("run", FINISHED).stat().st_mtime_ns > first


def test_a_series_runs_in_a_job_and_is_continued(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*RUN, "--runs", "2", "--out", "runs", "--force"]
    cli.main(["run", *RUN, "--stop", "generations=7", "--runs", "2", "--out", "runs"])
    assert checked(["run", *words]).runs == ("tsp-seed1", "tsp-seed2")
    assert len(checked(["run", "demo/qap", *RUN, "--out", "several"]).runs) == 2
    killed(monkeypatch, "5", *words)
    assert not list(Path("runs").glob(f"*/{FINISHED}")), "no old run is taken for a new one"
    assert attempt(monkeypatch, "5", *words) == 0
    for name in ("runs/tsp-seed1", "runs/tsp-seed2"):
        assert recorded(Path(name)).result.generations == 5
    assert slurm.calls("scontrol")[-1] == "requeue 5", "the second attempt does not requeue"
    state = state_of(Path("runs"))
    assert (state.word, state.job) == ("done", "5")
    assert "runs.tsv" in state.detail


def test_the_element_of_a_sweep_is_one_run(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "5")
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "5")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "1")
    assert job.main(["sweep", *RUN, "--runs", "2", "--out", "all"]) == 2
    assert "the options make a series of 2 runs" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"])
def test_a_sweep_names_the_variable_that_is_not_set(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = {"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}
    for each in variables:
        monkeypatch.setenv(each, "1")
    monkeypatch.delenv(missing)
    assert job.main(["sweep", *RUN]) == 2
    said = capsys.readouterr().err
    assert [each for each in sorted(variables) if each in said] == [missing]


def continued(*words: str) -> list[str]:
    """Return the words that continue the run in the folder `run`, as in a job with these words."""
    with command([]):
        trust_words(words)
        return options(CommandWords([*words, "--out", "run"]), Path("run"), goes_on=True)


SCRIPT = """
import islands
COST = "__device__ long long cost(const Solution& s, int n, const Data&) { return WEIGHT * s[0]; }"
problem = islands.subset(8, cost=COST.replace("WEIGHT", "3"), reference=lambda s: 3 * s[:, 0])
"""


def test_a_resumed_run_names_its_script_for_nodes_that_do_not_trust_the_copy(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ["own.py:problem", *RUN[1:]]
    Path("own.py").write_text(SCRIPT)
    cli.main(["run", *own, "--out", "run"])
    words = continued(*own)
    assert words[:3] == ["resume", "run", f"{Path('own.py').resolve()}:problem"]
    monkeypatch.setenv("ISLANDS_CACHE", "cache-of-another-node")
    with pytest.raises(UntrustedError):
        checked(["resume", "run"])
    assert checked(words).on_cpu
    Path("own.py").write_text(SCRIPT.replace("3", "4"))
    words = continued(*own)
    assert words[:3] == ["resume", "run", "--backend"], "the script has changed: use the copy"


PARTS = """
import islands
from copied_parts import Spread


class Other(Spread):
    name = "other"
"""


@pytest.mark.parametrize(
    "named",
    [
        ["--crossover", "parts.py:Other"],
        ["--crossover=parts.py:Other"],
        ["--set", "crossover=parts.py:Other"],
        ["--colony", "islands=2 crossover=parts.py:Other"],
    ],
)
def test_a_resumed_run_names_the_parts_that_the_words_of_the_job_name(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch, named: list[str]
) -> None:
    Path("parts.py").write_text(PARTS)
    run = ["ga" if word == "brkga" else word for word in RUN] + ["--encoding", "keys", *named]
    cli.main(["run", *run, "--out", "run"])
    words = continued(*run)
    part = ["--crossover", f"{Path('parts.py').resolve()}:Other"]
    assert words[:4] == ["resume", "run", *part]
    monkeypatch.setenv("ISLANDS_CACHE", "cache-of-another-node")
    with pytest.raises(UntrustedError):
        checked(["resume", "run"])
    assert checked(words).on_cpu
    # A folder of somebody else, whose scripts the job does not name, gets none of them.
    assert continued("demo/tsp") == ["resume", "run"]


def test_a_script_that_the_folder_alone_names_is_not_run(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.py").write_text(SCRIPT)
    cli.main(["run", "own.py:problem", *RUN[1:], "--out", "run"])
    Path("own.py").rename("evil.py")
    with Path("evil.py").open("a") as file:
        file.write("raise AssertionError('the script has been run')")
    settings = Path("run/run.toml")
    settings.write_text(settings.read_text().replace("own.py", "evil.py"))
    words = continued("own.py:problem")
    assert words == ["resume", "run"]


def test_an_error_of_a_rank_is_final_and_its_message_is_shown(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.py").write_text(SCRIPT.replace("s[:, 0]", "s[:, 0] + 1"))  # another cost
    assert attempt(monkeypatch, "5", "own.py:problem", *RUN[1:], "--out", "run") == 1
    assert not slurm.calls("scontrol"), "the job is not requeued"
    state = state_of(Path("run"))
    assert state.word == "failed"
    assert state.detail.startswith("status 1; ")
    assert "its exact cost is 1" in state.detail


def test_a_launcher_that_fails_without_an_error_of_a_rank_is_not_final(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        with monkeypatch.context() as patched:
            patched.setattr(processes.Signals, "run", lambda *_: 1)
            assert attempt(monkeypatch, "5", *NEW) == 1
        assert slurm.calls("scontrol").count("requeue 5") == 1, f"attempt {number}"
    assert "status 1" in state_of(Path("run")).detail


def test_a_scaling_test_repeats_finished_runs_only_with_force(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for number, more in (("5", []), ("6", []), ("7", ["--force"])):
        monkeypatch.setenv("SLURM_JOB_ID", number)
        assert job.main(["scaling", *RUN, *more, "--out", "scaling"]) == 0
        written.append(Path("scaling/nodes-1", FINISHED).stat().st_mtime_ns)
    assert written[0] == written[1] < written[2]
    monkeypatch.setenv("SLURM_JOB_ID", "8")
    assert job.main(["scaling", *RUN, "--seed", "9", "--out", "scaling"]) == 2, "another run"


@pytest.mark.parametrize(
    ("status", "goes_on"),
    [(75, True), (137, True), (None, True), (1, True), (0, False)],
    ids=["suspended", "killed", "its node was lost", "failed", "done"],
)
@pytest.mark.parametrize("job", ["5", "6"])
def test_force_repeats_only_a_run_that_is_done(
    status: int | None, goes_on: bool, job: str, tmp_path: Path
) -> None:
    words = [*TSP, "--force", "--out", str(tmp_path)]
    attempts = JobAttempts(tmp_path)
    attempt = attempts.begin("5", words, holds_run=True)
    if status is not None:
        attempts.end(attempt, status)
    # The same job, requeued, never begins anew.
    found = continues(CommandWords(words), tmp_path, attempts, job)
    assert found == (goes_on or job == "5")


def test_force_begins_anew_after_a_job_with_other_options(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    attempts.end(attempts.begin("5", [*TSP, "--out", str(tmp_path)], holds_run=True), 75)
    other = CommandWords([*TSP, "--seed", "2", "--force", "--out", str(tmp_path)])
    assert not continues(other, tmp_path, attempts, "6")
