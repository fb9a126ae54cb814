"""`islands run` from end to end, on the CPU: small runs whose outcome is compared, bit for bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from islands.cli import main
from islands.problems import load

SMALL = ["--population", "64", "--islands", "4", "--interval", "20", "--backend", "cpu"]
SMALL += ["--improver", "none"]
REPEATED = ["island", "generation", "best", "mean", "worst", "best_generation", "evaluations"]
"""The columns of the trace that are the same whenever the run is: all but time."""
LONG = ["run", "demo/tsp", *SMALL, "--stop", "seconds=120", "--set", "record.every=5"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def solved(
    capsys: pytest.CaptureFixture[str], *options: str, line: Sequence[str] = SMALL
) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", "demo/tsp", *line, *options, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def traced(folder: Path | str) -> list[tuple[Any, ...]]:
    """Return the rows of all ranks, in the order of a single rank."""
    tables = [pq.read_table(path) for path in sorted(Path(folder, "trace").glob("*.parquet"))]
    table = pa.concat_tables([table.replace_schema_metadata() for table in tables])
    table = table.sort_by([("generation", "ascending"), ("island", "ascending")])
    return list(zip(*(table.column(name).to_pylist() for name in REPEATED), strict=True))


def test_json_is_the_whole_of_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    result = solved(capsys, "--stop", "generations=60", "--seed", "3")
    problem = load("demo/tsp")
    assert result["instance"] == "demo/tsp"
    assert (result["problem"], result["algorithm"], result["encoding"]) == ("tsp", "brkga", "keys")
    assert sorted(result["solution"]) == list(range(problem.size))
    assert problem.best_known is not None
    assert result["best_known"] == problem.best_known.value
    assert result["gap"] == pytest.approx(100 * result["cost"] / result["best_known"] - 100)
    assert (result["generations"], result["seed"], result["islands"]) == (60, 3, 4)
    # 4 islands of 64: 6 elite pass unevaluated from each generation to the next.
    assert result["evaluations"] == 4 * (64 + 60 * 58)
    assert 0 < result["seconds"] < 60
    assert (result["ranks"], result["backend"], result["transport"]) == (1, "cpu", "device")
    assert len(result["digest"]) == 64
    assert Path(result["folder"], "solution.tour").exists()


def test_people_are_shown_the_header_the_table_and_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "demo/tsp", *SMALL, "--stop", "generations=40", "--out", "a"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.startswith("islands ")
    assert captured.out.count("Generation     Time") == 1
    assert captured.out.splitlines()[-3].startswith("Stopped: 40 generations done")
    assert "checked again in NumPy" in captured.out.splitlines()[-2]
    assert captured.out.splitlines()[-1].startswith("Wrote a: ")
    log = Path("a", "log.txt").read_text().splitlines(keepends=True)
    assert "".join(line for line in log if not line.startswith("rank 0   host ")) == captured.out
    assert len(log) == captured.out.count("\n") + 1


def test_quiet_is_the_end_alone(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "demo/tsp", *SMALL, "--stop", "generations=40", "--quiet"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["Stopped:", "Best", "Wrote"]


def test_the_seed_alone_makes_another_run_and_threads_do_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--stop", "generations=60"]
    one = solved(capsys, *options, "--threads", "1")
    two = solved(capsys, *options, "--threads", "3")
    other = solved(capsys, *options, "--seed", "2")
    for key in ("digest", "cost", "solution", "evaluations"):
        assert one[key] == two[key]
    assert one["digest"] != other["digest"]
    assert traced(one["folder"]) == traced(two["folder"])


def test_a_shorter_run_is_a_prefix_of_a_longer_one(capsys: pytest.CaptureFixture[str]) -> None:
    short = solved(capsys, "--stop", "generations=100")
    long = solved(capsys, "--stop", "generations=200")
    rows = traced(short["folder"])
    assert rows == traced(long["folder"])[: len(rows)]
    # Generations 0, 20, 40, 50, 60, 80 and 100, four islands each.
    assert len(rows) == 7 * 4


def test_run_toml_repeats_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--preset", "xavier2019", "--set", "rho=0.65", "--migration", "ring", "--seed", "4"]
    first = solved(capsys, *options, "--stop", "generations=50", "--out", "a")
    assert main(["run", "--config", "a/run.toml", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    times = ("seconds", "compile_seconds", "folder")
    assert {k: v for k, v in again.items() if k not in times} == {
        k: v for k, v in first.items() if k not in times
    }
    assert again["folder"] != first["folder"]
    assert Path(again["folder"], "run.toml").read_text() == Path("a", "run.toml").read_text()


def test_the_folder_verifies(capsys: pytest.CaptureFixture[str]) -> None:
    result = solved(capsys, "--stop", "generations=20", "--out", "a")
    assert main(["verify", "demo/tsp", "a"]) == 0
    assert f"length {result['cost']}\n" in capsys.readouterr().out


def test_a_run_starts_from_solutions(capsys: pytest.CaptureFixture[str]) -> None:
    first = solved(capsys, "--stop", "generations=200", "--out", "a")
    second = solved(capsys, "--stop", "generations=1", "--start", "a/solution.tour", "--seed", "2")
    assert second["cost"] <= first["cost"]


def test_a_finished_folder_needs_force(capsys: pytest.CaptureFixture[str]) -> None:
    solved(capsys, "--stop", "generations=2", "--out", "a")
    line = ["run", "demo/tsp", *SMALL, "--stop", "generations=3", "--out", "a"]
    assert main(line) == 2
    assert capsys.readouterr().err.startswith("islands: --out a: holds a finished run")
    assert main([*line, "--force"]) == 0
    assert {row[1] for row in traced("a")} == {0, 3}


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_folder_with_files_of_the_users_own_is_refused(
    force: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("solution.cpp", "log.txt", "trace.csv"):
        Path(name).write_text("mine")
    assert main(["run", "demo/tsp", *SMALL, "--stop", "generations=3", "--out", ".", *force]) == 2
    assert capsys.readouterr().err.startswith("islands: --out .: holds files, but no run. Name a")
    assert sorted(path.read_text() for path in Path().iterdir()) == ["mine"] * 3


def test_a_start_that_is_no_tour_is_refused_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("short.tour").write_text("TYPE : TOUR\nTOUR_SECTION\n1\n2\n3\n-1\n")
    assert main(["run", "demo/tsp", *SMALL, "--start", "short.tour"]) == 2
    err = capsys.readouterr().err
    assert "short.tour: not a tour of demo/tsp: city 4 is not visited" in err
    assert err.count("\n") == 1


def test_restarts_do_not_put_off_stagnation(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "reset=10", "--stop", "stagnation=60", "--stop", "generations=20000"]
    small = ["16" if word == "64" else word for word in SMALL]
    result = solved(capsys, *options, line=small)
    idle = result["generations"] - result["best_generation"]
    assert result["reason"] == f"no better solution for {idle} generations"
    assert 60 <= idle < 80


def test_true_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.toml").write_text("islands = true\n")
    assert main(["run", "demo/tsp", "--config", "mine.toml"]) == 2
    assert capsys.readouterr().err == "islands: islands=True: must be a whole number\n"


def test_time_and_signals_end_a_long_epoch(tmp_path: Path) -> None:
    line = ["demo/tsp", *SMALL, "--migration", "none", "--set", "record.every=1000000"]
    command = [sys.executable, "-m", "islands", "run", *line, "--json"]
    timed = [*command, "--stop", "seconds=1.5"]
    done = subprocess.run(timed, capture_output=True, check=True, timeout=60)
    result = json.loads(done.stdout)
    assert 1.5 <= result["seconds"] < 10
    assert 0 < result["generations"] < 1_000_000
    # Generation 0, and the one at which it ended.
    assert [row[1] for row in traced(result["folder"])][::4] == [0, result["generations"]]
    with subprocess.Popen([*command, "--out", "a"], stdout=subprocess.PIPE) as process:
        wait_for(tmp_path / "a" / "log.txt")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["seconds"] < 20


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nosuch", "unknown instance 'nosuch'"),
        ("demo/tsp --set rho=2", "rho=2: must be from 0.5 to 1"),
        ("demo/tsp --set elite=0.7 --set mutants=0.6", "elite=0.7 + mutants=0.6 = 1.3"),
        ("demo/tsp --set rho", "--set rho: write KEY=VALUE, such as --set rho=0.7"),
        ("demo/tsp --set eliet=0.2", "unknown setting of brkga 'eliet'. Did you mean 'elite'?"),
        ("demo/tsp --algorithm brgka", "unknown algorithm 'brgka'. Did you mean 'brkga'?"),
        ("demo/tsp --stop generations=-5", "--stop generations=-5: must be at least 1"),
        ("demo/tsp --islands 0", "islands=0: must be at least 1"),
        ("demo/tsp --config none.toml", "none.toml: No such file or directory"),
        ("demo/tsp --start none.tour", "none.tour: "),
        ("demo/tsp --backend gpu", "backend=gpu: unknown choice 'gpu'"),
    ],
)
def test_what_cannot_run_is_one_line_and_leaves_nothing(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *line.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(Path().iterdir()) == []


def wait_for(path: Path) -> None:
    """Wait until a run has begun to write `path`, and a few epochs longer."""
    for _ in range(600):
        if path.exists() and path.stat().st_size > 0:
            time.sleep(0.5)
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not appear")


def test_an_interrupted_run_writes_its_best(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "islands", *LONG, "--out", "a", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(tmp_path / "a" / "trace" / "rank-000.1.unfinished.arrows")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted; writing the best so far" in err
    result = json.loads(out)
    assert result["reason"] == "interrupted by a signal"
    assert result["cost"] == load("demo/tsp").cost(load("demo/tsp").read_solution(Path("a")))
    assert traced("a")[-1][1] == result["generations"] > 0


def test_a_killed_run_leaves_its_trace_and_can_be_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = tmp_path / "a" / "trace" / "rank-000.1.unfinished.arrows"
    command = [sys.executable, "-m", "islands", *LONG, "--out", "a", "--quiet"]
    with subprocess.Popen(command) as process:
        wait_for(stream)
        time.sleep(1.5)
        process.kill()
    with stream.open("rb") as source:
        first = pa.ipc.open_stream(source).read_next_batch()
    assert first.column("island").to_pylist()[:4] == [0, 1, 2, 3]
    solved(capsys, "--stop", "generations=2", "--out", "a")
    assert not stream.exists()


def ranks(mpirun: list[str], number: int, line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [*mpirun, str(number), sys.executable, "-m", "islands", *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("number", [2, 3])
def test_ranks_change_nothing(
    mpirun: list[str], number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = solved(capsys, "--stop", "generations=100", "--migration", "elite")
    line = ["run", "demo/tsp", *SMALL, "--stop", "generations=100", "--migration", "elite"]
    done = ranks(mpirun, number, [*line, "--threads", "1", "--json"])
    assert done.returncode == 0, done.stderr
    together = json.loads(done.stdout)
    for key in ("digest", "cost", "solution", "island", "evaluations", "reason", "generations"):
        assert together[key] == alone[key]
    assert together["ranks"] == number
    assert done.stderr.count("Generation     Time") == 1
    assert len(list(Path(together["folder"], "trace").iterdir())) == number
    assert traced(together["folder"]) == traced(alone["folder"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "rho=2"], "islands: rho=2: must be from 0.5 to 1"),
        (["--foo"], "islands: unknown option '--foo'"),
        (["--islands", "2"], "islands: 3 ranks for 2 islands leave ranks without work."),
    ],
)
def test_what_all_ranks_refuse_is_said_once(
    mpirun: list[str], options: list[str], message: str
) -> None:
    done = ranks(mpirun, 3, ["run", "demo/tsp", *options])
    assert done.returncode == 2
    assert done.stderr.count(message) == 1
    assert "MPI_ABORT" not in done.stderr
    assert done.stdout == ""


def test_ranks_that_were_started_differently_are_refused(mpirun: list[str]) -> None:
    command = [sys.executable, "-m", "islands", "run", "demo/tsp", *SMALL, "--threads", "1"]
    other = [":", "-n", "1", *command, "--seed", "5"]
    done = subprocess.run(
        [*mpirun, "1", *command, *other], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("rank 1 of 2 would make another run than rank 0: the settings") == 1
    assert "MPI_ABORT" not in done.stderr
    assert not Path("runs").exists()


@pytest.mark.parametrize("rank", [0, 2])
def test_a_signal_to_any_rank_ends_all_of_them_well(
    mpirun: list[str], rank: int, tmp_path: Path
) -> None:
    script = f'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec "{sys.executable}" -m islands "$@"'
    line = [*LONG, "--threads", "1", "--out", "a", "--json"]
    command = [*mpirun, "3", "sh", "-c", script, "sh", *line]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for each in range(3):
            wait_for(tmp_path / "a" / "trace" / f"rank-{each:03}.1.unfinished.arrows")
        os.kill(int(Path(f"pid.{rank}").read_text()), signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    result = json.loads(out)
    assert result["reason"] == "interrupted by a signal"
    assert len(list(Path("a", "trace").glob("*.parquet"))) == 3
    assert traced("a")[-1][1] == result["generations"] > 0
