"""Structs passed from Python to kernels have the same members on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layouts import Headers
from problems_for_tests import facilities
from programs_for_tests import parts
from recorded_launches import CASES, Recorder, recorded

from islands.archipelago.measure import _MEASURE, ISLAND
from islands.backends.arguments import Struct, as_in_kernels
from islands.backends.source import Source
from islands.backends.state import Field
from islands.bench.tabu import TabuSearches
from islands.migration import Migrant
from islands.migration.kernels import _ARRIVAL
from islands.paths import data_folder

POPULATION = Source("population.cuh", parts(facilities(9), "ga", "permutation").encoding_macros())
_UNNAMED = "Data"  # of a problem: Python gives its arrays as a list, without names


_READ: dict[str, Headers] = {}


def headers(source: Source) -> Headers:
    """Return the headers of a program, from a cache."""
    digest = source.digest()
    if digest not in _READ:
        _READ[digest] = Headers(source)
    return _READ[digest]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("problems")


def require_same(
    declared: Headers, name: str, given: Struct, tables: dict[int, Sequence[Struct]]
) -> None:
    """Fail if a struct of Python, or one inside it, differs from its declaration in a header."""
    layout = declared.layouts[name]
    record = as_in_kernels(given, lambda array: int(array.ctypes.data)).dtype
    assert record.names is not None
    assert record.fields is not None
    if name.rpartition("::")[2] != _UNNAMED:
        assert list(record.names) == [member.name for member in layout.members], name
    assert record.itemsize == layout.size, name
    for member, each, value in zip(
        layout.members, record.names, given.members.values(), strict=True
    ):
        where, scope = f"{name}::{member.name}", name.rpartition("::")[0]
        kind, offset = record.fields[each][:2]
        assert (member.offset, int(member.kind[1:])) == (offset, kind.itemsize), where
        assert member.kind[0] == _letter(value), where
        if isinstance(value, Struct):
            inner = declared.name(member.type, scope)
            assert inner is not None, where
            require_same(declared, inner, value, tables)
        elif isinstance(value, np.ndarray) and value.ctypes.data in tables:
            inner = declared.name(member.type, scope)
            assert inner is not None, where
            for row in tables[value.ctypes.data]:
                require_same(declared, inner, row, tables)
        elif isinstance(value, np.ndarray) and member.pointee[0] != "S" and member.pointee != "i1":
            numbers = "f" if value.dtype.kind == "f" else "i"
            assert member.pointee == f"{numbers}{value.dtype.itemsize}", where


def _letter(value: Any) -> str:
    if isinstance(value, Struct):
        return "S"
    if isinstance(value, np.floating):
        return "f"
    return "i" if isinstance(value, np.integer) else "P"


def require_launches_same(backend: Recorder) -> None:
    for launch in backend.launches:
        declared = headers(launch.source)
        types = declared.kernels[launch.kernel]
        assert len(types) == len(launch.arguments), launch.kernel
        for written, given in zip(types, launch.arguments, strict=True):
            if isinstance(given, Struct):
                name = declared.name(written)
                assert name is not None, f"{launch.kernel}: {written}"
                require_same(declared, name, given, backend.tables)


@pytest.mark.parametrize("case", CASES)
def test_arguments_of_kernels_match_their_declarations(case: str, folder: Path) -> None:
    require_launches_same(recorded(case, folder))


def test_arguments_of_the_benchmark_match_their_declarations() -> None:
    backend = Recorder()
    search = TabuSearches(backend, 8, 2, 1)
    for name in ("kernel", "loop"):
        search._call(name, backend.empty((2, 8), np.int32), backend.empty((2,), np.int64))
    require_launches_same(backend)


WITHOUT_STRUCTS = {
    *("problems/moved.cuh", "problems/stated.cuh", "solutions.cuh"),
    "problems/qap_tiles.cuh",  # for GPUs only
}
"""Headers that declare no structs of Python: `Data` of stated problems is generated, and tested in
tests/modelling."""


def test_the_cases_cover_all_headers(folder: Path) -> None:
    launches = [launch for case in CASES for launch in recorded(case, folder).launches]
    used = {file for launch in launches for file in launch.source.files()}
    kernels = data_folder("kernels")
    folders = ("algorithms", "encodings", "problems", "improvers", ".")
    every = {path for name in folders for path in (kernels / name).glob("*.cuh")}
    names = {path.relative_to(kernels).as_posix() for path in every}
    assert names - WITHOUT_STRUCTS <= used


def test_structs_read_by_python_match_their_declarations() -> None:
    declared = headers(POPULATION)
    for name, members in (("Island", ISLAND), ("Measure", _MEASURE)):
        layout = declared.layouts[name]
        assert [member.name for member in layout.members] == list(members)
        assert [member.offset for member in layout.members] == list(range(0, 8 * len(members), 8))
        assert {member.kind for member in layout.members} == {"i8"}
        assert layout.size == 8 * len(members)
    arrival = declared.layouts["Arrival"]
    assert arrival.size == _ARRIVAL.itemsize
    assert _ARRIVAL.fields is not None
    assert [(each.name, each.offset, each.kind) for each in arrival.members] == [
        (name, offset, f"i{kind.itemsize}")
        for name, (kind, offset) in _ARRIVAL.fields.items()  # type: ignore[misc]
    ]


def test_genes_follow_the_header_of_a_migrant() -> None:
    header = Headers(POPULATION, also=["Migrant"]).layouts["Migrant"]
    genes = Field((4, 16), np.int32)
    assert Migrant({"genes": genes}).genes == slice(header.size, header.size + 64)


WRONG: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a member more": lambda members: {**members, "more": np.int32(0)},
    "a member less": lambda members: {
        name: value for name, value in members.items() if name != "share"
    },
    "another order": lambda members: {
        name: members[name] for name in sorted(members)
    },
    "another name": lambda members: {
        "size" if name == "population" else name: value for name, value in members.items()
    },
    "another size": lambda members: {**members, "share": np.uint32(0)},
    "another kind": lambda members: {**members, "share": np.float64(0)},
    "another element type": lambda members: {**members, "cost": np.zeros(1, np.int32)},
    "another struct inside": lambda members: {**members, "shape": Struct(n=np.int32(0))},
    "a table of other structs": lambda members: {**members, "traits": np.zeros(1, np.int64)},
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_change_on_one_side_is_found(what: str, folder: Path) -> None:
    backend = recorded("ga", folder)
    launch = next(each for each in backend.launches if each.kernel == "measure")
    right = launch.arguments[0]
    declared, tables = headers(launch.source), dict(backend.tables)
    require_same(declared, "Archipelago", right, tables)
    wrong = Struct(**WRONG[what](right.members))
    tables[wrong.members["traits"].ctypes.data if what.startswith("a table") else 0] = [
        Struct(rows=None, bytes=np.int32(0))
    ]
    with pytest.raises(AssertionError):
        require_same(declared, "Archipelago", wrong, tables)


def test_a_member_that_was_not_parsed_is_found() -> None:
    declared = Headers(POPULATION)
    declared.bodies["RankingPlan"] = declared.bodies["RankingPlan"].replace("int32_t step;", "")
    with pytest.raises(AssertionError, match="RankingPlan"):
        _ = declared.layouts
