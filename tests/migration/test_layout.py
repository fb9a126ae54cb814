"""The common layout of migrants of several colonies."""

from __future__ import annotations

import numpy as np
import pytest

from islands.backends.state import Field
from islands.errors import UsageError
from islands.migration import Layout, Migrant

GENES = {"genes": Field((8, 12), np.float32)}
RATE = Field((8,), np.float32, travels=True)
PAIR = Field((8, 2), np.float64, travels=True)


def test_one_colony_has_the_layout_of_its_own_fields() -> None:
    fields = {**GENES, "rate": RATE, "pair": PAIR}
    alone = Migrant(fields)
    assert (alone.genes, alone.bytes) == (slice(16, 64), 96)
    assert alone.offsets == {"rate": 64, "pair": 80}
    shared = Migrant(fields, "de", Layout([("de", fields)]))
    assert (shared.genes, shared.bytes, shared.offsets) == (alone.genes, 96, alone.offsets)


def test_fields_of_one_algorithm_share_a_place() -> None:
    wide = {"genes": Field((4, 40), np.float32), "rate": Field((4,), np.float32, travels=True)}
    colonies = [("de", {**GENES, "rate": RATE}), ("de", wide), ("own", {**GENES, "rate": PAIR})]
    layout = Layout(colonies)
    migrants = [Migrant(fields, owner, layout) for owner, fields in colonies]
    assert [each.genes for each in migrants] == [slice(16, 64), slice(16, 176), slice(16, 64)]
    assert [each.offsets for each in migrants] == [{"rate": 176}, {"rate": 176}, {"rate": 192}]
    assert {each.bytes for each in migrants} == {208}
    array = np.zeros(1)
    bits = [each.traits({"rate": array})[0].members["bit"] for each in migrants]
    assert bits == [0, 0, 1]


def test_more_fields_than_a_migrant_can_mark_are_refused() -> None:
    fields = {**GENES, **{f"f{i}": RATE for i in range(64)}}
    with pytest.raises(UsageError, match="64 fields travel with migrants, but at most 63 may"):
        Layout([("own", fields)])
