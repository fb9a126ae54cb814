"""Random keys: encoding and decoding orders, and the largest size."""

from __future__ import annotations

import numpy as np
import pytest

from islands.encodings.keys import LEVELS, Keys
from islands.errors import UsageError


@pytest.mark.parametrize("n", [1, 2, 3, 5, 929, 70_000])
def test_decoding_inverts_encoding(n: int) -> None:
    encoding = Keys(n, None)
    solution = np.random.default_rng(n).permutation(n).astype(np.int64)
    keys = encoding.encode(solution)
    assert keys.shape == (encoding.pitch,)
    assert encoding.pitch % 4 == 0
    assert ((keys >= 0) & (keys < 1)).all()
    assert (keys * LEVELS == np.floor(keys * LEVELS)).all()
    assert encoding.decode(keys[np.newaxis]).tolist() == [solution.tolist()]


def test_equal_keys_are_ordered_by_index() -> None:
    keys = np.array([[0.5, 0.25, 0.5, 0.25, 0.0]], np.float32)
    assert Keys(5, None).decode(keys).tolist() == [[4, 1, 3, 0, 2]]


@pytest.mark.parametrize("assigns", [False, True])
def test_keys_of_any_value_are_ordered_as_floats(assigns: bool) -> None:
    drawn = np.random.default_rng(5)
    ends = np.array([0.0, -0.0, 0.0, 1e-45, -1e-45, np.inf, -np.inf, 3e38, -3e38, 0.5, -0.5, 0.5])
    keys = drawn.permuted(np.tile(ends.astype(np.float32), (40, 3)), axis=1)
    keys = np.concatenate([keys, drawn.normal(size=keys.shape).astype(np.float32)])
    expected = np.argsort(keys, axis=1, kind="stable")
    if assigns:
        expected = np.argsort(expected, axis=1)
    decoded = Keys(keys.shape[1], None, "free", assigns=assigns).decode(keys)
    assert decoded.dtype == np.int64
    assert decoded.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [1, 2, 100, 65_536, 65_537, 1 << 20, 1 << 23])
@pytest.mark.parametrize("memory", [None, 100_000, 231_424])
def test_index_and_key_fit_in_a_word(n: int, memory: int | None) -> None:
    if memory == 100_000 and n > 1 << 22:
        with pytest.raises(UsageError, match="support at most 4194304"):
            Keys(n, memory)
        return
    encoding = Keys(n, memory)
    assert 1 << encoding.index_bits >= n
    # Two keys of one bucket differ above the bits of the index: 2^index_bits <= 2^8 x buckets.
    assert 1 << encoding.index_bits <= encoding.buckets << 8
    assert memory is None or 4 * encoding.buckets <= memory
