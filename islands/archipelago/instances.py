"""The data of an instance for each of several runs, in one array on the device."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.memory import NEAR_FIELDS
from islands.archipelago.parts import ProgramParts
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend
from islands.backends.source import Header
from islands.problems.distances import tables_of

_ALIGNED = 256
"""Bytes to which the data of a run and each array in it are aligned, as those of any array."""
_MADE = "near/table"
"""The table of neighbours, which a kernel fills."""
_NUMBERS, _NUMBER_BYTES = "numbers", 8
"""The numbers in `problem::Data` of a run, if they may differ: the first array of its row."""

Arrays = Mapping[str, NDArray[Any]]


def arrays_of(many: Sequence[ProgramParts]) -> list[dict[str, NDArray[Any]]]:
    """Return all arrays of the instance of each run by name: data, tables, and neighbours.

    All instances have as many items, which have distances or not.
    """
    each = [_own_arrays(parts) for parts in many]
    if many and many[0].uses_neighbours:
        distances = [parts.problem.near for parts in many]
        for own, tables in zip(each, tables_of([one for one in distances if one]), strict=True):
            own |= {f"near/{name}": tables[name] for name in NEAR_FIELDS}
    return each


def _own_arrays(parts: ProgramParts) -> dict[str, NDArray[Any]]:
    problem = parts.problem
    data = problem.device_data().items()
    found = {}
    if problem.evaluation.numbers_differ:
        found[_NUMBERS] = _packed([each for _, each in data if isinstance(each, np.generic)])
    found |= {f"data/{name}": each for name, each in data if isinstance(each, np.ndarray)}
    found |= {f"table/{name}": each for name, each in parts.algorithm.tables(problem).items()}
    return found


def _packed(numbers: Sequence[np.generic]) -> NDArray[np.uint8]:
    """Return the bytes of numbers, which begin at equal distances."""
    found = np.zeros((len(numbers), _NUMBER_BYTES), np.uint8)
    for row, number in zip(found, numbers, strict=True):
        row[: number.itemsize] = np.frombuffer(number.tobytes(), np.uint8)
    return found.reshape(-1)


def shapes_of(arrays: Arrays) -> Hashable:
    """Return the names, shapes and types of arrays: those of runs that share launches are equal."""
    return tuple((name, each.shape, each.dtype.str) for name, each in arrays.items())


class Instances:
    """Rows of bytes on the device, one for the instance of each run."""

    def __init__(self, backend: Backend, arrays: Arrays, runs: int) -> None:
        """Reserve memory for instances with arrays like these, which the first row contains."""
        self._backend, self.runs = backend, runs
        self._places: dict[str, slice] = {}
        end = 0
        for name, each in arrays.items():
            self._places[name] = slice(end, end + each.nbytes)
            end += -(-each.nbytes // _ALIGNED) * _ALIGNED
        self.bytes = max(_ALIGNED, end)
        self.rows: Array = backend.empty((runs, self.bytes), np.uint8)
        self._shapes = {name: (each.shape, each.dtype) for name, each in arrays.items()}
        first = np.zeros(self.bytes, np.uint8)
        self.pack(arrays, first)
        backend.upload(first, self.rows[0])

    def of_first(self, name: str) -> Array:
        """Return the bytes of an array of the first run on the device."""
        return self.rows[0, self._places[name]]

    def place(self, name: str, values: NDArray[Any]) -> Array:
        """Return the array of the first run on the device, to which the structs point."""
        shape, dtype = self._shapes[name]
        if (values.shape, values.dtype) != (shape, dtype):
            raise AssertionError(f"{name} has another shape than before")
        return self.of_first(name).view(dtype).reshape(shape)

    def pack(self, arrays: Arrays, row: NDArray[np.uint8]) -> None:
        """Write the arrays of an instance to a row on the host."""
        for name, place in self._places.items():
            if name != _MADE:
                row[place] = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8)

    def header(self, data: Struct, plan: Struct, improving: Struct, near: Struct | None) -> Header:
        """Return the header that finds the data of a run: see kernels/core/instance.cuh."""
        roots = {"data": data, "plan": plan, "improving": improving}
        roots |= {"near": near} if near is not None else {}
        numbers = [k for k, value in data.members.items() if isinstance(value, np.generic)]
        own = {"data": numbers if _NUMBERS in self._places else []}
        functions = [self._function(k, struct, own.get(k, [])) for k, struct in roots.items()]
        text = "\n".join(["#pragma once", "namespace instance {", *functions, "}", ""])
        return Header("instances.cuh", text)

    def _function(self, name: str, struct: Struct, numbers: Sequence[str]) -> str:
        """Return the C++ function that lets a struct point to the data of a run, and reads numbers.

        It does not depend on the sizes of arrays, so that instances of all sizes share a program.
        """
        lines = []
        if any(member.isdigit() for member in struct.members):
            for side in ("own", "first"):
                names = ", ".join(f"{side}{number}" for number in range(len(struct.members)))
                lines.append(f"[[maybe_unused]] auto& [{names}] = {side};")
            paths = [f"{{}}{number}" for number in range(len(struct.members))]
            shared = zip(paths, struct.members.values(), strict=True)
            lines += [_shifted(path) for path, value in shared if self._has(value)]
        else:
            lines += [_shifted(f"{{}}.{path}") for path in self._paths(struct)]
            places = {each: k * _NUMBER_BYTES for k, each in enumerate(numbers)}
            lines += [f"row.read(own.{each}, {place});" for each, place in places.items()]
        return (
            f"template <class T> __device__ void choose_{name}([[maybe_unused]] T& own,"
            " [[maybe_unused]] const T& first, [[maybe_unused]] const Row& row) {\n"
            + "\n".join(lines)
            + "\n}"
        )

    def _paths(self, struct: Struct) -> Iterator[str]:
        for name, value in struct.members.items():
            if isinstance(value, Struct):
                yield from (f"{name}.{path}" for path in self._paths(value))
            elif self._has(value):
                yield name

    def _has(self, value: Any) -> bool:
        """Return whether a member of a struct points to the data of an instance."""
        if value is None or isinstance(value, Null | np.generic):
            return False
        address, begin = self._backend.address(value), self._backend.address(self.rows)
        return begin <= address < begin + self.bytes


def _shifted(path: str) -> str:
    return f"{path.format('own')} = row.of({path.format('first')});"
