"""What `islands verify` says of choices of items, each capacity being checked exactly."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from islands.cli import main, verify
from islands.errors import InputError
from islands.instances.mkp import MkpFile
from islands.instances.mkp_layouts import drake_text
from islands.instances.synthetic import demo_mkp
from islands.paths import data_folder

OPTIMAL = data_folder("instances") / "mkp" / "demo.sol"
CHOSEN = [int(word) - 1 for word in OPTIMAL.read_text().split()]


def run(*line: str) -> int:
    parser = argparse.ArgumentParser()
    verify.add_arguments(parser)
    return verify.main(parser.parse_args(line))


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def filled(row: int, excess: int) -> MkpFile:
    """Return the embedded instance with one capacity that its optimum exceeds by so much."""
    file = demo_mkp()
    capacities = file.capacities.copy()
    capacities[row] = file.weights[row, CHOSEN].sum() - excess
    return MkpFile("filled", None, file.profits, file.weights, capacities)


def test_the_optimal_choice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/mkp", str(OPTIMAL)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["profit 27269", "best known 27269 (optimal)   gap 0.00%", "feasible"]


def test_json_and_a_runs_folder_hold_the_same_choice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = write(tmp_path / "chosen.json", json.dumps(CHOSEN))
    write(tmp_path / "solution.sol", OPTIMAL.read_text())
    for solution in (listed, str(tmp_path), "demo.sol"):
        assert run("demo/mkp", solution, "--json") == 0
        answer = json.loads(capsys.readouterr().out)
        assert (answer["problem"], answer["cost"], answer["gap"]) == ("mkp", 27269, 0.0)


def test_what_a_file_says_of_its_profit_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "said.json"
    wrong = "wrong: the profit of its solution is 27269"
    for written, said, words in (
        ("27269", 27269, "right"),
        ("27270", 27270, wrong),
        ("NaN", "nan", wrong),
        ("1e999", "inf", wrong),
        ('"27269"', "27269", wrong),
        ("true", "True", wrong),
    ):
        path.write_text(f'{{"solution": {CHOSEN}, "cost": {written}}}')
        assert run("demo/mkp", str(path)) == 0
        assert f"said.json says profit {said}\nthat is {words}\n" in capsys.readouterr().out
        assert run("demo/mkp", str(path), "--json") == 0
        remarks = json.loads(capsys.readouterr().out)["remarks"]
        assert remarks == {"said": said, "said_agrees": words == "right"}


def test_a_folder_is_judged_by_its_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ok.json"
    folder.mkdir()
    write(folder / "solution.sol", OPTIMAL.read_text())
    assert run("demo/mkp", str(folder), "--json") == 0
    assert json.loads(capsys.readouterr().out)["remarks"] == {}
    write(folder / "solution.parquet", "spoilt")
    assert run("demo/mkp", str(folder)) == 0
    out = capsys.readouterr().out
    assert "solution.parquet: is damaged or cut off: " in out
    assert "profit 27269\n" in out


def test_a_solution_that_was_changed_in_a_runs_folder_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "a")
    line = ["run", "demo/mkp", "--backend", "cpu", "--stop", "generations=2", "--out", folder]
    assert main([*line, "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)["cost"]
    assert run("demo/mkp", folder) == 0
    assert f"a says profit {said}\nthat is right\n" in capsys.readouterr().out
    write(tmp_path / "a" / "solution.sol", "1\n")
    monkeypatch.chdir(folder)
    assert run("demo/mkp", ".") == 0
    profit = int(demo_mkp().profits[0])
    assert f"a says profit {said}\nthat is wrong: the profit of its solution is {profit}\n" in (
        capsys.readouterr().out
    )


def test_all_that_is_exceeded_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for exceeded, words in ((2, "(2 is exceeded too)"), (3, "(2, 3 are exceeded too)")):
        rows = "\n".join(
            ["2 15 0", "1 1", *["3 4"] * 15, *["6"] * exceeded, *["7"] * (15 - exceeded)]
        )
        path = write(tmp_path / "many.dat", rows)
        assert run(path, write(tmp_path / "both.sol", "1 2")) == 1
        assert f"constraint 1 of 15: the chosen items take 7 of 6, 1 too much {words}" in (
            capsys.readouterr().out
        )
    path = write(tmp_path / "many.dat", rows.replace("\n7", "\n6"))
    assert run(path, str(tmp_path / "both.sol")) == 1
    assert "(2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 4 more are exceeded too)" in capsys.readouterr().out


@pytest.mark.parametrize("row", range(5))
def test_a_capacity_exceeded_by_1_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: int
) -> None:
    tight = write(tmp_path / "tight.dat", drake_text(filled(row, 0)))
    assert run(tight, str(OPTIMAL)) == 0
    assert "profit 27269\n" in capsys.readouterr().out
    over = write(tmp_path / "over.dat", drake_text(filled(row, 1)))
    assert run(over, str(OPTIMAL)) == 1
    out = capsys.readouterr().out
    load = int(demo_mkp().weights[row, CHOSEN].sum())
    assert f"constraint {row + 1} of 5: the chosen items take {load} of {load - 1}, 1 too" in out
    assert "profit" not in out


def test_one_item_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = next(item for item in range(60) if item not in CHOSEN)
    solution = write(tmp_path / "more.sol", f"{OPTIMAL.read_text()} {more + 1}\n")
    assert run("demo/mkp", solution, "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["feasible"], answer["cost"], answer["gap"]) == (False, None, None)
    assert "not feasible for demo/mkp: constraint " in answer["reason"]


@pytest.mark.parametrize(("third", "status"), [("0.3", 0), ("0.29999999999999999", 1)])
def test_decimals_are_no_floating_point_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], third: str, status: int
) -> None:
    # In floating point, 0.1 + 0.2 is more than 0.3, and the other third is 0.3 itself.
    instance = write(tmp_path / "thirds.txt", f"1 2 1 0\n600.1 310.5\n0.1 0.2\n{third}\n")
    solution = write(tmp_path / "both.sol", "1 2\n")
    assert run(instance, solution) == status
    out = capsys.readouterr().out
    assert ("profit 910.6\n" in out) == (status == 0)
    assert ("constraint 1 of 1: the chosen items take " in out) == (status == 1)


def test_large_numbers_stay_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Neither sum is a floating point number.
    large = 2**59 - 1
    file = MkpFile(
        name="large",
        path=None,
        profits=np.array([large, large - 2]),
        weights=np.array([[large, large - 2]]),
        capacities=np.array([2 * large - 3]),
    )
    instance = write(tmp_path / "large.dat", drake_text(file))
    assert run(instance, write(tmp_path / "one.sol", "1\n")) == 0
    assert f"profit {large}\n" in capsys.readouterr().out
    assert run(instance, write(tmp_path / "both.sol", "1 2\n")) == 1
    assert f"take {2 * large - 2} of {2 * large - 3}, 1 too much" in capsys.readouterr().out


def test_zero_capacities_and_items_that_fit_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = write(tmp_path / "odd.dat", "3 2 0\n5 6 7\n0 9 1\n0 0 0\n8\n0\n")
    assert run(instance, write(tmp_path / "right.sol", "1 3\n")) == 0
    assert "profit 12\n" in capsys.readouterr().out
    assert run(instance, write(tmp_path / "none.sol", "")) == 0
    assert "profit 0\n" in capsys.readouterr().out
    assert run(instance, write(tmp_path / "wrong.sol", "2\n")) == 1
    assert "constraint 1 of 2: the chosen items take 9 of 8, 1 too" in capsys.readouterr().out


def test_a_format_may_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = write(tmp_path / "both.dat", "2 2 0 1 1 1 1 1 1 1 1")
    second = write(tmp_path / "second.sol", "2\n")
    with pytest.raises(InputError, match="fit two formats"):
        run(both, second)
    assert run(both, second, "--format", "sac94") == 0
    assert "best known 1 (best known)   gap 0.00%" in capsys.readouterr().out


@pytest.mark.published
def test_published_problems(
    published: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    nothing, everything = write(tmp_path / "none.sol", ""), tmp_path / "all.sol"
    for name, size in (("orlib/mknapcb4-29", 100), ("sac94/weing8", 105), ("gk/gk11", 2500)):
        assert run(name, nothing) == 0
        assert "profit 0\n" in capsys.readouterr().out
        everything.write_text(" ".join(map(str, range(1, size + 1))))
        assert run(name, str(everything)) == 1
        assert f"not feasible for {name}: constraint 1 of " in capsys.readouterr().out


def test_a_run_of_another_instance_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.dat", "b.dat"):
        (tmp_path / name).write_text("3 1 0\n5 4 3\n2 3 4\n6\n")
    folder = tmp_path / "run"
    quick = ["--stop", "generations=1", "--backend", "cpu", "--islands", "1", "--quiet"]
    assert main(["run", str(tmp_path / "a.dat"), "--out", str(folder), *quick]) == 0
    assert main(["verify", str(tmp_path / "a.dat"), str(folder)]) == 0
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "b.dat"), str(folder)]) == 2
    assert "is a run of" in capsys.readouterr().err
