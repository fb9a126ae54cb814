from pathlib import Path

import pytest
from fuzz_cases import faults
from fuzz_files import targets
from fuzz_models import call_faults


@pytest.mark.parametrize(
    "cases", [range(3000), pytest.param(range(3000, 20_000), marks=pytest.mark.slow)]
)
def test_damaged_files_are_read_or_rejected(tmp_path: Path, cases: range) -> None:
    assert list(faults(targets(tmp_path), tmp_path, cases)) == []


@pytest.mark.slow
def test_valid_files_are_read(tmp_path: Path) -> None:
    """Otherwise the damage would not be tested."""
    for target in targets(tmp_path):
        for seed in target.seeds:
            (tmp_path / target.file).write_bytes(seed)
            target.read(tmp_path / target.file)


def test_wrong_arguments_are_rejected_or_have_exact_costs() -> None:
    """`python tests/fuzz --calls` makes 20,000 calls."""
    assert list(call_faults(range(600))) == []
