"""Sorting in a block, and keys decoded by sorting, against Python and NumPy."""

import numpy as np
import pytest
from numpy.typing import NDArray
from programs_for_tests import CHECKS, Launcher, random

from islands.encodings.keys import LEVELS, Keys

SIZES = [1, 2, 31, 32, 33, 257, 4097]


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("levels", [3, 2**40])
def test_sort_orders_pairs_by_value_then_index(
    launchers: list[Launcher], n: int, levels: int
) -> None:
    room = 1 << (n - 1).bit_length()
    value = np.zeros((3, room), np.int64)
    value[:, :n] = random(3, n, low=-levels, high=levels)
    index = np.tile(np.random.default_rng(1).permutation(room).astype(np.uint32), (3, 1))
    for launch in launchers:
        values, indices = launch.upload(value), launch.upload(index)
        launch("check_sort", np.int32(n), np.int32(room), values, indices, blocks=3)
        for row in range(3):
            pairs = sorted(zip(value[row, :n].tolist(), index[row, :n].tolist(), strict=True))
            got = zip(
                launch.download(values)[row, :n].tolist(),
                launch.download(indices)[row, :n].tolist(),
                strict=True,
            )
            assert list(got) == pairs


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 7, 31, 32, 33, 64, 500])
def test_sort_few_sorts_any_number(launchers: list[Launcher], n: int) -> None:
    value = random(20, n, low=0, high=2**32).astype(np.uint32)
    value[1], value[2] = np.sort(value[1]), np.sort(value[2])[::-1]
    for launch in launchers:
        array = launch.upload(value)
        launch("check_sort_few", np.int32(n), array, blocks=20)
        assert (launch.download(array) == np.sort(value, axis=1)).all()


def key_rows(n: int) -> NDArray[np.float32]:
    """Return rows of keys: random, of few levels, equal, sorted both ways, extreme, of n levels."""
    levels = [LEVELS, 5, 1]
    rows = [random(n, low=0, high=high, seed=high) for high in levels]
    rows += [np.arange(n) * LEVELS // n, (np.arange(n) * LEVELS // n)[::-1]]
    rows += [np.where(np.arange(n) % 2, 0, LEVELS - 1), random(n, low=0, high=min(n, LEVELS) or 1)]
    return np.array(rows, np.float32) / np.float32(LEVELS)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 65, 929, 25_001])
@pytest.mark.parametrize("memory", [None, 100_000])
def test_keys_are_sorted_as_numpy_sorts_them(
    launchers: list[Launcher], n: int, memory: int | None
) -> None:
    encoding = Keys(n, memory)
    rows = np.zeros((7, encoding.pitch), np.float32)
    rows[:, :n] = key_rows(n)
    for launch in launchers:
        out = launch.upload(np.zeros((7, n), np.int32))
        arguments = (np.int32(7), encoding.shape(), launch.upload(rows), out)
        room = launch.backend.required_room(CHECKS, encoding.shape())
        launch("check_order", *arguments, blocks=7, room=room)
        assert (launch.download(out) == np.argsort(rows[:, :n], axis=1, kind="stable")).all()
        assert (launch.download(out) == encoding.decode(rows)).all()
