from __future__ import annotations

from pathlib import Path

import pytest

from islands.instances.tsplib import FORMATS, read_tsp

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
