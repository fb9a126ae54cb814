"""Columns become Arrow arrays as by Arrow itself, but without the import of pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from islands.record.records import array_of

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


_RUN = """
import sys
class Refusing:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise SystemError("pandas is imported")
sys.meta_path.insert(0, Refusing())
from islands.cli import main
sys.exit(main())
"""


def test_a_run_with_migrations_does_not_import_pandas(tmp_path: Path) -> None:
    words = "run demo/tsp --backend cpu --islands 2 --population 16 --interval 1 --algorithm ga"
    words += f" --stop generations=3 --out {tmp_path}/run"
    command = [sys.executable, "-c", _RUN, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "run" / "migrations").glob("*.parquet"))
