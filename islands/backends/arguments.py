"""A kernel's arguments as both drivers need them: an array of pointers to the values.

Numbers are NumPy scalars, whose type gives their size; arrays are passed as their address; a
`Struct` is passed by value with the layout of C++.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from islands.errors import UsageError


class Struct:
    """A C++ struct, passed by value: its members in the order of their declaration."""

    def __init__(self, **members: Any) -> None:
        """Take NumPy scalars, arrays, other `Struct`s, or None for a null pointer."""
        for name, value in members.items():
            is_of_python = isinstance(value, int | float | list | tuple)
            if is_of_python and not isinstance(value, np.generic):
                raise UsageError(
                    f"Struct: {name}={value!r} has no size in C++. Write a NumPy number,"
                    f" such as {name}=numpy.int32(5), or an array of the backend"
                )
        self.members = members

    @property
    def bytes(self) -> int:
        """The size of the struct in bytes."""
        return int(as_in_kernels(self, lambda _: 0).nbytes)


Address = Callable[[Any], int]


def host_address(array: Any) -> int:
    """Return the address of a NumPy array."""
    return int(array.ctypes.data)


def device_address(array: Any) -> int:
    """Return the address of a CuPy array on the device."""
    return int(array.data.ptr)


class Arguments:
    """Values packed for a launch; this object keeps them alive."""

    def __init__(self, values: Sequence[Any], address: Address) -> None:
        """Pack `values`; `address` gives the device address of an array."""
        self._kept = list(values)
        self._packed = [np.ascontiguousarray(as_in_kernels(value, address)) for value in values]
        self.pointers = (ctypes.c_void_p * max(1, len(values)))(
            *(packed.ctypes.data for packed in self._packed)
        )
        kinds = zip(values, self._packed, strict=True)
        self.signature = "".join(f"{_letter(value)}{packed.nbytes} " for value, packed in kinds)


def _letter(value: Any) -> str:
    if isinstance(value, Struct):
        return "S"
    if isinstance(value, np.floating):
        return "f"
    return "i" if isinstance(value, np.integer) else "P"


def as_in_kernels(value: Any, address: Address) -> Any:
    """Return a value with the layout of C++: a scalar, or a record for a `Struct`."""
    if isinstance(value, Struct):
        if not value.members:
            return np.zeros(1, np.uint8)  # a C++ struct is never empty
        values = [as_in_kernels(member, address) for member in value.members.values()]
        kinds = [(name, item.dtype) for name, item in zip(value.members, values, strict=True)]
        record = np.zeros(1, np.dtype(kinds, align=True))
        for (name, _), item in zip(kinds, values, strict=True):
            record[name] = item
        return record
    if isinstance(value, np.generic):
        return value
    return np.uint64(0 if value is None else address(value))
