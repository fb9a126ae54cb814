"""`islands resume` on the CPU: a resumed run equals an uninterrupted one."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from instance_texts import tsplib_text

from islands.cli import main
from islands.instances.synthetic import uniform_tsp

RUN = ["--population", "32", "--islands", "6", "--interval", "8", "--backend", "cpu"]
RUN += ["--set", "record.every=5", "--threads", "1", "--seed", "3", "--improver", "none"]
ENDLESS = ["run", "demo/tsp", *RUN, "--stop", "generations=1000000", "--out", "a"]
ENDLESS += ["--set", "checkpoint.every=0.02"]
KILLS = Path(__file__).parents[1] / "kills"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def done(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def rows(folder: str, name: str) -> list[dict[str, Any]]:
    """Return the records of all ranks, without columns that depend on time and device."""
    tables = [pq.read_table(path) for path in sorted(Path(folder, name).iterdir())]
    together = pa.concat_tables([table.replace_schema_metadata() for table in tables])
    together = together.drop(
        [c for c in ("seconds", "microseconds", "transport") if c in together.schema.names]
    )
    island = "island" if name == "trace" else "to"
    return together.sort_by([("generation", "ascending"), (island, "ascending")]).to_pylist()


def manifests() -> set[Path]:
    return set(Path("a").glob("checkpoints/*/manifest.json"))


def begun(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a run and wait for its first checkpoints."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    for _ in range(1500):
        if len(manifests()) > 1:
            return process
        time.sleep(0.02)
    process.kill()
    pytest.fail("no checkpoint appeared")


def islands(*line: str) -> list[str]:
    return [sys.executable, "-m", "islands", *line]


def require_uninterrupted(
    capsys: pytest.CaptureFixture[str], result: dict[str, Any], ranks: int
) -> None:
    """Compare the resumed run in `a` with an uninterrupted run."""
    stop = f"generations={result['generations']}"
    whole = done(capsys, "run", "demo/tsp", *RUN, "--stop", stop, "--out", "b")
    for key in ("digest", "cost", "solution", "island", "best_generation", "evaluations", "reason"):
        assert result[key] == whole[key]
    for name in ("trace", "migrations"):
        assert rows("a", name) == rows("b", name)
        files = sorted(path.name for path in Path("a", name).iterdir())
        assert files == [f"rank-{rank:03}.parquet" for rank in range(ranks)]


def beyond() -> str:
    """Return a generation shortly after the last checkpoint at which no epoch ends."""
    newest = max(int(path.parent.name.partition(".")[0]) for path in manifests())
    return f"generations={newest + 43}"


@pytest.mark.parametrize(
    ("number", "status", "word"),
    [
        (signal.SIGKILL, -9, None),
        (signal.SIGTERM, 75, "SIGTERM: checkpoint written; resume with: islands resume a"),
        (signal.SIGUSR1, 75, "SIGUSR1: checkpoint written; resume with: islands resume a"),
        (signal.SIGINT, 130, "interrupted by a signal"),
    ],
)
def test_run_ended_by_a_signal_is_resumed(
    number: signal.Signals, status: int, word: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with begun(islands(*ENDLESS, "--json")) as process:
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == status
    assert (json.loads(out)["reason"] if out else None) == word
    assert Path("a", "solution.parquet").exists() == (status == 130)
    result = done(capsys, "resume", "a", "--stop", beyond())
    require_uninterrupted(capsys, result, 1)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGUSR1, 75), (signal.SIGINT, 130)])
def test_signal_to_one_rank_ends_all_and_other_ranks_resume(
    mpirun: list[str], number: signal.Signals, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    script = 'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec "$@"'
    command = [*mpirun, "3", "sh", "-c", script, "sh", *islands(*ENDLESS, "--json")]
    with begun(command) as process:
        os.kill(int(Path("pid.2").read_text()), number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == status
    assert json.loads(out)["ranks"] == 3
    log = Path("a", "log.txt").read_text()
    pids = [line.split()[5] for line in log.splitlines() if line.startswith("rank ")]
    assert pids == [Path(f"pid.{rank}").read_text().strip() for rank in range(3)]
    line = islands("resume", "a", "--stop", beyond(), "--json", "--threads", "1")
    resumed = subprocess.run([*mpirun, "2", *line], capture_output=True, timeout=60, check=True)
    require_uninterrupted(capsys, json.loads(resumed.stdout), 2)


def test_finished_run_prints_its_result_again(capsys: pytest.CaptureFixture[str]) -> None:
    first = done(capsys, "run", "demo/tsp", *RUN, "--stop", "generations=20", "--out", "a")
    before = {path: path.stat().st_mtime_ns for path in Path("a").rglob("*")}
    assert done(capsys, "resume", "a") == first
    assert main(["resume", "a"]) == 0
    assert capsys.readouterr().out.startswith("Stopped: 20 generations done")
    assert {path: path.stat().st_mtime_ns for path in Path("a").rglob("*")} == before


def test_finished_run_is_resumed_with_other_criteria(capsys: pytest.CaptureFixture[str]) -> None:
    done(capsys, "run", "demo/tsp", *RUN, "--stop", "generations=43", "--out", "a")
    result = done(capsys, "resume", "a", "--stop", "generations=77")
    require_uninterrupted(capsys, result, 1)
    settings = Path("a", "run.toml").read_text()
    assert 'stop = [\n    "generations=77",\n]' in settings
    assert settings == Path("b", "run.toml").read_text()
    log = Path("a", "log.txt").read_text()
    assert log.index("43 generations done") < log.index("resumed from generation 43 ")


def test_run_killed_before_its_first_checkpoint_restarts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done(capsys, "run", "demo/tsp", *RUN, "--stop", "generations=43", "--out", "a")
    for path in [*manifests(), Path("a", "solution.parquet")]:
        path.unlink()
    require_uninterrupted(capsys, done(capsys, "resume", "a"), 1)


@pytest.mark.parametrize("name", ["a\nb", "a\nTOUR_SECTION\n2 1 -1", "a\tb\r", "EOF", "a:b"])
def test_file_with_any_name_is_run_verified_and_resumed(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = f"{name}.tsp"
    Path(path).write_text(tsplib_text(uniform_tsp(12, seed=1)))
    options = ["--population", "16", "--islands", "1", "--backend", "cpu", "--improver", "none"]
    first = done(capsys, "run", path, *options, "--stop", "generations=1", "--out", "a")
    for solution in ("a", "a/solution.tour"):
        assert done(capsys, "verify", path, solution)["cost"] == first["cost"]
    again = done(capsys, "resume", "a", "--stop", "generations=3")
    assert (again["generations"], again["instance"]) == (3, str(Path(path).resolve()))
    assert done(capsys, "verify", path, "a")["cost"] == again["cost"]


def test_preset_and_path_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--preset", "xavier2019", "--population", "32", "--backend", "cpu"]
    whole = done(capsys, "run", *options, "--stop", "generations=90", "--out", "b")
    done(capsys, "run", *options, "--stop", "generations=30", "--out", "a")
    assert main(["resume", str(tmp_path / "a"), "--stop", "generations=90", "--quiet"]) == 0
    again = done(capsys, "resume", "a")
    assert (again["digest"], again["preset"]) == (whole["digest"], "xavier2019")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("resume", "the following arguments are required: DIR."),
        ("resume none", "none: contains no run. Name the folder that a run writes"),
        ("resume a --seed 2", "unknown option '--seed'."),
        ("resume a --async", "unknown option '--async'."),
        ("resume a --stop generations", "--stop generations: needs a value"),
        ("resume a --threads 0", "argument --threads: '0' must be a whole number"),
    ],
)
def test_impossible_resume_prints_one_line(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done(capsys, "run", "demo/tsp", *RUN, "--stop", "generations=2", "--out", "a")
    capsys.readouterr()
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert Path("a", "solution.parquet").exists()


def test_asynchronous_run_has_no_checkpoint_to_resume(
    mpirun: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "demo/tsp", *RUN, "--stop", "generations=20", "--out", "my a"]
    subprocess.run(
        [*mpirun, "2", *islands(*run, "--async", "--quiet")],
        timeout=60,
        check=True,
        capture_output=True,
    )
    first = done(capsys, "resume", "my a")
    assert first["reproducible"] is False
    before = {path: path.stat().st_mtime_ns for path in Path("my a").rglob("*")}
    assert main(["resume", "my a", "--stop", "generations=40"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("islands: my a: its ranks did not wait for each other (--async), so ")
    again = "islands run --config 'my a/run.toml' --start 'my a/solution.tour'"
    assert said.endswith(f"with: {again}\n")
    assert {path: path.stat().st_mtime_ns for path in Path("my a").rglob("*")} == before
    result = done(capsys, *shlex.split(again)[1:], "--stop", "generations=40")
    assert result["cost"] <= first["cost"]


def test_killed_runs_give_the_same_result(mpirun: list[str], optimised: None) -> None:
    line = [sys.executable, str(KILLS), "4", "--ranks", "1,2"]
    killed = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert killed.returncode == 0, killed.stdout + killed.stderr
    assert "no differences" in killed.stdout


def test_job_continues_when_a_rank_is_killed(mpirun: list[str], optimised: None) -> None:
    version = subprocess.run([mpirun[0], "--version"], capture_output=True, text=True, check=True)
    if "Open MPI) 5" not in version.stdout:
        pytest.skip("needs Open MPI 5")
    line = [sys.executable, str(KILLS), "1", "--survive", "--ranks", "3"]
    killed = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert killed.returncode == 0, killed.stdout + killed.stderr
    assert "no differences" in killed.stdout
