"""Submitted jobs, sweeps and scaling tests on a cluster of two nodes.

ISLANDS_SLURM_RUNS sets the number of runs of a sweep.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import shutil
import time
from pathlib import Path

from private_slurm import RUN, SCRIPTS, User

from islands.slurm.jobs import JobAttempts

SHORT = [*RUN, "--population", "64", "--stop", "generations=20"]
RUNS = int(os.environ.get("ISLANDS_SLURM_RUNS", "3"))


def written(path: Path, text: str = "", seconds: float = 180 + 2 * RUNS) -> str:
    """Return the content of a file, once the job that writes it has written some text."""
    deadline = time.monotonic() + seconds
    while not path.exists() or text not in path.read_text():
        assert time.monotonic() < deadline, f"no {text or 'table'} in {path}"
        time.sleep(0.2)
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
    # Slurm accepts the script that a dry run prints, and refuses what it does not have.
    (user.folder / "job.sbatch").write_text(user.islands(*LINE, "--time", "1h", "--dry-run"))
    user.call("sbatch", "--test-only", "job.sbatch")
    user.islands(*LINE, "--partition", "nowhere", "--dry-run", status=2)


def test_a_folder_has_one_job_at_a_time_and_may_be_submitted_again(user: User) -> None:
    first = json.loads(user.islands(*LINE, "--sbatch", "hold", "--out", "run", "--json"))["job"]
    refused = user.islands(*LINE, "--out", "run", status=2)
    assert f"job {first} for this folder is queued or running" in refused
    assert f"scancel {first}" in refused
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
    deadline = time.monotonic() + 120
    while "%" not in (log := read(place / "run/log.txt")):
        assert time.monotonic() < deadline, log
        time.sleep(0.2)
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


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
