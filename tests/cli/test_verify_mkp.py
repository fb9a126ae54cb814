"""`islands verify` on subsets of knapsack items, with exact capacities."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from instance_texts import drake_text

from islands.cli import main, verify
from islands.errors import InputError
from islands.instances.mkp import MkpFile
from islands.instances.synthetic import demo_mkp
from islands.paths import data_folder

OPTIMAL = data_folder("instances") / "mkp" / "demo.sol"
CHOSEN = [int(word) - 1 for word in OPTIMAL.read_text().split()]


def run(*line: str) -> int:
    parser = argparse.ArgumentParser()
    verify.add_verify(parser)
    return verify.verify(parser.parse_args(line))


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def filled(row: int, excess: int) -> MkpFile:
    """Return the embedded instance with one capacity that its optimum exceeds by `excess`."""
    file = demo_mkp()
    capacities = file.capacities.copy()
    capacities[row] = file.weights[row, CHOSEN].sum() - excess
    return MkpFile("filled", None, file.profits, file.weights, capacities)


def test_an_optimal_subset_has_no_gap(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/mkp", str(OPTIMAL)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["profit 27269", "best known 27269 (optimal)   gap 0.00%", "feasible"]


def test_json_and_folder_contain_the_same_subset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = write(tmp_path / "chosen.json", json.dumps(CHOSEN))
    write(tmp_path / "solution.sol", OPTIMAL.read_text())
    for solution in (listed, str(tmp_path), "demo.sol"):
        assert run("demo/mkp", solution, "--json") == 0
        answer = json.loads(capsys.readouterr().out)
        assert (answer["problem"], answer["cost"], answer["gap"]) == ("mkp", 27269, 0.0)


def test_stated_profit_of_a_file_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "said.json"
    wrong = "wrong, the profit of its solution is 27269"
    for written, said, words in (
        ("27269", 27269, "correct"),
        ("27270", 27270, wrong),
        ("NaN", "nan", wrong),
        ("1e999", "inf", wrong),
        ('"27269"', "27269", wrong),
        ("true", "True", wrong),
    ):
        path.write_text(f'{{"solution": {CHOSEN}, "cost": {written}}}')
        status = 0 if words == "correct" else 1
        assert run("demo/mkp", str(path)) == status
        assert f"profit stated in said.json: {said} ({words})\n" in capsys.readouterr().out
        assert run("demo/mkp", str(path), "--json") == status
        remarks = json.loads(capsys.readouterr().out)["remarks"]
        assert remarks == {"said": said, "said_agrees": words == "correct"}


def test_folder_is_verified_by_its_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ok.json"
    folder.mkdir()
    write(folder / "solution.sol", OPTIMAL.read_text())
    assert run("demo/mkp", str(folder), "--json") == 0
    assert json.loads(capsys.readouterr().out)["remarks"] == {}
    write(folder / "solution.parquet", "spoilt")
    assert run("demo/mkp", str(folder)) == 1
    out = capsys.readouterr().out
    assert "solution.parquet: is damaged or cut off: " in out
    assert "profit 27269\n" in out


def test_changed_solution_in_a_folder_is_detected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "a")
    line = ["run", "demo/mkp", "--backend", "cpu", "--stop", "generations=2", "--out", folder]
    assert main([*line, "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)["cost"]
    assert run("demo/mkp", folder) == 0
    assert f"profit stated in a: {said} (correct)\n" in capsys.readouterr().out
    write(tmp_path / "a" / "solution.sol", "1\n")
    monkeypatch.chdir(folder)
    assert run("demo/mkp", ".") == 1
    profit = int(demo_mkp().profits[0])
    assert f"profit stated in a: {said} (wrong, the profit of its solution is {profit})\n" in (
        capsys.readouterr().out
    )


def test_all_violated_constraints_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for exceeded, words in ((2, "(also violated: 2)"), (3, "(also violated: 2, 3)")):
        rows = "\n".join(
            ["2 15 0", "1 1", *["3 4"] * 15, *["6"] * exceeded, *["7"] * (15 - exceeded)]
        )
        path = write(tmp_path / "many.dat", rows)
        assert run(path, write(tmp_path / "both.sol", "1 2")) == 1
        message = (
            "constraint 1 of 15 is violated: the selected items weigh 7, the capacity is 6,"
            f" the excess 1 {words}"
        )
        assert message in capsys.readouterr().out
    path = write(tmp_path / "many.dat", rows.replace("\n7", "\n6"))
    assert run(path, str(tmp_path / "both.sol")) == 1
    assert "(also violated: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 4 more)" in capsys.readouterr().out


@pytest.mark.parametrize("row", range(5))
def test_capacity_exceeded_by_1_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: int
) -> None:
    tight = write(tmp_path / "tight.dat", drake_text(filled(row, 0)))
    assert run(tight, str(OPTIMAL)) == 0
    assert "profit 27269\n" in capsys.readouterr().out
    over = write(tmp_path / "over.dat", drake_text(filled(row, 1)))
    assert run(over, str(OPTIMAL)) == 1
    out = capsys.readouterr().out
    load = int(demo_mkp().weights[row, CHOSEN].sum())
    assert (
        f"constraint {row + 1} of 5 is violated: the selected items weigh {load}, the capacity is"
        f" {load - 1}, the excess 1\n"
    ) in out
    assert "profit" not in out


def test_json_of_an_infeasible_subset_names_the_constraint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = next(item for item in range(60) if item not in CHOSEN)
    solution = write(tmp_path / "more.sol", f"{OPTIMAL.read_text()} {more + 1}\n")
    assert run("demo/mkp", solution, "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["feasible"], answer["cost"], answer["gap"]) == (False, None, None)
    assert "not feasible for demo/mkp: constraint " in answer["reason"]


@pytest.mark.parametrize(("third", "status"), [("0.3", 0), ("0.29999999999999999", 1)])
def test_decimals_are_exact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], third: str, status: int
) -> None:
    # In floating point, 0.1 + 0.2 is more than 0.3, but the third weight is exactly 0.3.
    instance = write(tmp_path / "thirds.txt", f"1 2 1 0\n600.1 310.5\n0.1 0.2\n{third}\n")
    solution = write(tmp_path / "both.sol", "1 2\n")
    assert run(instance, solution) == status
    out = capsys.readouterr().out
    assert ("profit 910.6\n" in out) == (status == 0)
    assert ("constraint 1 of 1 is violated: the selected items weigh " in out) == (status == 1)


def test_large_numbers_stay_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Neither sum is exact in floating point.
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
    assert (
        f"weigh {2 * large - 2}, the capacity is {2 * large - 3}, the excess 1\n"
        in capsys.readouterr().out
    )


def test_zero_capacities_and_items_that_never_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instance = write(tmp_path / "odd.dat", "3 2 0\n5 6 7\n0 9 1\n0 0 0\n8\n0\n")
    assert run(instance, write(tmp_path / "right.sol", "1 3\n")) == 0
    assert "profit 12\n" in capsys.readouterr().out
    assert run(instance, write(tmp_path / "none.sol", "")) == 0
    assert "profit 0\n" in capsys.readouterr().out
    assert run(instance, write(tmp_path / "wrong.sol", "2\n")) == 1
    message = "constraint 1 of 2 is violated: the selected items weigh 9, the capacity is 8, the"
    assert message in capsys.readouterr().out


def test_format_can_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_folder_of_another_instance_is_refused(
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


def test_a_profit_above_the_best_known_is_to_be_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lower.dat"
    file = demo_mkp()
    for stated, improves in ((27268, True), (27269, False), (27270, False)):
        write(path, drake_text(replace(file, optimum=stated)))
        assert run(str(path), str(OPTIMAL)) == 0
        assert ("better than the best known" in capsys.readouterr().out) == improves
        assert run(str(path), str(OPTIMAL), "--json") == 0
        assert json.loads(capsys.readouterr().out)["improves"] == improves
