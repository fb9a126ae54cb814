"""Structs that cross from Python to kernels are the same on both sides, member by member."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layouts import Headers
from problems_for_tests import cities, facilities, knapsack, lattice

from islands.archipelago.measure import _MEASURE, ISLAND
from islands.backends.arguments import Arguments, Struct, laid_out
from islands.backends.base import Array, Block, Call, Program, Room, arena
from islands.backends.cpu import CpuBackend
from islands.backends.header import Header
from islands.backends.source import Source
from islands.backends.state import Field
from islands.bench.tabu import Search
from islands.migration import Migrant
from islands.migration.kernels import _ARRIVAL
from islands.parallel import World
from islands.paths import data_folder
from islands.problems.base import Problem
from islands.run.build import islands_of
from islands.spec.resolve import layers, resolve

POPULATION = Source(
    "population.cuh",
    {"COSTS_MARKED": "0", "ISLANDS_ENCODING": Header("encodings/permutation.cuh")},
)
_NUMBERED = "Data"  # of a problem, whose arrays Python gives in a list


@dataclass(frozen=True)
class Launch:
    """What a kernel would be given."""

    source: Source
    kernel: str
    arguments: Sequence[Any]


class Recorder(CpuBackend):
    """A CPU that compiles nothing, and keeps what kernels would be given."""

    def __init__(self) -> None:
        super().__init__(1)
        self.launches: list[Launch] = []
        self.tables: dict[int, Sequence[Struct]] = {}
        """The structs that were put on the device, by the address of their array."""

    def compile(self, source: Source, block: Block) -> Program:
        return Program(source, "", block)

    def call(
        self,
        program: Program,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
    ) -> Call:
        given = arguments if room is None else (arena(None, room.large), *arguments)
        self.launches.append(Launch(program.handle, kernel, given))
        return Call(None, blocks, 1, 0, Arguments(given, self.address))

    def asked_room(self, source: Source, *arguments: Any) -> Room:
        asked = self.zeros((2,), np.int64)
        self.launches.append(Launch(source, "room", (*arguments, asked)))
        return Room(64)

    def upload_structs(self, structs: Sequence[Struct]) -> Array | None:
        array = super().upload_structs(structs)
        if array is not None:
            self.tables[self.address(array)] = structs
        return array


CASES: dict[str, tuple[Callable[[Path], Problem], dict[str, Any]]] = {
    "brkga": (lambda folder: cities(9, folder), {"algorithm": "brkga"}),
    "de": (
        lambda _: facilities(9, symmetric="neither", diagonal=True),
        {"algorithm": "de", "adaptation": "jde", "improver": "tabu"},
    ),
    "matrix": (lambda folder: cities(9, folder, "GEO"), {"algorithm": "de"}),
    "ga": (lambda _: facilities(9), {"algorithm": "ga", "encoding": "permutation"}),
    "outside": (
        lambda _: facilities(9),
        {"algorithm": "ga", "encoding": "permutation", "decoding": "host"},
    ),
    "halo": (
        lambda _: lattice("CEIL_2D"),
        {"algorithm": "cellular", "halo": True, "migration": "none", "improver": "two_opt"},
    ),
    "torus": (
        lambda _: knapsack(20, 3),
        {"algorithm": "cellular", "encoding": "bits", "improver": "tabu", "reset": 3},
    ),
    "swarm": (
        lambda _: knapsack(40, 2),
        {"algorithm": "pso", "encoding": "bits", "infeasible": "dynamic", "improver": "exchange"},
    ),
    "keys": (
        lambda _: knapsack(40, 2),
        {
            "algorithm": "brkga", "decoding": "sorted", "migration.selection": "roulette",
            "migration.replacement": "random",
        },
    ),
}  # fmt: skip


@cache
def recorded(case: str, folder: Path) -> Recorder:
    make, options = CASES[case]
    problem, backend = make(folder), Recorder()
    asked = {"islands": 2, "population": 16, "stop": "generations=9", "migrants": 1}
    asked |= {"migration": "ring", "improver": "none"} | options
    islands_of(resolve(layers(asked), problem), problem, World(), backend)
    return backend


_READ: dict[str, Headers] = {}


def headers(source: Source) -> Headers:
    """Return what a program includes; each is read once."""
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
    """Fail where a struct of Python is not that of a header, or one that it holds is not."""
    layout = declared.layouts[name]
    record = laid_out(given, lambda array: int(array.ctypes.data)).dtype
    assert record.names is not None
    assert record.fields is not None
    if name.rpartition("::")[2] != _NUMBERED:
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
def test_what_kernels_are_given_is_what_their_headers_declare(case: str, folder: Path) -> None:
    require_launches_same(recorded(case, folder))


def test_so_is_what_the_bench_gives() -> None:
    backend = Recorder()
    search = Search(backend, 8, 2, 1)
    for name in ("kernel", "loop"):
        search._call(name, backend.empty((2, 8), np.int32), backend.empty((2,), np.int64))
    require_launches_same(backend)


def test_the_cases_have_all_structs_that_are_ever_given(folder: Path) -> None:
    """Every header of a part is in some case."""
    launches = [launch for case in CASES for launch in recorded(case, folder).launches]
    met = {file for launch in launches for file in launch.source.files()}
    kernels = data_folder("kernels")
    parts = ("algorithms", "encodings", "problems", "improvers", ".")
    every = {path for part in parts for path in (kernels / part).glob("*.cuh")}
    assert {path.relative_to(kernels).as_posix() for path in every} - met == {"check.cuh"}


def test_what_python_reads_back_is_what_kernels_write() -> None:
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


def test_genes_begin_behind_the_head_of_a_migrant() -> None:
    head = Headers(POPULATION, also=["Migrant"]).layouts["Migrant"]
    genes = Field((4, 16), np.int32)
    assert Migrant({"genes": genes}).genes == slice(head.size, head.size + 64)


WRONG: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "one more": lambda members: {**members, "more": np.int32(0)},
    "one less": lambda members: {
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
    "other numbers": lambda members: {**members, "cost": np.zeros(1, np.int32)},
    "another struct inside": lambda members: {**members, "shape": Struct(n=np.int32(0))},
    "a table of other structs": lambda members: {**members, "traits": np.zeros(1, np.int64)},
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_change_on_one_side_only_is_seen(what: str, folder: Path) -> None:
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


def test_the_compiler_counts_the_members_that_were_read() -> None:
    declared = Headers(POPULATION)
    declared.bodies["Course"] = declared.bodies["Course"].replace("int32_t step;", "")
    with pytest.raises(AssertionError, match="Course"):
        _ = declared.layouts
