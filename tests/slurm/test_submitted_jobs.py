"""Jobs on a cluster of two nodes: submitted ones, sweeps, scaling tests, and the script run.sbatch.

ISLANDS_SLURM_RUNS and ISLANDS_SLURM_REQUEUES set the numbers of runs of a sweep and of requeues.
"""

import csv
import io
import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
from jobs import log, wait_until
from private_slurm import RUN, SCRIPTS, PrivateSlurm, User

from islands.progress.result import Result
from islands.studies.clusters.jobs import JobAttempt, JobAttempts

SHORT = [*RUN, "--population", "64", "--stop", "generations=20"]
RUNS = int(os.environ.get("ISLANDS_SLURM_RUNS", "3"))


def written(path: Path, text: str = "", seconds: float = 180 + 2 * RUNS) -> str:
    """Return the content of a file, once the job that writes it has written some text."""
    wait_until(lambda: path.exists() and text in path.read_text(), seconds=seconds)
    return path.read_text()


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, once the job that writes it has done so."""
    return list(csv.DictReader(io.StringIO(written(path))))


def test_a_sweep_over_seeds_writes_one_table(user: User) -> None:
    script = str(SCRIPTS / "sweep.sbatch")
    user.sbatch(f"--array=1-{RUNS}", script, *SHORT, "--out", "sweep")
    rows = table(user.folder / "sweep/results.csv")
    assert [(row["element"], row["seed"], row["state"]) for row in rows] == [
        (str(seed), str(seed), "done") for seed in range(1, RUNS + 1)
    ]
    second = user.uninterrupted(*SHORT, "--seed", "2")
    assert (rows[1]["digest"], float(rows[1]["cost"])) == (second.digest, second.cost)


def test_failed_elements_are_named_and_run_again_with_the_printed_command(user: User) -> None:
    scripts = user.folder / "my scripts"
    shutil.copytree(SCRIPTS, scripts)
    site = "export SBATCH_PARTITION=cheap\necho site of element ${SLURM_ARRAY_TASK_ID:-none}\n"
    (scripts / "site.env").write_text(site)
    lines = ["# two runs", "", shlex.join(SHORT), shlex.join([*SHORT, "--start", "tour.json"])]
    (user.folder / "sweep.txt").write_text("\n".join(lines) + "\n")
    user.call(str(scripts / "sweep.sbatch"), "sweep.txt", "--out", "sweep")
    result = user.folder / "sweep/results.csv"
    rows = table(result)
    assert [row["state"].partition(":")[0] for row in rows] == ["done", "failed"]
    printed = "".join(path.read_text() for path in user.folder.glob("sweep-*.out"))
    assert {f"site of element {element}" in printed for element in (1, 2)} == {True}
    assert "warning" not in printed, "the script has submitted itself to the site's partition"
    output = written(user.folder / "sweep/slurm/collect.out", "table again, with: ")
    command = shlex.split(output.partition("table again, with: ")[2].partition("\n")[0])
    assert command[:2] == ["sbatch", "--array=2"]
    (user.folder / "tour.json").write_text(str(list(range(120))))
    result.unlink()
    user.call(*command)
    assert [row["state"] for row in table(result)] == ["done", "done"]


def test_a_sweep_is_submitted_over_settings_and_seeds(user: User) -> None:
    printed = user.islands(
        "submit", *SHORT, "--over", "rho=0.6,0.7", "--array", "1-2", "--out", "sweep"
    )
    assert "an array of 4 runs: sweep" in printed
    result = user.folder / "sweep/results.csv"
    rows = table(result)
    assert [row["seed"] for row in rows] == ["1", "2", "1", "2"]
    assert len({row["digest"] for row in rows}) == 4
    assert rows[0]["options"].startswith("demo/tsp --")
    assert "4 done" in user.islands("status", "sweep")
    # The job prints this after it has written the table.
    printed = written(user.folder / "sweep/slurm/collect.out", "4 of 4 runs done")
    assert printed.count("4 of 4 runs done") == 1
    result.unlink()
    user.sbatch("--array=2", "sweep/slurm/job.sbatch")
    assert len(table(result)) == 4, "a second array has a collecting job too"


def test_scaling_compares_the_same_islands_on_one_and_two_nodes(user: User) -> None:
    options = ["--nodes=2", "--ntasks-per-node=2", str(SCRIPTS / "scaling.sbatch")]
    job = user.sbatch(*options, *SHORT, "--out", "scaling")
    # Two runs in turn, of which one has four ranks: slow if other tests use all cores.
    user.cluster.wait(job, "COMPLETED", "FAILED", seconds=300)
    rows = table(user.folder / "scaling/scaling.csv")
    assert [(row["nodes"], row["ranks"]) for row in rows] == [("1", "2"), ("2", "4")]
    assert float(rows[0]["speedup"]) == 1
    assert "same digest on all numbers of nodes" in user.output(job)
    assert user.result("scaling/nodes-2").digest == user.uninterrupted(*SHORT).digest


EXAMPLES = SCRIPTS.parent / "docs/examples"

LINE = ["submit", *RUN, "--stop", "generations=20", "--nodes", "2", "--ranks-per-node", "2"]
LAUNCH_FAILED = (213, 250)
"""Statuses of mpirun if srun cannot start its daemon, as on a machine that stands still."""


def test_a_job_is_submitted_and_followed(user: User) -> None:
    said = json.loads(user.islands(*LINE, "--time", "5m", "--out", "run", "--json"))
    assert (user.folder / said["script"]).read_text().startswith("#!/bin/bash\n")
    shown = user.islands("watch", "run")
    assert "Stopped: 20 generations done" in shown
    assert shown.splitlines()[-1].startswith(f"run: done (job {said['job']})")
    assert user.result("run").ranks == 4
    assert json.loads(user.islands("status", "run", "--json"))["word"] == "done"


def test_a_job_uses_the_python_that_submitted_it_in_folders_with_spaces(user: User) -> None:
    del user.environment["PYTHON"]
    user.environment["PATH"] = "/usr/bin:/bin"
    user.folder = user.folder / "a folder"
    user.folder.mkdir()
    user.islands(*LINE, "--time", "5m", "--out", "a run")
    user.islands("watch", "a run")
    assert user.result("a run").ranks == 4


def test_slurm_receives_a_comment_and_a_folder_as_they_are(user: User) -> None:
    comment = """a "b" 'c' \\ # $(touch owned) `touch owned`"""
    line = [*LINE, "--out", "50%j # $(touch owned)", "--sbatch", f"comment={comment}", "--json"]
    job = json.loads(user.islands(*line))["job"]
    assert user.call("squeue", "--noheader", f"--jobs={job}", "--format=%k") == f"{comment}\n"
    user.islands("watch", "50%j # $(touch owned)")
    assert user.result("50%j # $(touch owned)").ranks == 4
    assert (user.folder / "50%j # $(touch owned)/slurm" / f"{job}.out").exists()
    assert [each.name for each in user.folder.iterdir()] == ["50%j # $(touch owned)"]


