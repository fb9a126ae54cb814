"""`islands run` on the CPU: the output of small runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tsp_runs import SMALL, solved, traced

from islands.cli import main
from islands.problems import load
from islands.run import runner


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_standard_output_is_only_json(capsys: pytest.CaptureFixture[str]) -> None:
    result = solved(capsys, "--stop", "generations=60", "--seed", "3", "--algorithm", "brkga")
    problem = load("demo/tsp")
    assert result["instance"] == "demo/tsp"
    assert (result["problem"], result["algorithm"], result["encoding"]) == ("tsp", "brkga", "keys")
    assert sorted(result["solution"]) == list(range(problem.size))
    assert problem.best_known is not None
    assert result["best_known"] == problem.best_known.value
    assert result["gap"] == pytest.approx(100 * result["cost"] / result["best_known"] - 100)
    assert (result["generations"], result["seed"], result["islands"]) == (60, 3, 4)
    # 4 islands of 64: 6 elite individuals are not evaluated again in each generation.
    assert result["evaluations"] == 4 * (64 + 60 * 58)
    assert 0 < result["seconds"] < 60
    assert (result["ranks"], result["backend"], result["transport"]) == (1, "cpu", "device")
    assert len(result["digest"]) == 64
    assert Path(result["folder"], "solution.tour").exists()


def test_output_has_header_table_and_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "demo/tsp", *SMALL, "--stop", "generations=40", "--out", "a"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.startswith("islands ")
    assert captured.out.count("Generation    Time") == 1
    assert captured.out.splitlines()[-3].startswith("Stopped: 40 generations done")
    assert "checked again by NumPy" in captured.out.splitlines()[-2]
    assert captured.out.splitlines()[-1].startswith("Wrote a: ")
    log = Path("a", "log.txt").read_text().splitlines(keepends=True)
    assert "".join(line for line in log if not line.startswith("rank 0   host ")) == captured.out
    assert len(log) == captured.out.count("\n") + 1


def test_quiet_prints_only_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "demo/tsp", *SMALL, "--stop", "generations=40", "--quiet"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["Stopped:", "Best", "Wrote"]


def test_result_depends_on_the_seed_and_not_on_threads(
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


def test_shorter_run_is_a_prefix_of_a_longer_one(capsys: pytest.CaptureFixture[str]) -> None:
    short = solved(capsys, "--stop", "generations=100")
    long = solved(capsys, "--stop", "generations=120")
    rows = traced(short["folder"])
    assert rows == traced(long["folder"])[: len(rows)]
    # Generations 0, 20, 40, 50, 60, 80 and 100, four islands each.
    assert len(rows) == 7 * 4


def test_run_toml_repeats_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--preset", "xavier2019", "--set", "rho=0.65", "--migration", "ring", "--seed", "4"]
    first = solved(capsys, *options, "--stop", "generations=50", "--out", "a")
    assert main(["run", "--config", "a/run.toml", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    times = ("seconds", "compile_seconds", "rank_seconds", "folder")
    assert {k: v for k, v in again.items() if k not in times} == {
        k: v for k, v in first.items() if k not in times
    }
    assert again["folder"] != first["folder"]
    assert Path(again["folder"], "run.toml").read_text() == Path("a", "run.toml").read_text()


def test_folder_can_be_verified(capsys: pytest.CaptureFixture[str]) -> None:
    result = solved(capsys, "--stop", "generations=20", "--out", "a")
    assert main(["verify", "demo/tsp", "a"]) == 0
    assert f"length {result['cost']}\n" in capsys.readouterr().out


def test_run_starts_from_solutions(capsys: pytest.CaptureFixture[str]) -> None:
    first = solved(capsys, "--stop", "generations=100", "--out", "a")
    second = solved(capsys, "--stop", "generations=1", "--start", "a/solution.tour", "--seed", "2")
    assert second["cost"] <= first["cost"]


def test_finished_folder_needs_force(capsys: pytest.CaptureFixture[str]) -> None:
    solved(capsys, "--stop", "generations=2", "--out", "a")
    line = ["run", "demo/tsp", *SMALL, "--stop", "generations=3", "--out", "a"]
    assert main(line) == 2
    assert capsys.readouterr().err.startswith("islands: --out a: contains a finished run")
    assert main([*line, "--force"]) == 0
    assert {row[1] for row in traced("a")} == {0, 3}


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_folder_with_other_files_is_refused(
    force: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("solution.cpp", "log.txt", "trace.csv"):
        Path(name).write_text("mine")
    assert main(["run", "demo/tsp", *SMALL, "--stop", "generations=3", "--out", ".", *force]) == 2
    assert capsys.readouterr().err.startswith(
        "islands: --out .: contains files, but no run. Name a"
    )
    assert sorted(path.read_text() for path in Path().iterdir()) == ["mine"] * 3


def test_invalid_start_is_refused_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("short.tour").write_text("TYPE : TOUR\nTOUR_SECTION\n1\n2\n3\n-1\n")
    assert main(["run", "demo/tsp", *SMALL, "--start", "short.tour"]) == 2
    err = capsys.readouterr().err
    assert "short.tour: not a tour of demo/tsp: city 4 is not visited" in err
    assert err.count("\n") == 1


def test_restarts_do_not_delay_stagnation(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "reset=10", "--stop", "stagnation=60", "--stop", "generations=20000"]
    small = ["16" if word == "64" else word for word in SMALL]
    result = solved(capsys, *options, line=[*small, "--algorithm", "brkga"])
    idle = result["generations"] - result["best_generation"]
    assert result["reason"] == f"no improvement for {idle} generations"
    assert 60 <= idle < 80


def test_true_is_not_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.toml").write_text("islands = true\n")
    assert main(["run", "demo/tsp", "--config", "mine.toml"]) == 2
    assert capsys.readouterr().err == "islands: islands=True: must be a whole number\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nosuch", "unknown instance 'nosuch'"),
        ("demo/tsp --algorithm brkga --set rho=2", "rho=2: must be from 0.5 to 1"),
        (
            "demo/tsp --algorithm brkga --set elite=0.7 --set mutants=0.6",
            "elite=0.7 + mutants=0.6 = 1.3",
        ),
        ("demo/tsp --set rho", "--set rho: write KEY=VALUE, such as --set rho=0.7"),
        (
            "demo/tsp --algorithm brkga --set eliet=0.2",
            "unknown setting of brkga 'eliet'. Did you mean 'elite'?",
        ),
        ("demo/tsp --algorithm brgka", "unknown algorithm 'brgka'. Did you mean 'brkga'?"),
        ("demo/tsp --stop generations=-5", "--stop generations=-5: must be at least 1"),
        ("demo/tsp --islands 0", "islands=0: must be from 1 to 16777216"),
        ("demo/tsp --config none.toml", "none.toml: No such file or directory"),
        ("demo/tsp --start none.tour", "none.tour: "),
        ("demo/tsp --backend gpu", "backend=gpu: unknown choice 'gpu'"),
    ],
)
def test_refused_run_prints_one_line_and_leaves_no_folder(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *line.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(Path().iterdir()) == []


def test_what_does_not_fit_is_refused_before_the_header(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    form = "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n"
    Path("w.tsp").write_text(f"NAME: w\nTYPE: TSP\nDIMENSION: 4\n{form}1 2 3 4 5 6\nEOF\n")
    assert main(["run", "w.tsp", "--algorithm", "eax", "--set", "first_tours=curve"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("islands: first_tours=curve: a space-filling curve needs coord")
    assert captured.out == ""
    monkeypatch.setattr(runner, "block_memory", lambda _: 100)
    assert main(["run", "demo/tsp", "--algorithm", "eax"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("islands: eax_start needs ")
    assert (captured.err.count("\n"), captured.out) == (1, "")
    assert not Path("runs").exists()
