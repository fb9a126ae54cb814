from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from instance_texts import qaplib_text

from islands.cli import verify
from islands.errors import InputError
from islands.instances.qaplib import QapFile
from islands.paths import data_folder

OPTIMAL = data_folder("instances") / "tsp" / "demo.opt.tour"
ASSIGNED = data_folder("instances") / "qap" / "demo.sln"


def run(*line: str) -> int:
    parser = argparse.ArgumentParser()
    verify.add_verify(parser)
    return verify.verify(parser.parse_args(line))


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Return a tour file in which the first city appears twice."""
    path = tmp_path / "twice.tour"
    lines = OPTIMAL.read_text().splitlines()
    first = lines.index("TOUR_SECTION") + 1
    lines[first + 1] = lines[first]
    path.write_text("\n".join(lines))
    return path


def test_an_optimal_tour_is_feasible_with_a_gap_of_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/tsp", str(OPTIMAL)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["length 8637", "best known 8637 (optimal)   gap 0.00%", "feasible"]


def test_bare_name_is_searched_for_next_to_the_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("demo/tsp", OPTIMAL.name) == 0
    assert "length 8637\n" in capsys.readouterr().out


def test_the_solution_in_a_folder_is_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "solution.tour").write_bytes(OPTIMAL.read_bytes())
    assert run("demo/tsp", str(tmp_path)) == 0
    assert "length 8637\n" in capsys.readouterr().out


def test_an_infeasible_tour_gives_status_1_and_the_reason(
    twice: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("demo/tsp", str(twice)) == 1
    out = capsys.readouterr().out
    assert (
        "infeasible: not a tour of demo/tsp: city 1 is visited twice, at positions 1 and 2" in out
    )
    assert "length" not in out


def test_json_is_one_object(twice: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/tsp", str(OPTIMAL), "--json") == 0
    right = json.loads(capsys.readouterr().out)
    assert run("demo/tsp", str(twice), "--json") == 1
    wrong = json.loads(capsys.readouterr().out)
    assert (right["cost"], right["best_known"], right["gap"]) == (8637, 8637, 0.0)
    assert (right["feasible"], right["reason"], right["remarks"]) == (True, None, {})
    assert (wrong["feasible"], wrong["cost"], wrong["gap"]) == (False, None, None)
    assert "city 1 is visited twice" in wrong["reason"]


def test_error_of_a_missing_file_names_the_places() -> None:
    with pytest.raises(
        InputError, match=r"none\.tour: no such file, and none with this name next to .*demo\.tsp"
    ):
        run("demo/tsp", "none.tour")


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("att48", 10628),
        ("gr666", 294358),
        ("ulysses16", 6859),
        ("pcb442", 50778),
        ("pa561", 2763),
        ("bayg29", 1610),
    ],
)
def test_published_tours(
    published: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    length: int,
) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    assert run(f"tsplib/{name}", f"{name}.opt.tour") == 0
    assert f"length {length}\n" in capsys.readouterr().out


def test_name_that_cannot_be_searched_for_is_refused() -> None:
    with pytest.raises(InputError, match=r"^xxx.*: File name too long\. Name a file that can be"):
        run("demo/tsp", "x" * 300)


def test_remarks_tell_how_an_assignment_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/qap", "demo.sln") == 0
    assert capsys.readouterr().out.splitlines() == [
        "demo/qap   qap of size 30",
        "the file counts from 1",
        "the file's permutation is used as written",
        "the file's header states 4664",
        "the header is right",
        "cost 4664",
        "best known 4664 (optimal)   gap 0.00%",
        "feasible",
    ]


def test_wrong_header_is_reported_but_solution_is_feasible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.sln"
    path.write_text(ASSIGNED.read_text().replace("30 4664", "30 4600"))
    assert run("demo/qap", str(path)) == 0
    assert "the header is wrong: the permutation costs 4664, its" in capsys.readouterr().out
    assert run("demo/qap", str(path), "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["cost"], answer["remarks"]["header"]) == (4664, 4600)
    assert answer["remarks"]["header_agrees"] is False


def test_stated_cost_is_shown_and_accepted_only_if_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.qap"
    instance = (data_folder("instances") / "qap" / "demo.dat").read_text()
    path.write_text(instance.replace("30", "30 -4000 4664", 1))
    assert run(str(path), str(ASSIGNED)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [
        "the file says best known 4664, lower bound 4000",
        "the assignment in demo.sln has this cost",
    ]
    assert lines[-2:] == ["cost 4664", "feasible"]
    (tmp_path / "own.sln").write_bytes(ASSIGNED.read_bytes())
    assert run(str(path), "own.sln", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["best_known"], answer["gap"]) == (4664, 0.0)
    assert (answer["remarks"]["stated"], answer["remarks"]["stated_agrees"]) == (4664, True)


def test_an_infeasible_assignment_is_reported_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "twice.sln"
    path.write_text(ASSIGNED.read_text().replace("\n7 25 ", "\n7 7 "))
    assert run("demo/qap", str(path)) == 1
    out = capsys.readouterr().out
    assert "not an assignment of demo/qap: location 7 is taken twice, at positions 1 and 2" in out
    assert "header" not in out


def test_assignment_of_another_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sln"
    path.write_text("3 12\n1 2 3\n")
    with pytest.raises(InputError, match=r"other\.sln:1: n is 3, but the instance has 30"):
        run("demo/qap", str(path))


@pytest.mark.parametrize(
    ("name", "cost", "agrees"),
    # The catalogue has 9552 for chr12a, with the same size; no source confirms a cost of 5.
    [("own", 9553, True), ("own", 0, True), ("own", 5, False), ("chr12a", 9553, False)],
)
def test_assignment_with_the_stated_cost_confirms_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, cost: int, agrees: bool
) -> None:
    # Each assignment costs the number in A, as the diagonal of B is 1.
    a, b = np.zeros((2, 12, 12), np.int64)
    a[0, 0] = 0 if cost == 5 else cost
    np.fill_diagonal(b, 1)
    text = qaplib_text(QapFile(name, None, 12, a, b)).removeprefix("12")
    path, right = tmp_path / f"{name}.qap", tmp_path / "right.sln"
    path.write_text(f"12 {cost}{text}")
    right.write_text(f"12 {cost}\n{' '.join(map(str, range(1, 13)))}\n")
    assert run(str(path), str(right)) == 0
    out = capsys.readouterr().out
    assert ("the assignment in right.sln has this cost" in out) == agrees
    assert ("not accepted as the best known" in out) == (not agrees)
    assert run(str(path), str(right), "--json") == 0
    assert json.loads(capsys.readouterr().out)["remarks"]["stated_agrees"] == agrees


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "base", "convention", "words"),
    [
        ("tai60a", 1, "inverse", "cost 7205962\n"),
        ("tai40a", 0, "as written", "cost 3139370\n"),
        ("bur26a", 1, "as written", "cost 5426670\n"),
        ("esc16f", 1, "either", "cost 0\n"),
        ("kra32", 1, "as written", "the header is wrong: the permutation costs 88700, its inverse"),
    ],
)
def test_published_assignments(
    published: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    base: int,
    convention: str,
    words: str,
) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    assert run(f"qaplib/{name}", f"{name}.sln") == 0
    assert words in capsys.readouterr().out
    assert run(f"qaplib/{name}", f"{name}.sln", "--json") == 0
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert (remarks["index_base"], remarks["convention"]) == (base, convention)
