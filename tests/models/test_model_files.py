"""Files of models: small ones that claim to be huge, wrong ones, networks, and published ones."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_texts import entry_of, peak_below
from scipy.sparse import coo_array

import islands
from islands.errors import InputError, UsageError

WRONG = [
    ("qubo", f"3 1\n1 2 {'9' * 5000}\n"),
    ("colouring", "e 1 2000000000\n"),
    ("colouring", "e 1 10000000\n"),
    ("colouring", "p edge 10000000 1\ne 1 10000000\n"),
    ("colouring", "e 99999999999999999999 1\n"),
    ("colouring", "e 1\n"),
    ("colouring", "p edge 4 1\ne 1 5\n"),
    ("pmedian", "30000 1 5\n1 2 3\n"),
    ("pmedian", "4000 1 5\n1 2 3\n"),
    ("diversity", "100000 5\n0 1 3\n"),
    ("diversity", "3000 5\n0 1 3\n"),
    ("diversity", "3 2\n0 -1 4\n0 2 1\n1 2 5\n"),
    ("diversity", "3 2\n0 3 4\n0 2 1\n1 2 5\n"),
    ("diversity", "3 2\n0 1 nan\n0 2 1\n1 2 5\n"),
    ("diversity", "3 2\n0 1 4\n0 2 1\n0 2 5\n"),  # without items 1 and 2
    ("setcover", "1 10000000\n0 0 1 1\n"),
    ("setcover", "10000000 1\n0 0 1 1\n"),
    ("maxcut", "2000000000 1\n1 2000000000 1\n"),
    ("maxcut", "10000000 1\n1 10000000 1\n"),
    ("maxcut", "2 900000000\n1 2 1\n"),
    ("maxcut", "2000000000 1\n1 2 1\n"),
    ("qubo", "2000000000 1\n1 2 1\n"),
    ("qubo", "2 900000000\n1 2 1\n"),
    ("qubo", "p qubo 0 2000000000 1 0\n0 0 1\n"),
    ("qubo", "p qubo 0 2 900000000 900000000\n0 0 1\n"),
    ("bqp", "900000000\n2 1\n1 2 1\n"),
    ("jobshop", "100000 100000\n0 1\n"),
    ("flexiblejobshop", "100000 100000\n1 1 1 1\n"),
    ("flowshop", ": 2000000000 2000000000 1 1 1 : 1\n"),
    ("binpacking", "2000000000 5\n1\n"),
]


@pytest.mark.parametrize(("form", "text"), WRONG)
def test_wrong_files_are_rejected_in_little_memory(tmp_path: Path, form: str, text: str) -> None:
    islands.load("demo/tsp")  # the catalogue is read once
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with peak_below(8 << 20), pytest.raises(InputError):
        islands.load(path, form)


@pytest.mark.parametrize(
    "make",
    [
        lambda: islands.models.max_cut([[0, 2**31 - 1]]),
        lambda: islands.models.max_cut([[0, 9_999_999]]),
        lambda: islands.models.max_cut([[0, 1], [0, 100_000]]),
        lambda: islands.models.graph_colouring([[2**31, 1]]),
        lambda: islands.qubo(coo_array(([1], ([0], [1])), shape=(2**31 - 1, 2**31 - 1))),
    ],
)
def test_arrays_of_few_entries_are_rejected_in_little_memory(make: Callable[[], Any]) -> None:
    with peak_below(8 << 20), pytest.raises(UsageError):
        make()


def test_graphs_have_as_many_nodes_as_their_edges_allow() -> None:
    ends = np.arange(1, 7001)
    star = np.stack([np.zeros_like(ends), 16 * ends - 1], axis=1)  # 16 nodes for each edge
    assert islands.models.max_cut(star).size == 112_000
    assert islands.models.max_cut([[0, 99_999]]).size == 100_000


def test_ways_are_the_shortest_of_a_network(tmp_path: Path) -> None:
    """Edges may have no length, and the last of those between the same nodes counts."""
    random, n = np.random.default_rng(3), 9
    edges = [(i, i + 1, int(random.integers(9))) for i in range(n - 1)]
    edges += [(*random.choice(n, 2, replace=False).tolist(), int(each)) for each in range(8)]
    ways = np.full((n, n), 10**6)
    np.fill_diagonal(ways, 0)
    for i, j, each in edges:
        ways[i, j] = ways[j, i] = each
    for k in range(n):
        ways = np.minimum(ways, ways[:, [k]] + ways[k])
    path = tmp_path / "net.txt"
    lines = [f"{i + 1} {j + 1} {each}" for i, j, each in edges]
    path.write_text("\n".join([f"{n} {len(lines)} 1", *lines, ""]))
    problem = islands.load(path, "pmedian")
    for place, chosen in enumerate(np.eye(n, dtype=np.int64)):
        assert problem.cost(chosen) == ways[place].sum()


def test_a_problem_of_several_in_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bqp.txt"
    path.write_text("3\n2 2\n1 1 -5\n1 2 3\n1 1\n1 1 7\n2 1\n2 2 9\n")
    found = [islands.load(f"{path}:{part:02}", "bqp") for part in range(3)]
    assert [problem.cost(np.ones(problem.size, int)) for problem in found] == [1, 7, 9]
    assert all(problem.maximise for problem in found)
    for name in (path, f"{path}:03"):
        with pytest.raises(InputError, match="the file contains 3 problems"):
            islands.load(name, "bqp")


@pytest.mark.parametrize("suffix", ["qubo", "sparse", "sparse.gz", "rudy", "mc"])
def test_formats_are_known_by_suffixes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"own.{suffix}"
    text = b"p qubo 0 2 1 1\n0 0 -4\n0 1 1\n" if suffix == "qubo" else b"2 1\n1 2 -4\n"
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    for name in (path, str(path)):
        expected = islands.models.MaxCut if suffix in ("rudy", "mc") else islands.models.Qubo
        assert isinstance(islands.load(name), expected)


def test_comments_are_skipped_in_all_formats(tmp_path: Path) -> None:
    texts = {
        "maxcut": "3 2\n1 2 1\n2 3 1\n",
        "qubo": "p qubo 0 2 1 1\n0 0 -4\n0 1 1\n",
        "bqp": "2\n1 1\n1 1 7\n1 1\n1 1 9\n",
        "colouring": "p edge 3 2\ne 1 2\ne 2 3\n",
        "binpacking": "3\n10\n4\n5\n6\n",
        "jobshop": "2 2\n0 3 1 2\n1 4 0 1\n",
    }
    for form, text in texts.items():
        plain, commented = tmp_path / f"{form}.txt", tmp_path / f"{form}-c.txt"
        plain.write_text(text)
        commented.write_text(text.replace("\n", "\nc a comment of 2 items\n# and 3\n"))
        names = [f"{path}:01" if form == "bqp" else path for path in (plain, commented)]
        first, second = (islands.load(name, form) for name in names)
        assert [each.tolist() for each in first.arrays()] == [
            each.tolist() for each in second.arrays()
        ]


def test_the_head_of_qbsolv_tells_diagonal_entries_from_others(tmp_path: Path) -> None:
    path = tmp_path / "a.qubo"
    rows = "0 0 -4\n0 1 1\n1 1 2\n"
    path.write_text(f"p qubo 0 2 2 1\n{rows}")
    assert islands.load(path).cost([1, 1]) == -1
    path.write_text(f"p qubo 0 2 1 2\n{rows}")
    with pytest.raises(
        InputError, match="has 2 diagonal entries, but its head states 1, and 2 others"
    ):
        islands.load(path)


def test_real_entries_stay_real_and_whole_ones_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.qubo"
    for entry, cost in (("0.5", 0.5), ("9007199254740993", 2**53 + 1), ("1e20", 1e20)):
        path.write_text(f"p qubo 0 1 1 0\n0 0 {entry}\n")
        assert islands.load(path).cost([1]) == cost


def test_a_text_of_entries_is_no_file_of_knapsacks(tmp_path: Path) -> None:
    path = tmp_path / "G.txt"
    path.write_text("3 2\n1 2 1\n2 3 1\n")
    with pytest.raises(UsageError, match='format="maxcut", "qubo", "bqp" or "diversity"'):
        islands.load(path)
    assert islands.load(path, "maxcut").size == 3


def test_a_text_of_several_quadratic_problems_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "bqp50.txt"
    path.write_text("2\n2 2\n1 1 -5\n1 2 3\n2 1\n2 2 9\n")
    problem = islands.load(f"{path}:01")
    assert isinstance(problem, islands.models.Qubo)
    assert (problem.maximise, problem.cost([0, 1])) == (True, 9)
    path.write_text("1\n2 1\n0 7 9\n1 2\n2\n")  # a knapsack: the optimum and two profits
    assert islands.load(path).name == "mkp"


NAMES = ["jobshop/ft06", "flowshop/tai20_5_0", "setcover/scpclr10", "maxcut/G1", "qubo/gka2f"]
NAMES += ["qubo/bqp1000-2"]


@pytest.mark.published
@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_problems(published: Path, name: str) -> None:
    problem = islands.load(name)
    assert problem.instance == name
    assert problem.best_known == entry_of(name)[1]


@pytest.mark.slow
@pytest.mark.published
def test_the_optimum_of_a_published_shop_is_found(published: Path) -> None:
    result = islands.solve("jobshop/ft06", algorithm="tempering", generations=200, seed=1)
    assert result.cost == 55
