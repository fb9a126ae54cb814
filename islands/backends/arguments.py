"""Arguments of kernels, as an array of pointers to their values.

Numbers are NumPy scalars, whose type gives the size; arrays are passed as their address; a `Struct`
is passed by value with the layout of C++, which the compiler checks.
"""

import ctypes
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from islands.errors import UsageError

Address = Callable[[Any], int]


class Struct:
    """A C++ struct, passed by value: its members in the order of their declaration.

    >>> islands.Struct(exchanges=np.int32(5), rate=np.float64(0.5)).kind()[0][0]
    'exchanges'
    """

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
        self._records: dict[Address, NDArray[Any]] = {}

    def record(self, address: Address) -> NDArray[Any]:
        """Return the members with the layout of C++; `address` gives the address of an array.

        The record is kept, as several launches take the same struct.
        """
        if address not in self._records:
            self._records[address] = _packed(self.members, address)
        return self._records[address]

    def kind(self) -> Hashable:
        """Return the names and types of the members, in their order."""
        return tuple([(name, _kind_of(value)) for name, value in self.members.items()])


def _kind_of(value: Any) -> Hashable:
    if isinstance(value, Struct):
        return value.kind()
    is_number = isinstance(value, np.generic)
    return is_number, getattr(value, "dtype", None)


class Null:
    """A null pointer with an element type; None is a null pointer of any type."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)


def host_address(array: Any) -> int:
    """Return the address of a NumPy array."""
    return int(array.__array_interface__["data"][0])  # much faster than array.ctypes


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
    return "i" if isinstance(value, np.generic) else "P"


def as_in_kernels(value: Any, address: Address) -> Any:
    """Return a value with the layout of C++: a scalar, or a record for a `Struct`."""
    if isinstance(value, Struct):
        return value.record(address)
    if isinstance(value, np.generic):
        return value
    return np.uint64(0 if value is None or isinstance(value, Null) else address(value))


def _packed(members: Mapping[str, Any], address: Address) -> NDArray[Any]:
    if not members:
        return np.zeros(1, np.uint8)  # a C++ struct is never empty
    values = [as_in_kernels(member, address) for member in members.values()]
    kinds = tuple([value.dtype for value in values])
    record = np.zeros(1, _aligned(tuple(members), kinds))
    record[0] = tuple([v[0] if isinstance(v, np.ndarray) else v for v in values])
    return record


@cache
def _aligned(names: tuple[str, ...], kinds: tuple[np.dtype[Any], ...]) -> np.dtype[Any]:
    return np.dtype([*zip(names, kinds, strict=True)], align=True)


def layout_of(struct: Struct) -> np.dtype[Any]:
    """Return the offsets and sizes of the members in C++."""
    return struct.record(lambda _: 0).dtype


def layout_checks(structs: Mapping[str, Struct]) -> str:
    """Return C++ code that compiles only if the C++ structs of these names have equal members.

    Members whose names are numbers are compared by position.
    """
    return "".join([_checks_of(name, struct, struct.kind()) for name, struct in structs.items()])


_checks_by_kind: dict[tuple[str, Hashable], str] = {}


def _checks_of(name: str, struct: Struct, kind: Hashable) -> str:
    if (name, kind) not in _checks_by_kind:
        _checks_by_kind[name, kind] = "".join([f"{line}\n" for line in _checks(name, struct)])
    return _checks_by_kind[name, kind]


_SAME = "Write the same members in the header and in Struct(...), in the same order"


def _checks(name: str, struct: Struct, type_: str = "") -> Iterator[str]:
    """Yield assertions about a struct and the structs inside it; `name` is for messages."""
    type_, layout, members = type_ or name, layout_of(struct), struct.members
    yield f'#line 1 "{name}, as Python passes it"'
    bound = list(dict.fromkeys(f"_{member.partition('[')[0]}" for member in members))
    by_place, inside, offsets = [], list[str](), dict(layout.fields or {})
    for number, (member, value) in enumerate(members.items()):
        inner, is_named = f"decltype({type_}::{member})", not member.isdigit()
        kind, what = _kind(value, inner if is_named else f"decltype({bound[number]})")
        if is_named:
            offset = offsets[member][1]
            where = f"OFFSET_OF({type_}, {member}) == {offset}"
            words = f"{name}::{member}: Python passes {what} at byte {offset}. {_SAME}"
            yield f'static_assert({where} && {kind}, "{words}");'
        else:
            words = f"{name}: Python passes {what} as member {number + 1}. {_SAME}"
            by_place.append(f'static_assert({kind}, "{words}");')
        if isinstance(value, Struct):
            inside += _checks(f"{name}::{member}", value, inner)
    size, words = layout.itemsize, f"{name}: Python passes {layout.itemsize} bytes. {_SAME}"
    yield f'static_assert(sizeof({type_}) == {size}, "{words}");'
    if members:  # a list of names that is too short or too long does not compile
        function = re.sub(r"\W+", "_", f"every_member_of_{name}")
        names = ", ".join(bound)
        yield f"__device__ void {function}({type_}& all) {{ [[maybe_unused]] auto& [{names}] = all;"
        yield from (*by_place, "}")
    yield from inside


def _kind(value: Any, type_: str) -> tuple[str, str]:
    """Return a C++ condition that a member has the type of a value, and the type for messages."""
    dtype = getattr(value, "dtype", None)
    if isinstance(value, Struct):
        return f"layout::IS<{type_}, 'S', {layout_of(value).itemsize}>", "a struct"
    if isinstance(value, np.generic):
        return f"layout::IS<{type_}, '{_letter(value)}', {value.itemsize}>", str(dtype)
    if dtype is None:
        return f"layout::IS<{type_}, 'P', 8>", "a pointer"
    letter = "f" if dtype.kind == "f" else "i"
    return f"layout::IS_POINTER_TO<{type_}, '{letter}', {dtype.itemsize}>", f"an array of {dtype}"
