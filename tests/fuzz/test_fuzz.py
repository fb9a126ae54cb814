from __future__ import annotations

from pathlib import Path

from fuzz_cases import faults
from fuzz_files import MODEL_FILES, instances
from fuzz_models import CALLS, call_faults
from fuzz_targets import targets

from islands.instances.formats import FORMATS, MODELS, recognised


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    assert list(faults(targets(tmp_path), tmp_path, range(20_000))) == []


def test_valid_files_are_read(tmp_path: Path) -> None:
    """Otherwise the damage would not be tested."""
    for target in targets(tmp_path):
        for seed in target.seeds:
            (tmp_path / target.file).write_bytes(seed)
            target.read(tmp_path / target.file)


def test_all_formats_of_instances_are_damaged(tmp_path: Path) -> None:
    damaged = set()
    for target in instances():
        for seed in target.seeds:
            path = tmp_path / target.file
            path.write_bytes(seed)
            damaged.add(recognised(path))
    assert damaged == set(FORMATS)
    assert MODEL_FILES.keys() == MODELS.keys()


def test_wrong_arguments_are_refused_or_have_exact_costs() -> None:
    """`python tests/fuzz --calls` makes 20,000 calls."""
    assert list(call_faults(range(600))) == []


def test_valid_arguments_are_taken() -> None:
    """Otherwise the wrong ones would not be tested."""
    for make, arguments in CALLS.values():
        for each in arguments:
            make(**each)
