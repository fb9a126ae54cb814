"""Each error, and each unusual but valid file, has a file in `data`."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from instance_texts import peak_below, tsplib_text
from synthetic import uniform_tsp

from islands.errors import InputError
from islands.instances.tsplib import FORMATS, read_tsp

DATA = Path(__file__).parent / "data"

_WRONG = [line.split("\t") for line in (DATA / "wrong.tsv").read_text().splitlines()]
"""Files in `data` that must be rejected, with the number of the line that the error reports."""
GOOD = sorted(path.name for path in DATA.glob("good_*") if path.name != "good_display_data.tsp")


@pytest.mark.parametrize(("name", "line"), _WRONG)
def test_a_malformed_file_is_rejected_in_one_line(name: str, line: str) -> None:
    path = DATA / (name if name.endswith(".gz") else f"{name}.tsp")
    with pytest.raises(InputError) as caught:
        read_tsp(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", GOOD)
def test_an_unusual_valid_file_is_read(name: str) -> None:
    file = read_tsp(DATA / name)
    assert (file.dimension, file.metric, file.matrix) == (4, "EUC_2D", None)
    assert file.coordinates.tolist() == [[0, 0], [0, 3], [4, 3], [4, 0]]


def test_edges_that_a_file_fixes_are_counted_from_0() -> None:
    assert read_tsp(DATA / "good_fixed_edges.tsp").fixed == ((0, 1),)


def test_display_data_are_not_coordinates() -> None:
    file = read_tsp(DATA / "good_display_data.tsp")
    assert file.coordinates is None
    assert file.matrix.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


@pytest.mark.parametrize(
    ("spelled", "metric"), [(str.lower, "EUC_2D"), (str.title, "CEIL_2D"), (str.swapcase, "GEO")]
)
def test_keywords_have_any_case(tmp_path: Path, spelled: Callable[[str], str], metric: str) -> None:
    original = uniform_tsp(5, seed=1, side=90)
    path = tmp_path / "spelled.tsp"
    path.write_text(spelled(tsplib_text(original).replace("EUC_2D", metric)))
    file = read_tsp(path)
    assert (file.dimension, file.metric) == (5, metric)
    np.testing.assert_array_equal(file.coordinates, original.coordinates)


def test_a_gigabyte_without_a_line_end_is_rejected_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "line.tsp"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    with peak_below(4 << 20), pytest.raises(InputError, match="a line of more than"):
        read_tsp(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filling", "section"),
    [
        (b"\n", ""),
        (b"COMMENT : again\n", ""),
        (b" ", "NODE_COORD_SECTION\n"),
        (b"0", "EDGE_WEIGHT_SECTION\n"),
        (b"1 ", "EDGE_WEIGHT_SECTION\n"),
    ],
)
def test_a_bomb_is_rejected_in_little_memory(tmp_path: Path, filling: bytes, section: str) -> None:
    head = (
        "TYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : UPPER_ROW\n"
    )
    path = tmp_path / "bomb.tsp.gz"
    path.write_bytes(gzip.compress((head + section).encode() + filling * (1 << 22), 1))
    with peak_below(8 << 20), pytest.raises(InputError):
        read_tsp(path)


def test_a_long_line_of_weights_is_read_across_its_parts(tmp_path: Path) -> None:
    n = 400
    generator = np.random.default_rng(1)
    matrix = np.triu(generator.integers(0, 2**31 - 1, (n, n), np.int32), 1)
    weights = " ".join(map(str, matrix[np.triu_indices(n, 1)].tolist()))
    path = tmp_path / "long.tsp"
    path.write_text(
        f"TYPE: TSP\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\n"
        f"EDGE_WEIGHT_SECTION\n{weights}"
    )
    np.testing.assert_array_equal(read_tsp(path).matrix, matrix + matrix.T)


@pytest.mark.slow
@pytest.mark.published
def test_every_published_file_is_read(published: Path) -> None:
    paths = sorted(published.glob("*/*.tsp"))
    assert len(paths) >= 199
    for path in paths:
        file = read_tsp(path)
        places, matrix = file.coordinates, file.matrix
        if file.metric == "EXPLICIT":
            assert matrix.shape == (file.dimension, file.dimension)
            assert (matrix == matrix.T).all()
        else:
            assert places.shape == (file.dimension, 2)


# Formats with a diagonal have 7, 8, 9 and 7 there; no tour uses them.
MATRIX = [[0, 1, 2, 4], [1, 0, 3, 5], [2, 3, 0, 6], [4, 5, 6, 0]]
WRITTEN = {
    "FULL_MATRIX": "7 1 2 4\n1 8 3 5\n2 3 9 6\n4 5 6 7",
    "UPPER_ROW": "1 2 4\n3 5\n6",
    "LOWER_ROW": "1\n2 3\n4 5 6",
    "UPPER_DIAG_ROW": "7 1 2 4\n8 3 5\n9 6\n7",
    "LOWER_DIAG_ROW": "7\n1 8\n2 3 9\n4 5 6 7",
    "UPPER_COL": "1\n2 3\n4 5 6",
    "LOWER_COL": "1 2 4\n3 5\n6",
    "UPPER_DIAG_COL": "7\n1 8\n2 3 9\n4 5 6 7",
    "LOWER_DIAG_COL": "7 1 2 4\n8 3 5\n9 6\n7",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("line_ends", "case"), [("kept", "upper"), ("none", "lower"), ("everywhere", "upper")]
)
def test_all_formats_give_one_matrix(tmp_path: Path, form: str, line_ends: str, case: str) -> None:
    weights = WRITTEN[form]
    if line_ends != "kept":
        weights = (" " if line_ends == "none" else "\n").join(weights.split())
    path = tmp_path / "four.tsp"
    text = (
        f"TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {form}\n"
        f"EDGE_WEIGHT_SECTION\n{weights}\nEOF\n"
    )
    path.write_text(text.lower() if case == "lower" else text)
    matrix = read_tsp(path).matrix
    assert matrix.tolist() == MATRIX
