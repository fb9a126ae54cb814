"""Problems of files by name and path, and the best cost that a file of QAPLIB states."""

import gzip
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from instance_texts import qaplib_text

from islands.errors import InputError
from islands.instances.qaplib import QapFile
from islands.problems import load
from islands.problems.base import Problem


@pytest.fixture(autouse=True)
def _no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ISLANDS_INSTANCES", raising=False)


def test_format_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "both.knapsack"
    path.write_text("2 2 0 1 1 1 1 1 1 1 1")
    drake, sac94 = (load(str(path), form) for form in ("drake", "sac94"))
    assert (drake.file.profits.tolist(), sac94.file.profits.tolist()) == ([1, 1], [0, 1])
    with pytest.raises(InputError, match="more than the 8 of two matrices"):
        load(str(path), "qaplib")


def test_stated_optimum_is_the_best_known_value(tmp_path: Path) -> None:
    path = tmp_path / "set.txt"
    path.write_text("2\n2 1 8706.1\n6000 2706.1\n1 1\n2\n1 1 0\n5\n1\n1\n")
    first, second = load(f"{path}:00"), load(f"{path}:01")
    assert (first.instance, second.instance) == (f"{path}:00", f"{path}:01")
    assert second.best_known is None
    assert (first.best_known.value, first.best_known.status) == (8706.1, "best_known")
    assert first.cost(np.ones(2, np.int64)) == 8706.1
    with pytest.raises(
        InputError, match=r"set\.txt: the file contains 2 problems\. Specify one of "
    ):
        load(str(path))


@pytest.mark.published
def test_published_knapsacks_are_found(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_path = load(f"{published}/mkp/orlib/mknapcb1.txt:07")
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    problems = [load(name) for name in ("orlib/mknapcb1-07", "weish30", "gk/gk01")]
    found = [problem.instance for problem in (by_path, *problems)]
    assert found == ["orlib/mknapcb1-07", "orlib/mknapcb1-07", "sac94/weish30", "gk/gk01"]
    np.testing.assert_array_equal(by_path.file.weights, problems[0].file.weights)
    assert load(f"{published}/mkp/sac94/hp/hp1.dat").instance == "sac94/hp1"
    with pytest.raises(InputError, match=r"mknapcb1\.txt:00 to /.*mknapcb1\.txt:29$"):
        load(f"{published}/mkp/orlib/mknapcb1.txt")


A, B = np.random.default_rng(1).integers(0, 30, (2, 5, 5))
COSTS = {
    order: int(sum(A[i, j] * B[order[i], order[j]] for i in range(5) for j in range(5)))
    for order in permutations(range(5))
}
ORDER = min(COSTS, key=lambda order: COSTS[order])
BEST = COSTS[ORDER]
WORSE = next(order for order in COSTS if COSTS[order] != BEST and order[0] != 0)
INVERSE = tuple(np.argsort(ORDER).tolist())


def made(folder: Path, stated: str, name: str = "five.qap") -> Problem:
    path = folder / name
    text = qaplib_text(QapFile("five", None, 5, A, B)).removeprefix("5")
    path.write_text(f"5 {stated}{text}")
    return load(str(path))


def known(problem: Problem) -> float | None:
    return problem.best_known.value if problem.best_known is not None else None


def solution(order: tuple[int, ...], cost: int, first: int = 1) -> bytes:
    return f"5 {cost}\n{' '.join(str(place + first) for place in order)}\n".encode()


@pytest.mark.parametrize(
    ("order", "first", "header"),
    [(ORDER, 1, BEST), (ORDER, 0, BEST + 10), (INVERSE, 1, BEST + 10), (INVERSE, 0, BEST)],
)
@pytest.mark.parametrize("is_gzipped", [False, True])
def test_solution_file_with_the_stated_cost_confirms_it(
    tmp_path: Path, order: tuple[int, ...], first: int, header: int, is_gzipped: bool
) -> None:
    assert COSTS[INVERSE] != BEST
    content = solution(order, header, first)
    if is_gzipped:
        (tmp_path / "five.sln.gz").write_bytes(gzip.compress(content))
    else:
        (tmp_path / "five.sln").write_bytes(content)
    problem = made(tmp_path, f"{BEST} {BEST}")
    assert known(problem) == BEST
    facts = {each.key: each.value for each in problem.words.remarks}
    assert facts == {"stated": BEST, "stated_agrees": True}


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (None, BEST),
        (solution(WORSE, BEST), BEST),
        (solution(ORDER, BEST + 1), BEST + 1),
        (solution((0, 1, 2, 3, 3), BEST), BEST),
        (b"4 1\n1 2 3 4\n", BEST),
        (b"", BEST),
        (solution(ORDER, BEST), f"-{BEST} 0"),  # a bound
        (solution(ORDER, BEST), ""),
    ],
)
def test_unproven_costs_are_remarks(tmp_path: Path, content: bytes | None, stated: object) -> None:
    if content is not None:
        (tmp_path / "five.sln").write_bytes(content)
    problem = made(tmp_path, str(stated))
    assert known(problem) is None
    assert all(each.value is False for each in problem.words.remarks if "agrees" in each.key)
    assert bool(problem.words.remarks) == bool(stated)


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "folder", "stated", "agrees"),
    [
        ("nug12.dat", "qaplib", "560", False),  # the catalogue has 578
        ("nug12.qap", "more", "578 578", True),
        ("nug12.qap", "more", "560 560", False),
        ("nug12.qap", "more", "579", False),
        ("other.qap", "more", "578 578", False),
        ("esc16f.qap", "more", "0 0", True),
    ],
)
def test_catalogue_confirms_or_refutes_the_stated_cost(
    published: Path, tmp_path: Path, name: str, folder: str, stated: str, agrees: bool
) -> None:
    original = published / "qaplib" / f"{name[:-4].replace('other', 'nug12')}.dat"
    first, _, rest = original.read_text().partition("\n")
    path = tmp_path / folder / name
    path.parent.mkdir()
    path.write_text(f"{first} {stated}\n{rest}")
    problem = load(str(path))
    value = int(stated.split()[0])
    assert known(problem) == (578 if folder == "qaplib" else value if agrees else None)
    assert [remark.value for remark in problem.words.remarks] == [value, agrees]


@pytest.mark.parametrize(
    ("name", "size", "stated"),
    # The catalogue has 578 for nug12, nug14 with another size, and burma14 of the TSP.
    [("nug12", 12, 577), ("nug14", 12, 1014), ("burma14", 14, 3323)],
)
def test_other_entries_do_not_count(tmp_path: Path, name: str, size: int, stated: int) -> None:
    zeros = np.zeros((size, size), np.int64)
    path = tmp_path / f"{name}.qap"
    text = qaplib_text(QapFile(name, None, size, zeros, zeros)).removeprefix(str(size))
    path.write_text(f"{size} {stated}{text}")
    assert known(load(str(path))) is None


@pytest.mark.parametrize("stated", [577, 579])
def test_value_worse_than_the_catalogue_is_not_accepted(tmp_path: Path, stated: int) -> None:
    one = np.zeros((12, 12), np.int64)
    one[0, 0] = 1
    order = range(1, 13)
    text = qaplib_text(QapFile("nug12", None, 12, one, one * stated)).removeprefix("12")
    (tmp_path / "nug12.qap").write_text(f"12 {stated}{text}")
    (tmp_path / "nug12.sln").write_text(f"12 {stated}\n{' '.join(map(str, order))}\n")
    problem = load(str(tmp_path / "nug12.qap"))
    assert known(problem) == (577 if stated == 577 else None)