def test_a_run_in_a_folder_is_not_taken_for_another(user: User) -> None:
    user.islands("run", *RUN, "--stop", "generations=5", "--out", "run")
    user.islands(*LINE, "--out", "run", status=2)
    # Slurm accepts the script that a dry run prints, and rejects what it does not have.
    (user.folder / "job.sbatch").write_text(user.islands(*LINE, "--time", "1h", "--dry-run"))
    user.call("sbatch", "--test-only", "job.sbatch")
    user.islands(*LINE, "--partition", "nowhere", "--dry-run", status=2)


def test_a_folder_has_one_job_at_a_time_and_may_be_submitted_again(user: User) -> None:
    first = json.loads(user.islands(*LINE, "--sbatch", "hold", "--out", "run", "--json"))["job"]
    rejected = user.islands(*LINE, "--out", "run", status=2)
    assert f"job {first} for this folder is queued or running" in rejected
    assert f"scancel {first}" in rejected
    user.call("scancel", first)
    second = user.call("sbatch", "--parsable", "--hold", "run/slurm/job.sbatch").strip()
    user.call("scontrol", "release", second)
    user.cluster.wait(second, "COMPLETED", "FAILED")
    state = json.loads(user.islands("status", "run", "--json"))
    assert (state["word"], state["job"]) == ("done", second)


