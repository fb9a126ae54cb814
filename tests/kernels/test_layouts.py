"""The compiler rejects structs of Python that differ from those of the kernels."""

from typing import Any

import numpy as np
import pytest
from programs_for_tests import require_compiles
from recorded_launches import CASES, recorded

from islands.backends import choose
from islands.backends.arguments import Null, Struct, layout_of
from islands.backends.base import Block
from islands.backends.source import Header, Source
from islands.errors import CompileError

TEXT = """
#include "core/core.cuh"
namespace own {
struct Pair { float x; int32_t y; };
struct Plan {
    int32_t count;
    Pair pair;
    const double* length;
    volatile int64_t* best;
    char* raw;
    Pair* pairs;
    uint32_t bias[2];
    uint16_t small;
    uint8_t last;  // where a shorter struct is padded
};
struct Data { const int32_t* a; double* b; };
}
KERNEL(nothing, (own::Plan plan, int32_t* out)) { if (threadIdx.x == 0) out[0] = plan.count; }
"""
PAIR = {"x": np.float32(0), "y": np.int32(0)}
PLAN: dict[str, Any] = {
    "count": np.int32(0), "pair": Struct(**PAIR), "length": np.zeros(1), "best": Null(np.int64),
    "raw": np.zeros(1), "pairs": np.zeros(1, np.uint8), "bias[0]": np.uint32(0),
    "bias[1]": np.uint32(0), "small": np.uint16(0), "last": np.uint8(0),
}  # fmt: skip
DATA: dict[str, Any] = {"0": np.zeros(1, np.int32), "1": np.zeros(1)}


def source(plan: dict[str, Any], data: dict[str, Any]) -> Source:
    structs = {"own::Plan": Struct(**plan), "own::Data": Struct(**data)}
    return Source("own.cuh", {"OWN": Header("own.cuh", TEXT)}, structs)


def without(members: dict[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in members.items() if each != name}


def turned(members: dict[str, Any]) -> dict[str, Any]:
    return {name: members[name] for name in reversed(members)}


LENGTH = "own::Plan::length: Python passes an array of "
WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a member more": ({**PLAN, "more": np.int32(0)}, DATA, "'?more'?"),
    "a member less": (without(PLAN, "raw"), DATA, "own::Plan::pairs: .* byte 32"),
    "a member less at the end": (without(PLAN, "last"), DATA, "own::Plan, as Python passes it"),
    "another order": (turned(PLAN), DATA, "own::Plan::last: Python passes uint8 at byte 0"),
    "another name": ({**without(PLAN, "last"), "tiny": np.uint8(0)}, DATA, "tiny"),
    "another size": ({**PLAN, "count": np.int64(0)}, DATA, "own::Plan::count: .* int64"),
    "another kind": ({**PLAN, "count": np.float32(0)}, DATA, "own::Plan::count: .* float32"),
    "an array instead": ({**PLAN, "pair": np.zeros(1)}, DATA, "own::Plan::pair: .* an array"),
    "another element": ({**PLAN, "length": np.zeros(1, np.float32)}, DATA, f"{LENGTH}float32"),
    "another kind of element": ({**PLAN, "length": np.zeros(1, np.int64)}, DATA, f"{LENGTH}int64"),
    "another struct inside": (
        {**PLAN, "pair": Struct(**turned(PAIR))}, DATA, "own::Plan::pair::y: .* int32 at byte 0",
    ),
    "fewer entries": (without(PLAN, "bias[1]"), DATA, "own::Plan::small: .* byte 52"),
    "swapped places": (PLAN, dict(zip(DATA, [*DATA.values()][::-1], strict=True)),
                       "own::Data: Python passes an array of float64 as member 1"),
    "fewer places": (PLAN, without(DATA, "1"), "own::Data: Python passes 8 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_the_compiler_rejects_a_difference_and_names_the_member(what: str) -> None:
    plan, data, words = WRONG[what]
    with pytest.raises(CompileError, match=f"rejected a kernel: .*{words}"):
        choose("cpu", 1).compile(source(plan, data), Block())


@pytest.mark.gpu
@pytest.mark.parametrize("what", WRONG)
def test_the_compiler_of_gpus_does_so_too(what: str) -> None:
    plan, data, words = WRONG[what]
    require_compiles(source(PLAN, DATA))
    with pytest.raises(CompileError, match=f"NVRTC rejected a kernel: .*{words}"):
        require_compiles(source(plan, data))


@pytest.mark.parametrize("case", CASES)
def test_a_program_states_each_struct_that_its_kernels_receive(case: str) -> None:
    for launch in recorded(case).launches:
        structs = [*launch.source.structs.values()]
        inner = [each for struct in structs for each in struct.members.values()]
        structs += [each for each in inner if isinstance(each, Struct)]
        stated = [layout_of(each) for each in structs]
        given = [each for each in launch.arguments if isinstance(each, Struct)]
        assert given
        assert all(layout_of(each) in stated for each in given), launch.kernel
