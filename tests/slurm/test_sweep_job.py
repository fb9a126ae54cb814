"""The scripts sweep.sbatch and scaling.sbatch on a cluster of two nodes.

ISLANDS_SLURM_RUNS sets the number of runs of a sweep.
"""

from __future__ import annotations

import csv
import io
import os
import shlex
import shutil
import time
from pathlib import Path

from private_slurm import RUN, SCRIPTS, User

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
