"""Arguments of kernels: checked against the declaration, structs laid out as in C."""

from __future__ import annotations

import numpy as np
import pytest
from programs_for_tests import SCAN

from islands.backends import choose
from islands.backends.arguments import Arguments, Struct
from islands.backends.base import Block
from islands.errors import CompileError


def test_a_launch_with_wrong_arguments_is_refused() -> None:
    backend = choose("cpu")
    program = backend.compile(SCAN, Block())
    value = backend.zeros((1,), np.uint32)
    with pytest.raises(CompileError, match="scan takes i4 P8 , but was given i8 P8 "):
        backend.call(program, "scan", np.int64(1), value, blocks=1)


def test_a_struct_has_the_layout_of_c() -> None:
    inner = Struct(a=np.int32(1), b=np.int64(2))
    packed = Arguments([Struct(x=np.int32(7), inner=inner, y=np.uint8(3))], lambda array: 0)
    assert packed.signature == "S32 "
