"""The data of a user-defined problem, as members of a struct for kernels."""

import keyword
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.modelling import messages
from islands.text import shown

Members = dict[str, "NDArray[Any] | np.generic"]

_C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
_NAME = re.compile(r"[A-Za-z]\w*")
_RESERVED = re.compile(
    r"alignas|alignof|asm|auto|bool|break|case|catch|char|class|const|constexpr|continue|"
    r"decltype|default|delete|do|double|else|enum|explicit|export|extern|false|float|for|"
    r"friend|goto|if|inline|int|long|mutable|namespace|new|noexcept|nullptr|operator|"
    r"private|protected|public|register|return|short|signed|sizeof|static|struct|switch|"
    r"template|this|throw|true|try|typedef|typename|union|unsigned|using|virtual|void|"
    r"volatile|while|INFINITY|NAN|NULL|EOF|HUGE_VAL|KERNEL|EXPORT|M_\w+"
)


def members_of(data: Mapping[str, Any] | None) -> Members:
    """Return the data in types that kernels support; reject data of other types."""
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise UsageError(
            f"data={shown(data)}: is not a dictionary. Write data={{'times': array, 'machines': 5}}"
        )
    return {checked_name("data", name): _member(name, value) for name, value in data.items()}


def declaration(members: Members) -> str:
    """Return the declarations of the members of `struct Data`, one per line."""
    lines = []
    for name, value in members.items():
        kind = _C_TYPES[value.dtype.name]
        lines.append(
            f"    {kind} {name};" if isinstance(value, np.generic) else f"    const {kind}* {name};"
        )
    return "\n".join(lines)


def checked_name(argument: str, name: Any) -> str:
    """Return the name of a member of a struct; reject names that are invalid in CUDA."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise messages.impossible_name(argument=argument, name=name)
    if _RESERVED.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(f"{argument}: the name {name!r} is a reserved word. Choose another name")
    if name.startswith("box_"):
        raise UsageError(f"{argument}: the name {name!r} begins with box_, which is reserved")
    return name


def _member(name: str, value: Any) -> NDArray[Any] | np.generic:
    if isinstance(value, bool | np.bool_):
        return np.bool_(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise UsageError(f"data: {name}={value}: does not fit into 64 bits")
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise UsageError(
            f"data: {name}: has masked values, which kernels do not support. Fill them"
        )
    try:
        array = np.asarray(value)
    except Exception as error:  # any array-like object may raise any error
        raise UsageError(f"data: {name}: must be an array: {error}") from None
    if array.dtype.name not in _C_TYPES:
        raise UsageError(
            f"data: {name}: has the type {array.dtype}. Pass numbers, or an array of"
            f" {', '.join(_C_TYPES)}"
        )
    if array.ndim == 0:
        return np.int64(value) if isinstance(value, int) else array.dtype.type(value)
    if array.size == 0:
        raise UsageError(f"data: {name}: is empty. Leave it out, or pass at least one number")
    copied = np.array(array, order="C")
    copied.flags.writeable = False
    return copied
