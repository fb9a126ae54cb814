"""Random numbers of kernels/core/draw.cuh against published and computed values."""

import numpy as np
import pytest
from programs_for_tests import Launcher, random

# Random123's published results: counter, key, result of philox4x32-10 and of philox4x32-7.
PHILOX = [
    (
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
        "5f6fb709 0d893f64 4f121f81 4f730a48",
    ),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
        "5207ddc2 45165e59 4d8ee751 8c52f662",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
        "4dfccaba 190a87f0 c47362ba b6b5242a",
    ),
]


def words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "result", "short"), PHILOX)
def test_philox_gives_the_published_results(
    launchers: list[Launcher], counter: str, key: str, result: str, short: str
) -> None:
    low, high = words(key)
    for launch in launchers:
        counters = launch.upload(np.array(words(counter), np.uint32))
        for kernel, expected in (("check_philox", result), ("check_short_philox", short)):
            out = launch.upload(np.zeros(4, np.uint32))
            launch(kernel, np.int32(1), counters, np.uint64(low | high << 32), out)
            assert launch.download(out).tolist() == words(expected)


@pytest.mark.parametrize(
    ("generation", "key"),
    [
        (9, 0x123456789ABCDEF0),
        (2**32 - 1, 0x123456789ABCDEF0),
        (2**32 + 9, 0xB06BD0321A075B05),
        (2**63 - 1, 0x33A21AC99B7262DB),
    ],
)
def test_words_are_philox_of_seed_and_place(
    launchers: list[Launcher], generation: int, key: int
) -> None:
    """The key is the seed up to generation 2^32, and changes every 2^32 generations."""
    seed, stream, island, individual = 0x123456789ABCDEF0, 3, 70_000, 11
    for launch in launchers:
        counters = np.array(
            [[i, individual, generation % 2**32, stream << 24 | island] for i in range(50)],
            np.uint32,
        )
        expected, out = (launch.upload(np.zeros((50, 4), np.uint32)) for _ in range(2))
        launch("check_philox", np.int32(50), launch.upload(counters), np.uint64(key), expected)
        place = (np.int32(island), np.int64(generation), np.int32(individual))
        launch("check_words", np.int32(50), np.uint32(stream), np.uint64(seed), *place, out)
        assert (launch.download(out) == launch.download(expected)).all()
        assert len(np.unique(launch.download(out))) == 200


def test_below_is_the_upper_half_of_the_product(launchers: list[Launcher]) -> None:
    word = random(1000, low=0, high=2**32).astype(np.uint32)
    bound = random(1000, low=1, high=2**32, seed=6).astype(np.uint32)
    for launch in launchers:
        out = launch.upload(np.zeros(1000, np.uint32))
        launch("check_below", np.int32(1000), launch.upload(word), launch.upload(bound), out)
        expected = [int(w) * int(b) >> 32 for w, b in zip(word, bound, strict=True)]
        assert launch.download(out).tolist() == expected
