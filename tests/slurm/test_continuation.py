"""Attempts that continue a run or replace it, and elements of job arrays; without a cluster."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch, rows_of
from commands_of_slurm import Commands, in_array

from islands import cli
from islands.cli import job
from islands.cli.job import checked, trust_words
from islands.custom.trust import command
from islands.errors import UntrustedError
from islands.record.folder import FINISHED
from islands.record.solution import recorded
from islands.studies.clusters import processes
from islands.studies.clusters.command_line import CommandWords
from islands.studies.clusters.follow import state_of, states_of
from islands.studies.clusters.jobs import JobAttempts
from islands.studies.clusters.run_job import continues, options
from islands.studies.clusters.sweep import arrays_of, begin_array

RUN = ["demo/tsp", "--backend", "cpu", "--threads", "1", "--islands", "2", "--population", "16"]
RUN += ["--algorithm", "brkga", "--quiet", "--stop", "generations=5"]
TSP = ["demo/tsp", "--stop", "generations=5"]
OLD, NEW = [*RUN, "--seed", "1"], [*RUN, "--seed", "2", "--out", "run", "--force"]


@pytest.fixture
def slurm(slurm: Commands, monkeypatch: Patch) -> Commands:
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "0")
    slurm.prints("scontrol", "JobState=RUNNING")
    slurm.prints("sbatch", "99")
    return slurm


def attempt(monkeypatch: Patch, number: str, *words: str) -> int:
    monkeypatch.setenv("SLURM_JOB_ID", number)
    return job.main(["run", *words])


def killed(monkeypatch: Patch, number: str, *words: str) -> None:
    """Make an attempt that ends before its ranks have begun."""
    with monkeypatch.context() as patched:
        patched.setattr(processes.Signals, "run", lambda *_: 137)
        assert attempt(monkeypatch, number, *words) == 137


def seed(folder: str) -> int:
    return int(recorded(Path(folder)).result.seed)


@pytest.mark.slow
def test_force_replaces_the_old_run_even_if_the_first_attempt_ends_at_once(
    slurm: Commands, monkeypatch: Patch
) -> None:
    cli.main(["run", *OLD, "--out", "run"])
    killed(monkeypatch, "5", *NEW)
    assert slurm.calls("scontrol")[-1] == "requeue 5"
    assert attempt(monkeypatch, "5", *NEW) == 0
    assert seed("run") == 2


@pytest.mark.slow
def test_the_same_words_continue_a_run_and_repeat_a_finished_one(
    slurm: Commands, monkeypatch: Patch
) -> None:
    killed(monkeypatch, "5", *NEW)
    assert attempt(monkeypatch, "6", *NEW) == 0
    first = Path("run", FINISHED).stat().st_mtime_ns
    assert attempt(monkeypatch, "7", *[word for word in NEW if word != "--force"]) == 2
    assert attempt(monkeypatch, "8", *NEW) == 0
    assert Path("run", FINISHED).stat().st_mtime_ns > first


@pytest.mark.slow
def test_a_series_runs_in_a_job_and_is_continued(
    slurm: Commands, monkeypatch: Patch, capsys: Capture
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


def continued(*words: str) -> list[str]:
    """Return the words that continue the run in the folder `run`, as in a job with these words."""
    with command([]):
        trust_words(words)
        return options(CommandWords([*words, "--out", "run"]), Path("run"), is_resumed=True)


SCRIPT = """
import islands
COST = "__device__ long long cost(const Solution& s, int n, const Data&) { return WEIGHT * s[0]; }"
problem = islands.subset(8, cost=COST.replace("WEIGHT", "3"), reference=lambda s: 3 * s[:, 0])
"""


@pytest.mark.slow
def test_a_resumed_run_names_its_script_for_nodes_that_do_not_trust_the_copy(
    slurm: Commands, monkeypatch: Patch
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


@pytest.mark.slow
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
    slurm: Commands, monkeypatch: Patch, named: list[str]
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
    slurm: Commands, monkeypatch: Patch
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


@pytest.mark.slow
def test_an_error_of_a_rank_is_final_and_its_message_is_shown(
    slurm: Commands, monkeypatch: Patch
) -> None:
    Path("own.py").write_text(SCRIPT.replace("s[:, 0]", "s[:, 0] + 1"))  # another cost
    assert attempt(monkeypatch, "5", "own.py:problem", *RUN[1:], "--out", "run") == 1
    assert not slurm.calls("scontrol"), "the job is not requeued"
    state = state_of(Path("run"))
    assert state.word == "failed"
    assert state.detail.startswith("status 1; ")
    assert "its exact cost is 1" in state.detail


def test_a_launcher_that_fails_without_an_error_of_a_rank_is_not_final(
    slurm: Commands, monkeypatch: Patch
) -> None:
    for number in (1, 2):
        with monkeypatch.context() as patched:
            patched.setattr(processes.Signals, "run", lambda *_: 1)
            assert attempt(monkeypatch, "5", *NEW) == 1
        assert slurm.calls("scontrol").count("requeue 5") == 1, f"attempt {number}"
    assert "status 1" in state_of(Path("run")).detail


@pytest.mark.parametrize(
    ("status", "goes_on"),
    [(75, True), (137, True), (None, True), (1, True), (0, False)],
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
    assert not continues(CommandWords([*words, "--seed", "2"]), tmp_path, attempts, "6")


QUICK_RUN = ["--backend", "cpu", "--islands", "2", "--population", "16", "--improver", "none"]
QUICK_RUN += ["--quiet", "--stop", "generations=2"]


def run_element(monkeypatch: Patch, element: int, *words: str, number: str = "5") -> int:
    with monkeypatch.context() as patched:
        for name, value in in_array(element, number).items():
            patched.setenv(name, value)
        return job.main(["sweep", *words])


def test_an_element_that_fails_at_once_is_listed_with_the_others(
    slurm: Commands, monkeypatch: Patch, capsys: Capture
) -> None:
    Path("sweep.txt").write_text("# one\ndemo/tsp --nonsense 1\n\ndemo/tsp\n")
    words = ["sweep.txt", "--quiet", "--out", "all"]
    assert run_element(monkeypatch, 3, *words) == 2, "the list has only two lines"
    assert run_element(monkeypatch, 1, *words) == 2
    captured = capsys.readouterr().err
    assert "unknown option '--nonsense'" in captured, "options are checked before GPUs"
    assert len(slurm.calls("sbatch")) == 1, "one collecting job for the array"
    assert "--dependency=afterany:5" in slurm.calls("sbatch")[0]
    states = states_of(Path("all"))
    assert [state.word for state in states.values()] == ["failed"] * 3
    assert "status 2" in states[3].detail
    Path("sweep.txt").unlink()
    assert cli.main(["collect", "all"]) == 1
    rows = rows_of("all/results.csv")
    options = ["demo/tsp --nonsense 1 --quiet", "demo/tsp --quiet", ""]
    assert [row["options"] for row in rows] == options
    assert (
        "with: sbatch --array=1,2,3 --nodes=1 --ntasks-per-node=2"
        " '/home/me/a folder/sweep.sbatch' sweep.txt --quiet --out all\n"
    ) in capsys.readouterr().out
    # Another array has a collecting job of its own.
    run_element(monkeypatch, 2, "no-instance", "--out", "all", number="50")
    assert len(slurm.calls("sbatch")) == 2
    assert [each.job for each in arrays_of(Path("all"))] == ["5", "50"]


def test_the_elements_and_options_of_an_array_are_those_that_slurm_lists(
    slurm: Commands, monkeypatch: Patch
) -> None:
    slurm.prints("squeue", "7|mine|gpu|normal|1:00:00\n12|mine|gpu|normal|1:00:00")
    begun = begin_array(Path("all"), "5", ["demo/tsp"])
    assert begun.elements == (7, 12)
    assert begun.collecting == "99"
    assert begun.command_to_repeat([12]) == (
        "sbatch --array=12 --time=1:00:00 --account=mine --partition=gpu --qos=normal"
        " slurm/sweep.sbatch demo/tsp --out all"
    )
    assert "--account=mine --partition=gpu" in slurm.calls("sbatch")[0]
    assert begin_array(Path("all"), "5", ["demo/tsp"]) is None


def test_of_several_elements_that_begin_together_one_records_the_array(slurm: Commands) -> None:
    with ThreadPoolExecutor(3) as pool:
        begun = list(pool.map(lambda _: begin_array(Path("all"), "5", ["demo/tsp"]), range(3)))
    (array,) = [each for each in begun if each is not None]
    assert array.collecting == "99"
    assert len(slurm.calls("sbatch")) == 1


@pytest.mark.slow
def test_scripts_of_a_list_that_the_user_has_submitted_are_run(
    slurm: Commands, monkeypatch: Patch, capsys: Capture
) -> None:
    text = "import islands\nproblem = islands.tsp([[0, 0], [0, 9], [9, 0], [9, 9], [5, 5]])\n"
    Path("own.py").write_text(text)
    line = ["own.py:problem", *QUICK_RUN, "--array", "1-2", "--out", "all"]
    assert cli.main(["submit", *line]) == 0
    listed = "all/slurm/sweep.txt"
    assert run_element(monkeypatch, 1, listed, "--out", "all") == 0
    written = Path(listed).read_text()
    Path(listed).write_text(written.replace("--seed 2", "--seed 3"))
    assert run_element(monkeypatch, 2, listed, "--out", "all") == 2
    assert "add --trust, or specify them too" in capsys.readouterr().err
    assert run_element(monkeypatch, 2, listed, "--trust", "--out", "all") == 0
    # Other lists need no signature.
    assert cli.main(["submit", "demo/tsp", *QUICK_RUN, "--array", "1-2", "--out", "other"]) == 0
    assert "#" not in Path("other/slurm/sweep.txt").read_text()
