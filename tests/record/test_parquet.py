"""Parquet files and the checksum of their rows, and columns of Arrow without pandas."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import ran
from numpy.typing import NDArray

from islands.errors import InputError
from islands.record.parquet import RowsChecksum, checksum, read_parquet, write_parquet
from islands.record.records import array_of

TABLE = pa.table({"best": pa.array([5, None, 3]), "transport": ["ring", "", "a"]})
SAID = {b"islands.seed": b"7", b"islands.reason": b"100 generations done"}


def written(path: Path) -> Path:
    write_parquet(path, [TABLE.slice(0, 1), TABLE.slice(1)], TABLE.schema.with_metadata(SAID))
    return path


def test_a_table_is_read_unchanged(tmp_path: Path) -> None:
    found = read_parquet(written(tmp_path / "a.parquet"), [*TABLE.schema])
    assert found.schema.metadata == SAID
    assert found.to_pylist() == TABLE.to_pylist()


@pytest.mark.slow
def test_every_flipped_bit_is_detected_or_harmless(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet")
    content = bytearray(path.read_bytes())
    noticed = 0
    for place in range(len(content)):
        content[place] ^= 1 << place % 8
        path.write_bytes(content)
        try:
            found = read_parquet(path, [*TABLE.schema])
        except InputError:
            noticed += 1
        else:
            assert found.to_pylist() == TABLE.to_pylist()
            assert found.schema.metadata == SAID
        content[place] ^= 1 << place % 8
    assert noticed > len(content) // 2


@pytest.mark.parametrize("content", [b"", b"PAR1PAR1PAR1", b"\0" * 1000])
def test_other_files_are_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.parquet"):
        read_parquet(path, [*TABLE.schema])


@pytest.mark.parametrize(("length", "is_read"), [(32, True), (33, False)])
def test_texts_that_every_row_may_have_are_short(
    tmp_path: Path, length: int, is_read: bool
) -> None:
    path, table = tmp_path / "a.parquet", pa.table({"word": ["w" * length] * 3})
    write_parquet(path, [table], table.schema)
    if is_read:
        assert read_parquet(path, [*table.schema]).equals(table)
    else:
        with pytest.raises(InputError):
            read_parquet(path, [*table.schema])


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_reading_and_writing_leaves_no_arrow_threads(tmp_path: Path) -> None:
    """A running thread at the end of a process occasionally ends it with `abort`."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "import pyarrow.parquet\n"
        "before = set(os.listdir('/proc/self/task'))\n"
        "from islands.record.parquet import read_parquet, write_parquet\n"
        "path = Path(sys.argv[1])\n"
        "table = read_parquet(path, [*pyarrow.parquet.read_schema(path)])\n"
        "write_parquet(Path(sys.argv[1] + '.2'), [table], table.schema)\n"
        "print(len(set(os.listdir('/proc/self/task')) - before))\n"
    )
    done = ran(sys.executable, "-c", code, written(tmp_path / "a.parquet"), check=True)
    assert done.stdout == "0\n"


def bombs() -> dict[str, tuple[pa.Table, dict[str, Any]]]:
    """Return tables and options of PyArrow whose files are small, but take much memory."""
    word = "w" * (24 << 20)
    long = pa.table({"word": [word, "a"]})
    return {
        "a word": (long, {"compression": "zstd", "dictionary_pagesize_limit": 1 << 30}),
        "a word without a dictionary": (long, {"compression": "zstd", "use_dictionary": False}),
        "words made of the ones before": (
            pa.table({"word": [word[: 1 << 13]] * 4000}),
            {"use_dictionary": False, "column_encoding": {"word": "DELTA_BYTE_ARRAY"}},
        ),
        "words of a megabyte": (pa.table({"word": [word[: 1 << 20]] * 25}), {}),
        "rows": (pa.table({"best": np.zeros((1 << 22) + 1, np.int64)}), {}),
        "a column of no record": (pa.table({"best": [1], "other": [2]}), {}),
    }


def liars() -> dict[str, bytes]:
    """Return files whose footer states fewer bytes, or rows, than they contain."""
    words = pa.table({"word": ["w" * (1 << 20)] * 15})
    with_words = stored(words, use_dictionary=False)
    size = pq.read_metadata(pa.BufferReader(with_words)).row_group(0).total_byte_size
    rows = pa.table({"best": np.zeros(1 << 20, np.int64)})
    with_rows = stored(rows)
    assert pq.read_metadata(pa.BufferReader(with_rows)).num_row_groups == 1
    return {
        "bytes": restated(with_words, size, 99),
        "rows": restated(with_rows, len(rows), 99, count=1),  # not those of its groups
    }


