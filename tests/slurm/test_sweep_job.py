"""The scripts sweep.sbatch and scaling.sbatch on a cluster of two nodes."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from jobs_on import RUN, SCRIPTS, User
from private_slurm import PrivateSlurm

SHORT = [*RUN, "--population", "64", "--stop", "generations=20"]


@pytest.fixture
def user(cluster: PrivateSlurm, tmp_path: Path) -> User:
    return User(cluster, tmp_path)


def table(path: Path, seconds: float = 120) -> list[dict[str, str]]:
    """Return the rows of a table, once the job that writes it has done so."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.2)
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_a_sweep_over_seeds_writes_one_table(user: User) -> None:
    user.sbatch("--array=1-3", str(SCRIPTS / "sweep.sbatch"), *SHORT, "--out", "sweep")
    rows = table(user.folder / "sweep/results.csv")
    assert [(row["element"], row["seed"], row["state"]) for row in rows] == [
        (str(seed), str(seed), "done") for seed in (1, 2, 3)
    ]
    second = user.uninterrupted(*SHORT, "--seed", "2")
    assert (rows[1]["digest"], float(rows[1]["cost"])) == (second.digest, second.cost)


def test_a_failed_element_is_named_and_runs_again_alone(user: User) -> None:
    lines = [" ".join(SHORT), " ".join([*SHORT, "--start", "tour.json"])]
    (user.folder / "sweep.txt").write_text("\n".join(lines) + "\n")
    script = [str(SCRIPTS / "sweep.sbatch"), "sweep.txt", "--out", "sweep"]
    user.sbatch("--array=1-2", *script)
    rows = table(user.folder / "sweep/results.csv")
    assert [row["state"].partition(":")[0] for row in rows] == ["done", "failed"]
    assert "--array=2" in (user.folder / "sweep/slurm/collect.out").read_text()
    (user.folder / "tour.json").write_text(str(list(range(120))))
    job = user.sbatch("--array=2", *script)
    user.cluster.wait(job, "COMPLETED", "FAILED")
    assert "2 of 2 runs done" in user.islands("collect", "sweep")


def test_a_sweep_is_submitted_over_settings_and_seeds(user: User) -> None:
    said = user.islands(
        "submit", *SHORT, "--over", "rho=0.6,0.7", "--array", "1-2", "--out", "sweep"
    )
    assert "an array of 4 runs: sweep" in said
    rows = table(user.folder / "sweep/results.csv")
    assert [row["seed"] for row in rows] == ["1", "2", "1", "2"]
    assert len({row["digest"] for row in rows}) == 4
    assert "4 done" in user.islands("status", "sweep")
    assert (user.folder / "sweep/slurm/collect.out").read_text().count("4 of 4 runs done") == 1


def test_scaling_compares_the_same_islands_on_one_and_two_nodes(user: User) -> None:
    options = ["--nodes=2", "--ntasks-per-node=2", str(SCRIPTS / "scaling.sbatch")]
    job = user.sbatch(*options, *SHORT, "--out", "scaling")
    user.cluster.wait(job, "COMPLETED", "FAILED")
    rows = table(user.folder / "scaling/scaling.csv")
    assert [(row["nodes"], row["ranks"]) for row in rows] == [("1", "2"), ("2", "4")]
    assert float(rows[0]["speedup"]) == 1
    assert "same digest on all numbers of nodes" in user.output(job)
    assert user.result("scaling/nodes-2").digest == user.uninterrupted(*SHORT).digest
