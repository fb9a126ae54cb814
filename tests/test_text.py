from __future__ import annotations

import pytest

from islands.text import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tsplib/att48", "tsplib/att48"),
        ("Zürich 'n' \\ co", "Zürich 'n' \\ co"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("a\0\x1b[2Jb\x85c\u2028d", "a\\x00\\x1b[2Jb\\x85c\\u2028d"),
        ("caf\udce9", "caf\\udce9"),
        ("", ""),
        ("x" * 1000, "x" * 1000),
        ("x" * 1001, "x" * 997 + "..."),
        ("\n" * 1000, "\\n" * 498 + "\\..."),
    ],
)
def test_anything_becomes_one_line_of_a_file(text: str, line: str) -> None:
    assert one_line(text) == line
    assert line.isprintable()
    assert len(line.encode().decode().splitlines()) <= 1
