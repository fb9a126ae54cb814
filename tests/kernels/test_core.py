"""The functions of kernels/core against NumPy, for several numbers of threads and of blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from programs_for_tests import CHECKS

from islands.backends import choose
from islands.backends.arguments import Struct
from islands.backends.base import Backend, Block, Room
from islands.encodings.keys import LEVELS, Keys
from islands.errors import CompileError

SIZES = [1, 2, 3, 31, 32, 33, 100, 255, 256, 257, 1000, 4097]
Launch = Callable[..., None]


@pytest.fixture
def launches(backend: Backend) -> list[Launch]:
    """Return launches for each cut of blocks: threads a block on a GPU, threads of the CPU."""
    if backend.name == "cuda":
        return [launcher(backend, Block(threads)) for threads in (32, 96, 128, 1024)]
    return [launcher(choose("cpu", threads), Block()) for threads in (1, 2, 3)]


def launcher(backend: Backend, block: Block) -> Launch:
    program = backend.compile(CHECKS, block)

    def launch(kernel: str, *arguments: Any, blocks: int = 1, room: Room | None = None) -> None:
        backend.run([backend.call(program, kernel, *arguments, blocks=blocks, room=room)])
        backend.synchronise()

    launch.backend = backend  # type: ignore[attr-defined]
    launch.threads = block.threads  # type: ignore[attr-defined]
    return launch


def random(*shape: int, low: int = -(2**40), high: int = 2**40, seed: int = 5) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(low, high, shape)


def on(launch: Launch, values: NDArray[Any]) -> Any:
    return launch.backend.upload(values)  # type: ignore[attr-defined]


def off(launch: Launch, array: Any) -> NDArray[Any]:
    return launch.backend.download(array)  # type: ignore[attr-defined, no-any-return]


# Random123's published answers for philox4x32-10: counter, key, result.
PHILOX = [
    (
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    ),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "result"), PHILOX)
def test_philox_gives_the_known_answers(launches, counter: str, key: str, result: str) -> None:
    low, high = words(key)
    for launch in launches:
        out = on(launch, np.zeros(4, np.uint32))
        counters = on(launch, np.array(words(counter), np.uint32))
        launch("check_philox", np.int32(1), counters, np.uint64(low | high << 32), out)
        assert off(launch, out).tolist() == words(result)


@pytest.mark.parametrize(
    ("generation", "key"),
    [
        (9, 0x123456789ABCDEF0),
        (2**32 - 1, 0x123456789ABCDEF0),
        (2**32 + 9, 0xB06BD0321A075B05),
        (2**63 - 1, 0x33A21AC99B7262DB),
    ],
)
def test_words_are_philox_of_what_they_are_for(launches, generation: int, key: int) -> None:
    """The key is the seed, and beyond 2^32 generations another one for each 2^32."""
    seed, stream, island, individual = 0x123456789ABCDEF0, 3, 70_000, 11
    for launch in launches:
        counters = np.array(
            [[i, individual, generation % 2**32, stream << 24 | island] for i in range(50)],
            np.uint32,
        )
        expected, out = (on(launch, np.zeros((50, 4), np.uint32)) for _ in range(2))
        launch("check_philox", np.int32(50), on(launch, counters), np.uint64(key), expected)
        place = (np.int32(island), np.int64(generation), np.int32(individual))
        launch("check_words", np.int32(50), np.uint32(stream), np.uint64(seed), *place, out)
        assert (off(launch, out) == off(launch, expected)).all()
        assert len(np.unique(off(launch, out))) == 200


def test_uniform_is_a_24_bit_fraction(launches) -> None:
    word = np.array([0, 255, 256, 2**31, 2**32 - 1, 123456789], np.uint32)
    for launch in launches:
        out = on(launch, np.ones(len(word), np.float32))
        launch("check_uniform", np.int32(len(word)), on(launch, word), out)
        assert off(launch, out).tolist() == [(int(w) >> 8) / 2**24 for w in word]


def test_below_is_the_upper_half_of_the_product(launches) -> None:
    word = random(1000, low=0, high=2**32).astype(np.uint32)
    bound = random(1000, low=1, high=2**32, seed=6).astype(np.uint32)
    for launch in launches:
        out = on(launch, np.zeros(1000, np.uint32))
        launch("check_below", np.int32(1000), on(launch, word), on(launch, bound), out)
        expected = [int(w) * int(b) >> 32 for w, b in zip(word, bound, strict=True)]
        assert off(launch, out).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12, 13, 33, 34, 100, 257])
def test_each_pair_is_visited_once(launches, n: int) -> None:
    for launch in launches:
        visits = on(launch, np.zeros((n, n), np.int32))
        launch("check_pairs", np.int32(n), visits, blocks=1)
        assert (off(launch, visits) == np.triu(np.ones((n, n), np.int32), 1)).all()


@pytest.mark.parametrize("n", SIZES)
def test_sum_reaches_every_thread(launches, n: int) -> None:
    value = random(7, n)
    for launch in launches:
        out = on(launch, np.zeros((7, launch.threads, 2), np.int64))
        launch("check_sum", np.int32(n), on(launch, value), out, blocks=7)
        total = value.sum(axis=1)
        assert (off(launch, out)[:, :, 0] == total[:, None]).all()
        assert (off(launch, out)[:, :, 1] == 2 * total[:, None]).all()


@pytest.mark.parametrize("n", SIZES)
def test_ordered_sum_has_one_order(launches, n: int) -> None:
    value = np.random.default_rng(3).normal(size=(5, n)) * 10.0 ** random(5, n, low=-8, high=8)
    lanes = np.zeros((5, 256))
    for i in range(n):
        lanes[:, i % 256] += value[:, i]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    for launch in launches:
        out = on(launch, np.zeros(5))
        launch(
            "check_ordered_sum", np.int32(n), on(launch, value), out, blocks=5, room=Room(256 * 8)
        )
        assert off(launch, out).tolist() == lanes[:, 0].tolist()
        assert off(launch, out) == pytest.approx(
            [math.fsum(row) for row in value], rel=1e-6, abs=1e-3
        )


@pytest.mark.parametrize("n", SIZES)
def test_argmin_takes_the_first_of_equals(launches, n: int) -> None:
    value = random(9, n, low=0, high=4)
    for launch in launches:
        out = on(launch, np.zeros((9, 2), np.int64))
        launch("check_argmin", np.int32(n), on(launch, value), out, blocks=9)
        assert off(launch, out)[:, 0].tolist() == value.min(axis=1).tolist()
        assert off(launch, out)[:, 1].tolist() == value.argmin(axis=1).tolist()


@pytest.mark.parametrize("n", SIZES)
def test_scan_sums_what_stands_before(launches, n: int) -> None:
    value = random(4, n, low=0, high=1000).astype(np.uint32)
    for launch in launches:
        array = on(launch, value)
        launch("check_scan", np.int32(n), array, blocks=4)
        assert (off(launch, array) == np.cumsum(value, axis=1) - value).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("levels", [3, 2**40])
def test_sort_orders_pairs_by_value_then_index(launches, n: int, levels: int) -> None:
    room = 1 << (n - 1).bit_length()
    value = np.zeros((3, room), np.int64)
    value[:, :n] = random(3, n, low=-levels, high=levels)
    index = np.tile(np.random.default_rng(1).permutation(room).astype(np.uint32), (3, 1))
    for launch in launches:
        values, indices = on(launch, value), on(launch, index)
        launch("check_sort", np.int32(n), np.int32(room), values, indices, blocks=3)
        for row in range(3):
            pairs = sorted(zip(value[row, :n].tolist(), index[row, :n].tolist(), strict=True))
            got = zip(
                off(launch, values)[row, :n].tolist(),
                off(launch, indices)[row, :n].tolist(),
                strict=True,
            )
            assert list(got) == pairs


@pytest.mark.parametrize("n", [1, 2, 3, 7, 31, 32, 33, 64, 500])
def test_sort_few_sorts_few_and_many(launches, n: int) -> None:
    value = random(20, n, low=0, high=2**32).astype(np.uint32)
    value[1], value[2] = np.sort(value[1]), np.sort(value[2])[::-1]
    for launch in launches:
        array = on(launch, value)
        launch("check_sort_few", np.int32(n), array, blocks=20)
        assert (off(launch, array) == np.sort(value, axis=1)).all()


def key_rows(n: int) -> NDArray[np.float32]:
    """Return rows of keys: random, few different, all equal, both ways sorted, at both ends."""
    levels = [LEVELS, 5, 1]
    rows = [random(n, low=0, high=high, seed=high) for high in levels]
    rows += [np.arange(n) * LEVELS // n, (np.arange(n) * LEVELS // n)[::-1]]
    rows += [np.where(np.arange(n) % 2, 0, LEVELS - 1), random(n, low=0, high=min(n, LEVELS) or 1)]
    return np.array(rows, np.float32) / np.float32(LEVELS)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 63, 64, 65, 929, 4097, 25_001])
@pytest.mark.parametrize("memory", [None, 100_000])
def test_keys_are_sorted_as_numpy_sorts_them(launches, n: int, memory: int | None) -> None:
    encoding = Keys(n, memory)
    rows = np.zeros((7, encoding.pitch), np.float32)
    rows[:, :n] = key_rows(n)
    for launch in launches:
        out = on(launch, np.zeros((7, n), np.int32))
        arguments = (np.int32(7), encoding.shape(), on(launch, rows), out)
        room = launch.backend.asked_room(CHECKS, encoding.shape())
        launch("check_order", *arguments, blocks=7, room=room)
        assert (off(launch, out) == np.argsort(rows[:, :n], axis=1, kind="stable")).all()
        assert (off(launch, out) == encoding.decode(rows)).all()


def test_a_launch_with_wrong_arguments_is_refused() -> None:
    backend = choose("cpu")
    program = backend.compile(CHECKS, Block())
    value = backend.zeros((1,), np.uint32)
    with pytest.raises(CompileError, match="check_scan takes i4 P8 , but was given i8 P8 "):
        backend.call(program, "check_scan", np.int64(1), value, blocks=1)


def test_a_struct_is_laid_out_as_in_c(backend: Backend) -> None:
    from islands.backends.arguments import Arguments

    inner = Struct(a=np.int32(1), b=np.int64(2))
    packed = Arguments([Struct(x=np.int32(7), inner=inner, y=np.uint8(3))], lambda array: 0)
    assert packed.signature == "S32 "
