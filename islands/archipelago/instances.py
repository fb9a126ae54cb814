"""The data of several runs, each with an instance of its own, in one array on the device."""

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
"""Alignment of the data of a run and of each array in it, in bytes, as if allocated separately."""
_TABLE = "near/table"
"""The table of neighbours, which a kernel fills."""
_NUMBERS, _NUMBER_BYTES = "numbers", 8
"""The first array in the row of a run: the numbers in `problem::Data`, if runs differ in them."""

InstanceArrays = Mapping[str, NDArray[Any]]


def arrays_of(many: Sequence[ProgramParts]) -> list[dict[str, NDArray[Any]]]:
    """Return all arrays of each instance by name: data, tables, and neighbours.

    All instances have the same number of items, and either all or none have distances.
    """
    arrays = [_arrays_of(parts) for parts in many]
    if many and many[0].uses_neighbours:
        distances = [parts.problem.near for parts in many]
        for instance, tables in zip(arrays, tables_of([d for d in distances if d]), strict=True):
            instance |= {f"near/{name}": tables[name] for name in NEAR_FIELDS}
    return arrays


def _arrays_of(parts: ProgramParts) -> dict[str, NDArray[Any]]:
    problem = parts.problem
    data = problem.device_data().items()
    arrays: dict[str, NDArray[Any]] = {}
    if problem.evaluation.numbers_differ:
        arrays[_NUMBERS] = _packed([value for _, value in data if isinstance(value, np.generic)])
    arrays |= {f"data/{name}": value for name, value in data if isinstance(value, np.ndarray)}
    arrays |= {f"table/{name}": table for name, table in parts.algorithm.tables(problem).items()}
    return arrays


def _packed(numbers: Sequence[np.generic]) -> NDArray[np.uint8]:
    """Return the bytes of numbers, each padded to `_NUMBER_BYTES`."""
    padded = (number.tobytes().ljust(_NUMBER_BYTES, b"\0") for number in numbers)
    return np.frombuffer(b"".join(padded), np.uint8)


def shapes_of(arrays: InstanceArrays) -> Hashable:
    """Return the names, shapes and types of arrays, which must be equal to share launches."""
    return tuple((name, array.shape, array.dtype.str) for name, array in arrays.items())


class Instances:
    """Rows of bytes on the device, one for the instance of each run."""

    def __init__(self, backend: Backend, arrays: InstanceArrays, runs: int) -> None:
        """Allocate rows for instances with arrays of these shapes, and fill the first row."""
        self._backend, self.runs = backend, runs
        self._places: dict[str, slice] = {}
        end = 0
        for name, array in arrays.items():
            self._places[name] = slice(end, end + array.nbytes)
            end += -(-array.nbytes // _ALIGNED) * _ALIGNED
        self.bytes = max(_ALIGNED, end)
        self.rows: Array = backend.empty((runs, self.bytes), np.uint8)
        self._shapes = {name: (array.shape, array.dtype) for name, array in arrays.items()}
        first = np.zeros(self.bytes, np.uint8)
        self.pack(arrays, first)
        backend.upload(first, self.rows[0])

    def of_first(self, name: str) -> Array:
        """Return the bytes of an array of the first run, on the device."""
        return self.rows[0, self._places[name]]

    def place(self, name: str, values: NDArray[Any]) -> Array:
        """Return the array of the first run on the device, to which structs of kernels point."""
        shape, dtype = self._shapes[name]
        assert (values.shape, values.dtype) == (shape, dtype), f"{name} has another shape"
        return self.of_first(name).view(dtype).reshape(shape)

    def pack(self, arrays: InstanceArrays, row: NDArray[np.uint8]) -> None:
        """Write the arrays of an instance to a row on the host."""
        for name, place in self._places.items():
            if name != _TABLE:
                row[place] = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8)

    def header(self, data: Struct, plan: Struct, improving: Struct, near: Struct | None) -> Header:
        """Return the header by which kernels find a run's data: see kernels/core/instance.cuh."""
        roots = {"data": data, "plan": plan, "improving": improving}
        roots |= {"near": near} if near is not None else {}
        numbers = []
        if _NUMBERS in self._places:
            numbers = [k for k, value in data.members.items() if isinstance(value, np.generic)]
        functions = [
            self._function(name, struct, numbers if name == "data" else [])
            for name, struct in roots.items()
        ]
        text = "\n".join(["#pragma once", "namespace instance {", *functions, "}", ""])
        return Header("instances.cuh", text)

    def _function(self, name: str, struct: Struct, numbers: Sequence[str]) -> str:
        """Return the C++ function that makes a struct point to the data of a run.

        The function also reads the `numbers` of the struct. It does not depend on the sizes of
        arrays, so that instances of all sizes share a program.
        """
        lines = []
        if any(member.isdigit() for member in struct.members):
            for side in ("own", "first"):
                names = ", ".join(f"{side}{number}" for number in range(len(struct.members)))
                lines.append(f"[[maybe_unused]] auto& [{names}] = {side};")
            values = enumerate(struct.members.values())
            lines += [_shifted(f"{{}}{number}") for number, value in values if self._has(value)]
        else:
            lines += [_shifted(f"{{}}.{path}") for path in self._paths(struct)]
            for number, member in enumerate(numbers):
                lines.append(f"row.read(own.{member}, {number * _NUMBER_BYTES});")
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