def test_a_problem_of_a_script_is_submitted_from_its_folder_requeued_and_resumed(
    user: User,
) -> None:
    place = user.folder / "my problem"
    shutil.copytree(EXAMPLES, place)
    user.folder = place
    words = ["binary_quadratic.py:problem", *RUN[1:], "--population", "512"]
    line = ["submit", *words, "--stop", "seconds=4", "--ranks-per-node", "2", "--out", "run"]
    job = json.loads(user.islands(*line, "--json"))["job"]
    wait_until(lambda: "%" in log(place / "run"), seconds=120)
    user.cluster.call("scontrol", "requeue", job)
    user.cluster.wait(job, "COMPLETED", "FAILED")
    statuses = [each.status for each in JobAttempts(place / "run").all()]
    assert statuses in ([75, 0], *([75, status, 0] for status in LAUNCH_FAILED))
    resume = ["submit", "resume", "run", "binary_quadratic.py:problem", "--backend", "cpu"]
    more = ["--stop", "seconds=4.5", "--nodes", "2", "--ranks-per-node", "2", "--json"]
    job = json.loads(user.islands(*resume, *more))["job"]
    user.cluster.wait(job, "COMPLETED", "FAILED")
    assert "time limit of 4.5 s reached" in user.islands("status", "run")
    assert user.result("run").ranks == 4


def test_the_code_of_somebody_else_is_resumed_only_with_trust(user: User) -> None:
    shutil.copy(EXAMPLES / "binary_quadratic.py", user.folder)
    own = ["binary_quadratic.py:problem", *RUN[1:], "--stop", "generations=9", "--out", "run"]
    user.environment["ISLANDS_CACHE"] = str(user.folder / "cache of somebody else")
    user.islands("run", *own)
    (user.folder / "binary_quadratic.py").unlink()
    user.environment["ISLANDS_CACHE"] = str(user.folder / "my cache")
    resume = ["submit", "resume", "run", "--backend", "cpu", "--stop", "generations=12"]
    user.islands(*resume, status=2)
    job = json.loads(user.islands(*resume, "--trust", "--json"))["job"]
    user.cluster.wait(job, "COMPLETED", "FAILED")
    assert user.result("run").generations == 12


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


def wait_for_generations(user: User, attempt: int) -> None:
    """Wait until the log of an attempt has several rows of progress."""

    def has_rows() -> bool:
        starts = log(user.folder / "run").split("run folder")[1:]
        return len(starts) >= attempt and starts[-1].count("%") >= 3

    wait_until(has_rows, seconds=120)


def rows_of(folder: Path) -> list[tuple[int, int, float]]:
    """Return generation, island and best cost of each row that `record.every` asks for.

    Others are those of each second of work, which depend on the clock.
    """
    import pyarrow.parquet as parquet

    rows: list[tuple[int, int, float]] = []
    for path in sorted((folder / "trace").glob("*.parquet")):
        table = parquet.read_table(path)
        columns = (table.column(name).to_pylist() for name in ("generation", "island", "best"))
        rows += (row for row in zip(*columns, strict=True) if row[0] % 50 == 0)
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
        wait_until(lambda before=before: checkpoint_of(user) > before)
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
    attempts = JobAttempts(user.folder / "all")
    wait_until(lambda: attempts.all() and attempts.all()[0].holds_run)
    user.cluster.call("scontrol", "requeue", job)
    user.cluster.wait(job, "COMPLETED", "FAILED")
    first, last = attempts.all()
    assert (first.ending, last.status) == ("requeue", 0)
    results = [user.result(f"all/subset-8-seed{seed}") for seed in (1, 2)]
    assert [(each.generations, each.ranks) for each in results] == [(20, 2)] * 2
    assert f"done (job {job})" in user.islands("status", "all")
