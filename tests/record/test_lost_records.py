"""Resuming when the records of a checkpoint are damaged or missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from starts_for_tests import facts, killed, require_same, start, whole

from islands.errors import InputError
from islands.record.tables import read_records
from islands.run import pace as pace

pytestmark = pytest.mark.usefixtures("checkpoints_at_epochs_only")


def flipped_first_row(path: Path) -> None:
    """Change a value that the first checkpoint already needs."""
    with path.open("rb") as source:
        seconds = pa.ipc.open_stream(source).read_next_batch().column("mean").to_numpy()
    content = path.read_bytes()
    at = content.index(seconds.tobytes())
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


def test_a_damaged_record_says_how_to_continue(folder: Path) -> None:
    (folder / "trace" / "rank-000.1.unfinished.arrows").write_bytes(b"damaged" * 9)
    with pytest.raises(InputError, match=r"\. Continue the run with: islands resume \S+$"):
        read_records(folder, "trace")


def test_a_checkpoint_with_missing_rows_is_skipped_for_a_complete_one(
    folder: Path,
    tmp_path: Path,
) -> None:
    path = folder / "trace" / "rank-000.1.unfinished.arrows"
    # The rows of the last checkpoint are cut; those of the previous one are complete.
    path.write_bytes(path.read_bytes()[:-40])
    _, said = start(folder, 2)
    words = (
        "skipped checkpoints/000000000048.1, looking for one with records: the trace of islands 0"
    )
    assert words in said
    assert "rank-000.1.unfinished.arrows: is damaged or cut off" in said
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("harm", [flipped_first_row, Path.unlink])
def test_if_all_records_are_lost_the_run_resumes_without_them(
    harm: Callable[[Path], None], folder: Path, tmp_path: Path
) -> None:
    path = folder / "trace" / "rank-000.1.unfinished.arrows"
    harm(path)
    left = path.read_bytes() if path.exists() else None
    result, said = start(folder, 2)
    lines = said.splitlines()
    passed = [line.split()[1].rstrip(",") for line in lines if line.startswith("skipped ")]
    assert passed == ["checkpoints/000000000048.1", "checkpoints/000000000040.1"]
    assert "refused" not in said
    assert "resumed from generation 48   checkpoints/000000000048.1" in lines
    islands = "the trace of islands 0 to 5 is lost up to generation 48: "
    assert f"no other checkpoint, so {islands}" in said
    assert result.digest == facts(whole(tmp_path / "b", 2))["digest"]
    # The unreadable file is kept.
    kept = path.with_name(f"{path.name}.damaged-1")
    assert (kept.read_bytes() if kept.exists() else None) == left
    generations = pq.read_table(folder / "trace" / "rank-000.parquet").column("generation")
    assert pc.min(generations).as_py() == 48


def test_unreadable_records_are_never_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    for content in (b"one", b"two"):
        killed(folder, at=50)
        for path in (folder / "trace").glob("*.arrows"):
            path.write_bytes(content)
        start(folder, 1, stop="generations=60")
        for path in (folder / "checkpoints").glob("*/manifest.json"):
            path.unlink()
    aside = sorted((folder / "trace").glob("*.damaged-*"))
    assert sorted({path.read_bytes() for path in aside}) == [b"one", b"two"]
