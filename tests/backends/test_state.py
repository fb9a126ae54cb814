"""Arrays of the islands on the device, and arguments of kernels."""

import numpy as np
import pytest
from programs_for_tests import SCAN

from islands.backends import choose
from islands.backends.arguments import Arguments, Struct
from islands.backends.base import Backend, Block
from islands.backends.state import Field, IslandArrays
from islands.errors import CompileError, InputError

FIELDS = {"cost": Field((4,), np.int64, in_halves=True), "island": Field((2,), np.float32)}


def filled(backend: Backend) -> IslandArrays:
    state = IslandArrays(backend, 3, FIELDS)
    backend.upload(np.arange(24).reshape(2, 3, 4), state.arrays["cost"])
    backend.upload(np.arange(6, dtype=np.float32).reshape(3, 2), state.arrays["island"])
    return state


@pytest.mark.parametrize("generation", [6, 7])
def test_the_half_of_a_generation_is_saved_and_restored(backend: Backend, generation: int) -> None:
    saved = filled(backend).snapshot(generation)
    half = generation % 2
    assert saved["cost"].tolist() == np.arange(12 * half, 12 * half + 12).reshape(3, 4).tolist()
    assert saved["island"].tolist() == [[0, 1], [2, 3], [4, 5]]
    other = IslandArrays(backend, 3, FIELDS)
    other.require_fit(saved)
    other.restore(saved, generation)
    again = other.snapshot(generation)
    assert {name: rows.tolist() for name, rows in again.items()} == {
        name: rows.tolist() for name, rows in saved.items()
    }


@pytest.mark.parametrize("wholly", [True, False])
def test_a_generation_is_recalled_as_it_was_remembered(backend: Backend, wholly: bool) -> None:
    state = filled(backend)
    state.remember(0, wholly=True)  # of an earlier attempt, which must not come back
    backend.upload(np.full((3, 4), 50), state.part("cost", 0))
    backend.upload(np.full((3, 2), 60, np.float32), state.part("island", 0))
    state.remember(0, wholly=wholly)
    assert (backend.download(state.remembered("island")) == 60).all()
    backend.upload(np.full((3, 4), 51), state.part("cost", 0))
    backend.upload(np.full((3, 2), 61, np.float32), state.part("island", 0))
    other = backend.download(state.part("cost", 1))
    state.recall(0)
    assert (backend.download(state.part("island", 0)) == 60).all()
    # Otherwise the next generation leaves this half as it is, so that it is not copied.
    assert (backend.download(state.part("cost", 0)) == (50 if wholly else 51)).all()
    assert (backend.download(state.part("cost", 1)) == other).all()


def test_only_kept_fields_are_saved_and_restored(backend: Backend) -> None:
    others = {
        "matrix": Field((2,), np.int32, kind="derived"),
        "lists": Field((2,), np.int32, in_halves=True, kind="scratch"),
    }
    state = IslandArrays(backend, 3, {**FIELDS, **others})
    for name in state.arrays:
        state.fill(name, 7)
    saved = state.snapshot(1)
    assert set(saved) == set(FIELDS)
    state.require_fit(saved)
    state.restore({name: rows + 1 for name, rows in saved.items()}, 1)
    assert (state.part("cost", 1) == 8).all()
    for name in others:
        assert (backend.download(state.arrays[name]) == 7).all()
    with pytest.raises(InputError, match="the saved arrays are cost, island, matrix, but"):
        state.require_fit({**saved, "matrix": np.full((3, 2), 7, np.int32)})


def test_a_launch_with_wrong_arguments_is_rejected() -> None:
    backend = choose("cpu")
    program = backend.compile(SCAN, Block())
    value = backend.zeros((1,), np.uint32)
    with pytest.raises(CompileError, match="scan takes i4 P8 , but was given i8 P8 "):
        backend.call(program, "scan", np.int64(1), value, blocks=1)


def test_a_struct_has_the_layout_of_c() -> None:
    inner = Struct(a=np.int32(1), b=np.int64(2))
    packed = Arguments([Struct(x=np.int32(7), inner=inner, y=np.uint8(3))], lambda array: 0)
    assert packed.signature == "S32 "
