"""Encodings: genomes of solutions, and which genomes others accept."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from islands.encodings import ENCODINGS, Encoding
from islands.encodings.direct import Bits, RawKeys, Vector
from islands.encodings.keys import DECODINGS, LEVELS, Keys
from islands.errors import UsageError

SIZE = 37


def made(name: str, kind: str, decoding: str = "free", *, assigns: bool = False) -> Encoding:
    return ENCODINGS[name][kind](SIZE, None, decoding, assigns=assigns)


@pytest.mark.parametrize("receiver", DECODINGS)
@pytest.mark.parametrize("sender", DECODINGS)
def test_only_the_free_decoding_accepts_keys_of_other_decodings(sender: str, receiver: str) -> None:
    keys = made("keys", "order", receiver)
    assert keys.accepts(made("keys", "order", sender)) == (receiver in ("free", sender))
    assert not keys.accepts(made("permutation", "order"))
    assert not made("permutation", "order").accepts(keys)


def test_encodings_of_other_scripts_are_not_accepted() -> None:
    class Digits(Keys):
        name = "digits"

    digits = Digits(SIZE, None, "free")
    assert not digits.accepts(made("keys", "order"))
    assert not made("keys", "order").accepts(digits)


@pytest.mark.parametrize("assigns", [False, True])
@pytest.mark.parametrize(("kind", "name"), [
    ("order", "keys"), ("order", "permutation"), ("subset", "keys"), ("subset", "bits"),
])  # fmt: skip
def test_decoding_inverts_encoding(kind: str, name: str, assigns: bool) -> None:
    decodings = DECODINGS if (kind, name) == ("order", "keys") else ("free",)
    for n, decoding in product((1, 2, 3, 31, 32, 33, 37, 128, 929, 70_000), decodings):
        encoding = ENCODINGS[name][kind](n, None, decoding, assigns=assigns)
        drawn = np.random.default_rng(n)
        solution = drawn.permutation(n) if kind == "order" else drawn.integers(0, 2, n)
        genome = encoding.encode(solution)
        assert (genome.shape, genome.dtype) == ((encoding.pitch,), encoding.gene)
        assert encoding.pitch % 4 == 0
        assert encoding.holds(genome[np.newaxis])
        decoded = encoding.decode(genome[np.newaxis])
        assert decoded.tolist() == [solution.tolist()]
        assert kind == "subset" or decoded.dtype == np.int64
        if name == "keys" and kind == "order":
            assert ((genome >= 0) & (genome < 1)).all()
            assert (genome * LEVELS == np.floor(genome * LEVELS)).all()
        assert name != "permutation" or genome[:n].tolist() == solution.tolist()


def test_item_i_is_bit_i_of_its_word_and_the_rest_is_zero() -> None:
    solution = np.zeros(70, np.int64)
    solution[[0, 31, 33, 69]] = 1
    genome = Bits(70, None).encode(solution)
    assert genome.tolist() == [1 | 1 << 31, 1 << 1, 1 << 5, 0]


LOW, HIGH = np.array([-5.0, 0.1, 2, -1e9, 3]), np.array([5.0, 0.3, 2, 1e9, 3.5])


def box() -> Vector:
    return Vector(5, None, low=LOW, high=HIGH)


def decoded(encoding: Vector | RawKeys, *genes: float) -> NDArray[np.float64]:
    row = np.array(genes, encoding.gene)
    vector: NDArray[np.float64] = encoding.decode(row[np.newaxis])[0]
    return vector


def test_the_unit_box_is_mapped_to_the_box_of_the_problem() -> None:
    encoding = box()
    assert encoding.pitch == 8
    assert decoded(encoding, 0, 0, 0, 0, 0).tolist() == LOW.tolist()
    assert decoded(encoding, 1, 1, 1, 1, 1).tolist() == HIGH.tolist()
    assert decoded(encoding, 0.5, 0.5, 0.5, 0.5, 0.5).tolist() == [0, 0.2, 2, 0, 3.25]


def test_rounding_does_not_lead_out_of_the_box() -> None:
    low, high = np.random.default_rng(2).uniform(0, 10, (2, 4000)) * [[-1], [1]]
    assert (low + (high - low) > high).any()
    vectors = Vector(4000, None, low=low, high=high).decode(np.ones((1, 4000)))
    assert (vectors <= high).all()


@pytest.mark.parametrize("encoding", [box(), RawKeys(5, None)])
@pytest.mark.parametrize("wrong", [-0.001, 1.001, np.nan, np.inf])
def test_genomes_outside_the_range_are_invalid(encoding: Vector | RawKeys, wrong: float) -> None:
    genomes = np.full((3, 8), 0.25, encoding.gene)
    genomes[:, 5:] = np.nan  # the padding has no meaning
    assert encoding.holds(genomes)
    genomes[1, 4] = wrong
    assert not encoding.holds(genomes)


def test_equal_keys_are_ordered_by_index() -> None:
    keys = np.array([[0.5, 0.25, 0.5, 0.25, 0.0]], np.float32)
    assert Keys(5, None).decode(keys).tolist() == [[4, 1, 3, 0, 2]]


def test_corrected_keys_differ_and_have_the_order_of_the_solution() -> None:
    encoding, solution = Keys(6, None, "free"), np.array([4, 1, 3, 0, 2, 5])
    found = encoding.corrected(np.full(6, 0.25, np.float32), solution)[solution]
    assert (np.diff(found) > 0).all()
    assert found[0] == np.float32(0.25)


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
