from __future__ import annotations

from pathlib import Path

import pytest
from starts_for_tests import checkpoints, require_same, start, whole

from islands.errors import InputError
from islands.progress.progress import Moment, Progress
from islands.record.checkpoint import Manifest, RankFile
from islands.record.stream import Extent
from islands.run import pace as pace

pytestmark = pytest.mark.usefixtures("checkpoints_at_epochs_only")


@pytest.mark.parametrize("cost", [None, 7, 2**60 + 1, 0.1])
def test_a_manifest_is_read_unchanged(cost: float | None, tmp_path: Path) -> None:
    progress = Progress(40, 10**12, 0.1 + 0.2, cost, 3, 25, 1 / 3, gap=0.7, best_known=6)
    records = {"trace": Extent(7, "cd")}
    parts = tuple(RankFile(first, 2, f"rank-{first}.npz", 9, "ab", records) for first in (0, 2))
    for before in (None, progress):
        written = Manifest("run", 3, 8, Moment(48, 1e-9 / 3, before), parts)
        written.write(tmp_path)
        assert Manifest.read(tmp_path, "run") == written


def test_a_checkpoint_without_a_manifest_is_ignored(folder: Path, tmp_path: Path) -> None:
    for name in checkpoints(folder):
        (folder / "checkpoints" / name / "manifest.json").unlink()
    _, said = start(folder, 2)
    assert "refused" not in said
    assert "starts again, as there is no checkpoint yet" in said
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("option", [{"seed": 2}, {"record.every": 7}, {"islands": 7}])
def test_other_settings_belong_to_another_run(option: dict[str, int], folder: Path) -> None:
    with pytest.raises(InputError, match="belongs to a run with other settings"):
        start(folder, 1, **option)


@pytest.mark.parametrize(
    "option", [{"threads": 2}, {"backend": "auto"}, {"checkpoint.every": 9}, {"stop": "target=945"}]
)
def test_settings_that_do_not_affect_results_may_change(
    option: dict[str, object], folder: Path
) -> None:
    _, said = start(folder, 1, **option)
    assert "resumed from generation 48" in said


def test_a_new_checkpoint_is_kept_besides_a_damaged_later_one(
    folder: Path,
) -> None:
    manifest = folder / "checkpoints" / "000000000048.1" / "manifest.json"
    manifest.unlink()
    manifest.mkdir()
    start(folder, 2, stop="generations=44")
    assert "000000000044.2" in checkpoints(folder)
    _, said = start(folder, 1)
    assert "resumed from generation 44   checkpoints/000000000044.2" in said