def stored(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    return bytes(sink.getvalue().to_pybytes())


def restated(content: bytes, number: int, other: int, count: int = -1) -> bytes:
    """Return the file with another number in its footer, in as many bytes: the first `count`."""
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    pages, footer = content[:start], content[start:]
    size = -(-(2 * number).bit_length() // 7)
    old, new = varint(2 * number, size), varint(2 * other, size)
    assert old in footer
    return pages + footer.replace(old, new, count)


def varint(number: int, size: int) -> bytes:
    """Return a number as `size` bytes, as Thrift writes it: seven bits in each."""
    parts = [number >> 7 * place & 127 for place in range(size)]
    return bytes([*(128 | part for part in parts[:-1]), parts[-1]])


def rejected_in_kilobytes(folder: Path) -> tuple[str, int]:
    """Read all files of a folder; return the errors, and the memory that this took."""
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "import pyarrow.parquet\n"
        "from islands.errors import InputError\n"
        "from islands.record.parquet import read_parquet\n"
        "fields = [pyarrow.field('best', 'int64'), pyarrow.field('word', 'string')]\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for path in sorted(Path(sys.argv[1]).iterdir()):\n"
        "    assert path.stat().st_size < 1 << 20\n"
        "    try:\n"
        "        read_parquet(path, fields)\n"
        "        print(path, 'is read')\n"
        "    except InputError as error:\n"
        "        print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    *errors, size = ran(sys.executable, "-c", code, folder, check=True).stdout.splitlines()
    return "\n".join(errors), int(size)


@pytest.mark.slow
def test_files_that_no_run_writes_are_rejected_in_little_memory(tmp_path: Path) -> None:
    for name, (table, options) in bombs().items():
        (tmp_path / f"{name}.parquet").write_bytes(stored(table, **options))
    errors, kilobytes = rejected_in_kilobytes(tmp_path)
    assert "is read" not in errors
    assert "words of a megabyte.parquet: is damaged or cut off: 25 rows have 1048629" in errors
    assert "rows.parquet: has 4194305 rows, but this command reads at most 4194304" in errors
    assert kilobytes < 12 << 10


@pytest.mark.slow
def test_a_footer_that_lies_gains_no_more_than_its_compression(tmp_path: Path) -> None:
    for name, content in liars().items():
        (tmp_path / f"{name}.parquet").write_bytes(content)
    errors, kilobytes = rejected_in_kilobytes(tmp_path)
    assert "bytes.parquet: is damaged or cut off: a text has more than 32 bytes" in errors
    assert "rows.parquet: is damaged or cut off: it has more rows than its footer states" in errors
    assert kilobytes < 32 << 10


ROWS = pa.table(
    {
        "island": pa.array([0, 1, 0, 1], pa.int32()),
        "best": pa.array([5, None, 3, 2**62], pa.int64()),
        "mean": pa.array([0.5, 1.5, 2.5, float("nan")]),
        "accepted": pa.array([True, False, None, True]),
        "word": pa.array(["ring", "", None, "größer"]),
    }
)


def test_the_checksum_does_not_depend_on_batch_sizes() -> None:
    whole = checksum(ROWS)
    for cut in range(1, 4):
        rows = RowsChecksum(ROWS.schema)
        for part in (ROWS.slice(0, cut), ROWS.slice(cut)):
            for batch in part.to_batches():
                rows.add(batch)
        assert rows.hexdigest() == whole
    twice = pa.concat_tables([ROWS, ROWS])
    assert checksum(twice.slice(4)) == whole != checksum(twice)


def test_the_checksum_of_values_in_files_stays_the_same() -> None:
    known = "7a00373236515d424b4e7560f2191a4b4d0f5f7dc246db28d2745b72b735c2eb"
    assert checksum(ROWS.slice(1)) == known


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("island", [1, 0, 0, 1]),
        ("best", [5, 0, 3, 2**62]),
        ("mean", [0.5, 1.5, -2.5, float("nan")]),
        ("accepted", [True, False, False, True]),
        ("word", ["rin", "g", None, "größer"]),
    ],
)
def test_other_values_give_another_checksum(column: str, values: list[object]) -> None:
    place = ROWS.schema.get_field_index(column)
    field = ROWS.schema.field(column)
    other = ROWS.set_column(place, field, pa.array(values, field.type))
    assert checksum(other) != checksum(ROWS)


def test_names_types_and_metadata_change_the_checksum() -> None:
    renamed = ROWS.rename_columns(["islands", *ROWS.column_names[1:]])
    wider = ROWS.set_column(0, "island", ROWS.column(0).cast(pa.int64()))
    found = {checksum(ROWS), checksum(renamed), checksum(wider)}
    said = [{b"a": b"bc"}, {b"ab": b"c"}, {b"a": b"bd"}]
    assert len(found | {checksum(ROWS, each) for each in said}) == 6


_NUMBERS = np.array([5, -(2**40), 7, 0, 9, 1, 2, 3, 4, 6])
_MASK = np.array([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], bool)
_WORDS = np.array(["device", "", "staged", "device", "na\u00efve"])


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (_NUMBERS, "int64"),
        (_NUMBERS[::2], "int64"),
        (_NUMBERS.astype(np.int32), "int64"),
        (_NUMBERS / 3, "double"),
        (_NUMBERS > 3, "bool"),
        (np.ma.MaskedArray(_NUMBERS, _MASK), "int64"),
        (np.ma.MaskedArray(_NUMBERS / 3, _MASK), "double"),
        (_WORDS, "string"),
        (np.zeros(0), "double"),
    ],
)
def test_columns_are_those_of_arrow(column: NDArray[Any], kind: str) -> None:
    wanted = pa.array(column, pa.type_for_alias(kind))
    found = array_of(column, wanted.type)
    found.validate(full=True)
    assert found.equals(wanted)
    assert found.null_count == wanted.null_count


def test_numbers_with_decimals_do_not_become_integers() -> None:
    with pytest.raises(TypeError):
        array_of(np.array([1.5]), pa.int64())
