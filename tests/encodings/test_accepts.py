"""Which encodings accept the genomes of others, and that encoding keeps each solution."""

from __future__ import annotations

import numpy as np
import pytest

from islands.encodings import ENCODINGS, Encoding
from islands.encodings.keys import DECODINGS, Keys

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
def test_a_solution_decoded_from_its_encoding_is_the_same(
    kind: str, name: str, assigns: bool
) -> None:
    drawn = np.random.default_rng(3)
    for decoding in DECODINGS if (kind, name) == ("order", "keys") else ("free",):
        encoding = made(name, kind, decoding, assigns=assigns)
        for _ in range(20):
            solution = drawn.permutation(SIZE) if kind == "order" else drawn.integers(0, 2, SIZE)
            genome = encoding.encode(solution)[np.newaxis]
            assert encoding.holds(genome)
            assert encoding.decode(genome)[0].tolist() == solution.tolist()
