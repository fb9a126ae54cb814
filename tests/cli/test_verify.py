"""`islands verify`: exact costs, what a file or folder states, and infeasible solutions."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands_for_tests import Capture
from instance_texts import drake_text
from synthetic import demo_mkp

from islands.cli import main
from islands.instances.mkp import MkpFile
from islands.paths import data_folder

DEMOS = data_folder("instances")
TOUR = DEMOS / "tsp" / "demo.opt.tour"
ASSIGNED = DEMOS / "qap" / "demo.sln"
SUBSET = DEMOS / "mkp" / "demo.sol"
CHOSEN = [int(word) - 1 for word in SUBSET.read_text().split()]


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def verified(capsys: Capture, *line: object, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["verify", *map(str, line), "--json"]) == status
    return dict(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("name", "solution", "cost"),
    [("tsp", TOUR, 8637), ("qap", ASSIGNED, 4664), ("mkp", SUBSET, 27269)],
)
def test_an_optimum_has_its_cost_and_no_gap(
    name: str, solution: Path, cost: int, capsys: Capture
) -> None:
    Path("kept").mkdir()
    Path("kept", f"solution{solution.suffixes[-1]}").write_bytes(solution.read_bytes())
    # A bare name is searched for next to the instance.
    for given in (solution, solution.name, "kept"):
        found = verified(capsys, f"demo/{name}", given)
        assert (found["cost"], found["best_known"], found["gap"]) == (cost, cost, 0.0)
        assert (found["feasible"], found["reason"]) == (True, None)
    assert main(["verify", f"demo/{name}", str(solution)]) == 0
    assert f" {cost}\nbest known {cost} (optimal)   gap 0.00%\n" in capsys.readouterr().out


def test_what_is_infeasible_has_no_cost_and_a_reason(capsys: Capture) -> None:
    lines = TOUR.read_text().splitlines()
    first = lines.index("TOUR_SECTION") + 1
    lines[first + 1] = lines[first]
    more = next(item for item in range(60) if item not in CHOSEN)
    for name, path, reason in (
        ("tsp", write("twice.tour", "\n".join(lines)), "city 1 is visited twice"),
        (
            "qap",
            write("twice.sln", ASSIGNED.read_text().replace("\n7 25 ", "\n7 7 ")),
            "location 7 is taken twice",
        ),
        ("mkp", write("more.sol", f"{SUBSET.read_text()} {more + 1}\n"), "constraint "),
    ):
        found = verified(capsys, f"demo/{name}", path, status=1)
        assert (found["feasible"], found["cost"], found["gap"]) == (False, None, None)
        assert reason in found["reason"]
        assert main(["verify", f"demo/{name}", path]) == 1
        assert reason in capsys.readouterr().out


def test_messages_number_items_as_their_file_does(capsys: Capture) -> None:
    """JSON files count from 0, text files from 1."""
    cities = [*range(120)]
    for wrong, at, words in (
        (5, 7, "city 5 is visited twice, at positions 5 and 7, counted from 0."),
        (120, 7, "city 120 at position 7, counted from 0, is not one of 0 to 119."),
    ):
        path = write("wrong.json", json.dumps([*cities[:at], wrong, *cities[at + 1 :]]))
        assert words in verified(capsys, "demo/tsp", path, status=1)["reason"]
        assert main(["run", "demo/tsp", "--start", path, "--backend", "cpu"]) == 2
        assert words in capsys.readouterr().err
    short = verified(capsys, "demo/tsp", write("a.json", json.dumps(cities[:-1])), status=1)
    assert "city 119, counted from 0, is not visited; the tour has 119" in short["reason"]
    text = "".join(f"{city + 1}\n" for city in cities[:-1])
    short = verified(capsys, "demo/tsp", write("a.tour", f"TOUR_SECTION\n{text}-1\n"), status=1)
    assert "city 120 is not visited; the tour has 119" in short["reason"]


def test_any_violation_is_infeasible(capsys: Capture) -> None:
    own = "islands.subset(9, batch=lambda s: s.sum(axis=1), violation=lambda s: s[:, 0])"
    script = write("own.py", f"import islands\nproblem = {own}\n")
    found = verified(capsys, f"{script}:problem", write("all.txt", "1\n" * 9), status=1)
    assert (found["feasible"], found["reason"]) == (False, "the violation is 1")


def test_a_wrong_header_is_reported(capsys: Capture) -> None:
    wrong = write("wrong.sln", ASSIGNED.read_text().replace("30 4664", "30 4600"))
    remarks = verified(capsys, "demo/qap", wrong)["remarks"]
    assert (remarks["header"], remarks["header_agrees"]) == (4600, False)
    assert (remarks["index_base"], remarks["convention"]) == (1, "as written")


def test_the_stated_profit_of_a_file_is_checked(capsys: Capture) -> None:
    for written, said, agrees in (
        ("27269", 27269, True),
        ("27270", 27270, False),
        ("NaN", "nan", False),
        ("1e999", "inf", False),
        ('"27269"', "27269", False),
        ("true", "True", False),
    ):
        path = write("said.json", f'{{"solution": {CHOSEN}, "cost": {written}}}')
        found = verified(capsys, "demo/mkp", path, status=0 if agrees else 1)
        assert found["remarks"] == {"said": said, "said_agrees": agrees}


def test_a_changed_folder_is_detected(capsys: Capture) -> None:
    line = ["run", "demo/mkp", "--backend", "cpu", "--stop", "generations=2", "--out", "a"]
    assert main([*line, "--quiet"]) == 0
    assert verified(capsys, "demo/mkp", "a")["remarks"]["said_agrees"]
    write("a/solution.sol", "1\n")
    found = verified(capsys, "demo/mkp", "a", status=1)
    assert found["cost"] == demo_mkp().profits[0]
    assert not found["remarks"]["said_agrees"]
    write("a/solution.parquet", "spoilt")
    assert main(["verify", "demo/mkp", "a"]) == 1
    assert "solution.parquet: is damaged or cut off: " in capsys.readouterr().out


@pytest.mark.parametrize("row", range(5))
def test_a_capacity_exceeded_by_1_is_named(row: int, capsys: Capture) -> None:
    load = int(demo_mkp().weights[row, CHOSEN].sum())
    for excess in (0, 1):
        file = demo_mkp()
        capacities = file.capacities.copy()
        capacities[row] = load - excess
        instance = write("filled.dat", drake_text(replace(file, capacities=capacities)))
        found = verified(capsys, instance, SUBSET, status=excess)
        assert found["cost"] == (None if excess else 27269)
    words = f"constraint {row + 1} of 5 is violated: the selected items weigh {load}, the capacity"
    assert f"{words} is {load - 1}, the excess 1" in found["reason"]


@pytest.mark.parametrize(("third", "status"), [("0.3", 0), ("0.29999999999999999", 1)])
def test_decimals_are_exact(third: str, status: int, capsys: Capture) -> None:
    # In floating point, 0.1 + 0.2 is more than 0.3, but the third weight is exactly 0.3.
    instance = write("thirds.txt", f"1 2 1 0\n600.1 310.5\n0.1 0.2\n{third}\n")
    found = verified(capsys, instance, write("both.sol", "1 2\n"), status=status)
    assert found["cost"] == (None if status else 910.6)


def test_large_numbers_stay_exact(capsys: Capture) -> None:
    # Neither sum is exact in floating point.
    large = 2**59 - 1
    numbers = np.array([large, large - 2])
    file = MkpFile("large", None, numbers, numbers[np.newaxis], np.array([2 * large - 3]))
    instance = write("large.dat", drake_text(file))
    assert verified(capsys, instance, write("one.sol", "1\n"))["cost"] == large
    reason = verified(capsys, instance, write("both.sol", "1 2\n"), status=1)["reason"]
    assert f"weigh {2 * large - 2}, the capacity is {2 * large - 3}, the excess 1" in reason


def test_a_profit_above_the_best_known_is_to_be_reported(capsys: Capture) -> None:
    for stated, improves in ((27268, True), (27269, False), (27270, False)):
        path = write("lower.dat", drake_text(replace(demo_mkp(), optimum=stated)))
        assert verified(capsys, path, SUBSET)["improves"] == improves
        assert main(["verify", path, str(SUBSET)]) == 0
        assert ("better than the best known" in capsys.readouterr().out) == improves


def test_a_path_is_verified_as_one(capsys: Capture) -> None:
    line = ["run", "demo/tsp", "--set", "ends=0:any", "--set", "fixed=3-5,8-2", "--quiet"]
    assert main([*line, "--stop", "generations=3", "--backend", "cpu", "--out", "path"]) == 0
    cost = verified(capsys, "demo/tsp", "path")["cost"]
    text = Path("path", "solution.tour").read_text()
    assert "COMMENT : ends=0:any\nCOMMENT : fixed=3-5,8-2\n" in text
    assert verified(capsys, "demo/tsp", "path/solution.tour")["cost"] == cost
    kept = [each for each in text.splitlines() if "=" not in each]
    bare = write("bare.tour", "\n".join(kept))
    assert verified(capsys, "demo/tsp", bare)["cost"] > cost
    stated = ["--set", "ends=0:any", "--set", "fixed=3-5,8-2"]
    assert verified(capsys, "demo/tsp", bare, *stated)["cost"] == cost
    end = int(kept[-3]) - 1
    found = verified(capsys, "demo/tsp", bare, "--set", f"ends={end}:any", status=1)
    assert found["reason"].endswith(f"begins at 0 instead of {end}, counted from 0. Correct it")


def test_a_setting_that_the_problem_lacks_is_rejected(capsys: Capture) -> None:
    assert main(["verify", "demo/tsp", str(TOUR), "--set", "rho=1"]) == 2
    assert "unknown setting 'rho'" in capsys.readouterr().err
    assert main(["verify", "demo/qap", str(ASSIGNED), "--set", "ends=0:1"]) == 2
    assert "has no settings" in capsys.readouterr().err
