"""Each error, and each unusual but valid file, has a file in `data`."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from instance_texts import tsplib_text

from islands.errors import InputError
from islands.instances.synthetic import uniform_tsp
from islands.instances.tsplib import FORMATS, read_tsp

DATA = Path(__file__).parent / "data"

WRONG = {
    "asymmetric.tsp": (9, "weight(2,3) = 3 but weight(3,2) = 4. Only symmetric"),
    "binary.tsp": (1, "a zero byte: this is not a text file"),
    "blank.tsp": (3, "the file is empty"),
    "coordinate_comma.tsp": (7, "coordinate '0,5' is not a number from -1e+11 to 1e+11"),
    "coordinate_inf.tsp": (8, "coordinate '-inf' is not a number"),
    "coordinate_letters.tsp": (7, "coordinate 'O' is not a number"),
    "coordinate_missing.tsp": (7, "'2 0' is not of the form 'id x y'"),
    "coordinate_nan.tsp": (7, "coordinate 'nan' is not a number"),
    "coordinate_overflow.tsp": (8, "coordinate '1e999' is not a number"),
    "coordinate_underscore.tsp": (7, "coordinate '1_0' is not a number"),
    "dimension_beyond_file.tsp": (3, "DIMENSION 9000000 needs at least"),
    "dimension_beyond_rows.tsp": (5, "DIMENSION 60 needs at least 360 bytes"),
    "dimension_empty.tsp": (3, "DIMENSION '': must be a whole number from 1 to 10000000"),
    "dimension_fraction.tsp": (3, "DIMENSION 4.5: must be a whole number"),
    "dimension_huge.tsp": (3, "DIMENSION 1000000000000: must be a whole number"),
    "dimension_missing.tsp": (4, "DIMENSION is missing. Add 'DIMENSION : ...'"),
    "dimension_negative.tsp": (3, "DIMENSION -4: must be a whole number"),
    "dimension_power.tsp": (3, "DIMENSION 1e12: must be a whole number"),
    "dimension_twice.tsp": (4, "DIMENSION is given twice"),
    "dimension_word.tsp": (3, "DIMENSION four: must be a whole number"),
    "dimension_zero.tsp": (3, "DIMENSION 0: must be a whole number"),
    "duplicate_node.tsp": (8, "city 2 is given twice"),
    "empty.tsp": (1, "the file is empty"),
    "explicit_function.tsp": (6, "unknown EDGE_WEIGHT_FORMAT 'FUNCTION'"),
    "fixed_edges.tsp": (5, "FIXED_EDGES_SECTION is not supported"),
    "gzip_checksum.tsp.gz": (1, "cannot be read further: CRC check failed"),
    "gzip_corrupt.tsp.gz": (1, "cannot be read further"),
    "gzip_truncated.tsp.gz": (1, "cannot be read further: Compressed file ended"),
    "matrix_beyond_file.tsp": (6, "DIMENSION 90 needs at least 16200 bytes"),
    "matrix_too_large.tsp.gz": (6, "DIMENSION 20001: explicit weights are read for at most 20000"),
    "missing_edge_weight_format.tsp": (5, "EDGE_WEIGHT_FORMAT is missing. Give one of FULL_MATRIX"),
    "missing_edge_weight_type.tsp": (6, "EDGE_WEIGHT_TYPE is missing"),
    "no_section.tsp": (5, "the file ends without the NODE_COORD_SECTION"),
    "node_fraction.tsp": (7, "city '2.5' is not one of 1 to 4"),
    "node_not_a_number.tsp": (7, "city 'two' is not one of 1 to 4"),
    "node_outside.tsp": (9, "city '5' is not one of 1 to 4"),
    "node_zero.tsp": (6, "city '0' is not one of 1 to 4"),
    "prose.tsp": (1, "'Once upon a time there was a salesman.' is neither"),
    "section_twice.tsp": (7, "NODE_COORD_SECTION is given twice"),
    "three_dimensions.tsp": (6, "'1 0 0 0' is not of the form 'id x y'"),
    "too_few_rows.tsp": (9, "the coordinates end after 3 of the 4 cities"),
    "too_few_weights.tsp": (10, "the weights end after 8 of the 9"),
    "too_many_rows.tsp": (10, "'5 1 1' is neither 'KEYWORD : value' nor a section. Remove it"),
    "too_many_weights_after.tsp": (10, "'7' is neither 'KEYWORD : value' nor a section. Remove it"),
    "too_many_weights_in_line.tsp": (9, "more weights than the 9"),
    "truncated_header.tsp": (3, "EDGE_WEIGHT_TYPE is missing"),
    "truncated_line.tsp": (9, "'4 4' is not of the form 'id x y'"),
    "truncated_rows.tsp": (8, "the coordinates end after 3 of the 4 cities"),
    "type_atsp.tsp": (2, "TYPE ATSP is not supported. Supported: TSP, whose"),
    "type_cvrp.tsp": (2, "TYPE CVRP is not supported. Supported: TSP"),
    "unknown_edge_weight_format.tsp": (6, "unknown EDGE_WEIGHT_FORMAT 'WEIGHT_LIST'"),
    "unknown_edge_weight_type.tsp": (4, "EDGE_WEIGHT_TYPE XRAY1 is not supported. Supported: EUC"),
    "unknown_keyword.tsp": (3, "unknown keyword 'DIMENSOIN'. Did you mean 'DIMENSION'?"),
    "weight_fraction.tsp": (7, "weight '1.5' is not a whole number from 0 to 2147483647"),
    "weight_letters.tsp": (7, "weight 'x' is not a whole number"),
    "weight_nan.tsp": (7, "weight 'nan' is not a whole number"),
    "weight_negative.tsp": (7, "weight '-1' is not a whole number"),
    "weight_overflow.tsp": (7, "weight '2147483648' is not a whole number"),
    "weights_without_explicit.tsp": (
        6,
        "EDGE_WEIGHT_SECTION without 'EDGE_WEIGHT_TYPE : EXPLICIT'",
    ),
}
GOOD = sorted(path.name for path in DATA.glob("good_*") if path.name != "good_display_data.tsp")


def test_every_data_file_is_tested() -> None:
    assert {path.name for path in DATA.iterdir()} == {*WRONG, *GOOD, "good_display_data.tsp"}


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_file_is_refused_in_one_line(name: str) -> None:
    number, words = WRONG[name]
    with pytest.raises(InputError) as caught:
        read_tsp(DATA / name)
    message = str(caught.value)
    assert message.startswith(f"{DATA / name}:{number}: {words}")
    assert message.isprintable()


@pytest.mark.parametrize("name", GOOD)
def test_an_unusual_valid_file_is_read(name: str) -> None:
    file = read_tsp(DATA / name)
    assert (file.dimension, file.metric, file.matrix) == (4, "EUC_2D", None)
    assert file.coordinates is not None
    assert file.coordinates.tolist() == [[0, 0], [0, 3], [4, 3], [4, 0]]


def test_comments_in_latin_1_are_kept() -> None:
    assert read_tsp(DATA / "good_latin1_comment.tsp").comment == "Zürich"


def test_display_data_are_not_coordinates() -> None:
    file = read_tsp(DATA / "good_display_data.tsp")
    assert file.coordinates is None
    assert file.matrix is not None
    assert file.matrix.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


@pytest.mark.parametrize("spelled", [str.lower, str.title, str.swapcase])
@pytest.mark.parametrize("metric", ["EUC_2D", "CEIL_2D", "ATT", "GEO"])
def test_keywords_are_read_in_any_case(
    tmp_path: Path, spelled: Callable[[str], str], metric: str
) -> None:
    original = uniform_tsp(5, seed=1, side=90)
    path = tmp_path / "spelled.tsp"
    path.write_text(spelled(tsplib_text(original).replace("EUC_2D", metric)))
    file = read_tsp(path)
    assert (file.dimension, file.metric) == (5, metric)
    np.testing.assert_array_equal(file.coordinates, original.coordinates)


@pytest.mark.parametrize("spelled", [str.lower, str.title])
def test_keywords_in_any_case_end_the_numbers_and_may_not_be_repeated(
    tmp_path: Path, spelled: Callable[[str], str]
) -> None:
    text = (DATA / "good_display_data.tsp").read_text()
    path = tmp_path / "spelled.tsp"
    path.write_text(spelled(text))
    file = read_tsp(path)
    assert (file.metric, file.coordinates) == ("EXPLICIT", None)
    assert file.matrix is not None
    assert file.matrix.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    path.write_text(text.replace("DIMENSION", "Dimension : 3\nDIMENSION"))
    with pytest.raises(InputError, match="DIMENSION is given twice"):
        read_tsp(path)
    for name in ("too_few_rows.tsp", "too_few_weights.tsp"):
        path.write_text(spelled((DATA / name).read_text()))
        with pytest.raises(InputError, match=r"the (coordinates|weights) end after"):
            read_tsp(path)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_cities_are_read(tmp_path: Path, n: int) -> None:
    path = tmp_path / "few.tsp"
    path.write_text(tsplib_text(uniform_tsp(n, seed=1)))
    assert read_tsp(path).dimension == n


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_tsp(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        read_tsp(tmp_path / "none.tsp")


def test_a_gigabyte_without_a_line_end_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "line.tsp"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    with peak_below(4 << 20), pytest.raises(InputError, match="a line of more than"):
        read_tsp(path)


@pytest.mark.parametrize("filling", [b"\n", b" ", b"0", b"1 ", b"COMMENT : again\n"])
@pytest.mark.parametrize("section", ["", "NODE_COORD_SECTION\n", "EDGE_WEIGHT_SECTION\n"])
def test_a_decompression_bomb_is_refused_in_little_memory(
    tmp_path: Path, filling: bytes, section: str
) -> None:
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


def test_a_large_file_is_read_in_bounded_memory(tmp_path: Path) -> None:
    large = uniform_tsp(200_000, seed=3)
    path = tmp_path / "large.tsp"
    path.write_text(tsplib_text(large))
    # The coordinates twice, the ids once, and the growth of arrays.
    with peak_below(20 << 20):
        read = read_tsp(path)
    np.testing.assert_array_equal(read.coordinates, large.coordinates)


@pytest.mark.parametrize("name", ["good_crlf.tsp", "good_display_data.tsp", "good_gzip.tsp.gz"])
def test_damaged_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    generator = random.Random(name)
    valid = (DATA / name).read_bytes()
    path = tmp_path / "damaged.tsp"
    messages = []
    for _ in range(500):
        damaged = bytearray(valid)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        path.write_bytes(damaged[: generator.choice([None, generator.randrange(len(valid))])])
        try:
            read_tsp(path)
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 250
    assert all(each.startswith(f"{path}:") and each.isprintable() for each in messages)


@pytest.mark.published
def test_every_published_file_is_read(published: Path) -> None:
    paths = [path for path in sorted(published.glob("*/*.tsp")) if path.stem != "linhp318"]
    assert len(paths) >= 199
    for path in paths:
        file = read_tsp(path)
        places, matrix = file.coordinates, file.matrix
        if file.metric == "EXPLICIT":
            assert matrix is not None
            assert matrix.shape == (file.dimension, file.dimension)
            assert (matrix == matrix.T).all()
        else:
            assert places is not None
            assert places.shape == (file.dimension, 2)


@pytest.mark.published
def test_the_published_instance_with_a_fixed_edge_is_refused(published: Path) -> None:
    with pytest.raises(InputError, match=r"linhp318\.tsp:6: FIXED_EDGES_SECTION is not supported"):
        read_tsp(published / "tsplib" / "linhp318.tsp")


class peak_below:  # noqa: N801 - read as a function
    """Assert that what runs inside allocates no more than `limit` bytes at any time."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __enter__(self) -> None:
        tracemalloc.start()

    def __exit__(self, *_: object) -> None:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < self.limit


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


def test_every_format_is_tested() -> None:
    assert set(WRITTEN) == set(FORMATS)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("line_ends", ["kept", "none", "everywhere"])
@pytest.mark.parametrize("case", ["upper", "lower"])
def test_every_format_gives_the_same_matrix(
    tmp_path: Path, form: str, line_ends: str, case: str
) -> None:
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
    assert matrix is not None
    assert matrix.tolist() == MATRIX
