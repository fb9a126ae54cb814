"""The first comments of headers, their random streams, and what they include."""

import re

from islands.paths import data_folder

KERNELS = data_folder("kernels")
NUMBERS = {
    name: int(number)
    for name, number in re.findall(
        r"^\s*([A-Z_]+) = (\d+),", (KERNELS / "core" / "streams.cuh").read_text(), re.MULTILINE
    )
}


def test_numbers_of_streams_are_different_and_fit_in_eight_bits() -> None:
    assert len(NUMBERS) >= 5
    assert len(set(NUMBERS.values())) == len(NUMBERS)
    assert max(NUMBERS.values()) < 256
