from __future__ import annotations

import pyarrow as pa
import pytest

from islands.record.parquet import RowsChecksum, checksum

TABLE = pa.table(
    {
        "island": pa.array([0, 1, 0, 1], pa.int32()),
        "best": pa.array([5, None, 3, 2**62], pa.int64()),
        "mean": pa.array([0.5, 1.5, 2.5, float("nan")]),
        "accepted": pa.array([True, False, None, True]),
        "word": pa.array(["ring", "", None, "größer"]),
    }
)


def test_the_checksum_does_not_depend_on_batch_sizes() -> None:
    whole = checksum(TABLE)
    for cut in range(1, 4):
        rows = RowsChecksum(TABLE.schema)
        for part in (TABLE.slice(0, cut), TABLE.slice(cut)):
            for batch in part.to_batches():
                rows.add(batch)
        assert rows.hexdigest() == whole
    twice = pa.concat_tables([TABLE, TABLE])
    assert checksum(twice.slice(4)) == whole != checksum(twice)


def test_the_checksum_of_values_in_files_stays_the_same() -> None:
    known = "7a00373236515d424b4e7560f2191a4b4d0f5f7dc246db28d2745b72b735c2eb"
    assert checksum(TABLE.slice(1)) == known


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("island", [1, 0, 0, 1]),
        ("best", [5, 0, 3, 2**62]),
        ("best", [5, None, 3, 2**62 + 1]),
        ("mean", [0.5, 1.5, -2.5, float("nan")]),
        ("accepted", [True, False, False, True]),
        ("word", ["rin", "g", None, "größer"]),
        ("word", ["ring", "", None, "großer"]),
    ],
)
def test_other_values_give_another_checksum(column: str, values: list[object]) -> None:
    place = TABLE.schema.get_field_index(column)
    field = TABLE.schema.field(column)
    other = TABLE.set_column(place, field, pa.array(values, field.type))
    assert checksum(other) != checksum(TABLE)


def test_names_types_and_metadata_change_the_checksum() -> None:
    renamed = TABLE.rename_columns(["islands", *TABLE.column_names[1:]])
    wider = TABLE.set_column(0, "island", TABLE.column(0).cast(pa.int64()))
    found = {checksum(TABLE), checksum(renamed), checksum(wider)}
    said = [{b"a": b"bc"}, {b"ab": b"c"}, {b"a": b"bd"}]
    assert len(found | {checksum(TABLE, each) for each in said}) == 6
