"""Resuming from checkpoints, also if they or their records are damaged or missing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from starts_for_tests import checkpoints, facts, killed, require_same, start, streams, whole

from islands.configuration.spec import FORMAT
from islands.errors import InputError
from islands.progress.progress import Moment, Progress
from islands.record.checkpoint import Manifest, RankFile, content_digest
from islands.record.stream import Extent
from islands.record.tables import read_records
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
    # Earlier versions did not write the tolerance.
    path = tmp_path / "manifest.json"
    values = json.loads(path.read_text())
    del values["moment"]["before"]["tolerance"], values["sha256"]
    path.write_text(json.dumps({**values, "sha256": content_digest(values)}))
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


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flipped(path: Path) -> None:
    """Flip one bit."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest and its checksum."""
    values = json.loads(path.read_text())
    del values["sha256"]
    change(values)
    path.write_text(json.dumps(values | {"sha256": content_digest(values)}))


def foreign(path: Path) -> None:
    rewritten(path, lambda values: values.update(run="0" * 64))


def newer(path: Path) -> None:
    rewritten(path, lambda values: values.update(format=FORMAT + 1))


def older(path: Path) -> None:
    rewritten(path, lambda values: values.update(format=2))


def of_another_version(path: Path) -> None:
    rewritten(path, lambda values: values.update(islands="0.0.9"))


def outside(path: Path) -> None:
    rewritten(path, lambda values: values["parts"][0].update(file="../../run.toml"))


def half(path: Path) -> None:
    rewritten(path, lambda values: values["parts"].pop())


def nameless(path: Path) -> None:
    rewritten(path, lambda values: values["moment"].pop("seconds"))


def later(path: Path) -> None:
    """Change one number without the checksum."""
    values = json.loads(path.read_text())
    values["moment"]["generation"] += 2
    path.write_text(json.dumps(values))


def other_arrays(path: Path) -> None:
    """Replace the state, and update its checksum in the manifest."""
    np.savez(path, letters=np.arange(6))
    manifest = path.with_name("manifest.json")
    size, digest = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    rewritten(manifest, lambda values: values["parts"][0].update(bytes=size, sha256=digest))


FAULTS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "cut": ("rank-000.npz", cut, r"rank-000\.npz: has \d+ bytes instead of \d+"),
    "flipped": ("rank-000.npz", flipped, r"rank-000\.npz: checksum mismatch"),
    "gone": ("rank-000.npz", Path.unlink, r"rank-000\.npz: No such file"),
    "arrays": ("rank-000.npz", other_arrays, "the saved arrays are letters"),
    "manifest cut": ("manifest.json", cut, r"manifest\.json: is damaged or cut off"),
    "no manifest": ("manifest.json", lambda path: path.write_text("[]"), "is not the manifest"),
    "foreign": ("manifest.json", foreign, "belongs to a run with other settings"),
    "newer": (
        "manifest.json",
        newer,
        f"has format {FORMAT + 1}, but the current format is {FORMAT}",
    ),
    "older": ("manifest.json", older, f"has format 2, but the current format is {FORMAT}"),
    "of another version": (
        "manifest.json",
        of_another_version,
        r"was written by islands 0\.0\.9, but this is .* Resume with the version that wrote it",
    ),
    "outside": ("manifest.json", outside, r"\.\./\.\./run\.toml is not the file of a rank"),
    "later": ("manifest.json", later, r"manifest\.json: checksum mismatch"),
    "nameless": ("manifest.json", nameless, r"manifest\.json: is damaged or cut off: 'seconds'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_checkpoint_is_refused_and_the_previous_one_used(
    fault: str, folder: Path, tmp_path: Path
) -> None:
    name, harm, reason = FAULTS[fault]
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    harm(folder / "checkpoints" / "000000000048.1" / name)
    _, said = start(folder, 2)
    for text in (said, (folder / "log.txt").read_text()):
        lines = text.splitlines()
        refused = next(i for i, line in enumerate(lines) if line.startswith("refused "))
        assert lines[refused].startswith("refused checkpoints/000000000048.1: ")
        assert re.search(reason, lines[refused])
        assert lines[refused + 1] == "resumed from generation 40   checkpoints/000000000040.1"
    require_same(folder, whole(tmp_path / "b", 2))


def test_if_all_checkpoints_are_damaged_each_is_named_with_its_fault(folder: Path) -> None:
    cut(folder / "checkpoints" / "000000000048.1" / "manifest.json")
    flipped(folder / "checkpoints" / "000000000040.1" / "rank-000.npz")
    before = checkpoints(folder), streams(folder)
    with pytest.raises(InputError) as caught:
        start(folder, 2)
    message = str(caught.value)
    assert message.startswith(f"{folder}: no checkpoint can be used: checkpoints/000000000048.1: ")
    assert "; checkpoints/000000000040.1: rank-000.npz: checksum mismatch" in message
    assert message.endswith(f"Start again with: islands run --config {folder / 'run.toml'}")
    # The attempt has removed nothing.
    assert (checkpoints(folder), streams(folder)) == before
    assert "no checkpoint" not in (folder / "log.txt").read_text().splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("manifest.json", "Is a directory"), ("rank-000.npz", "has [0-9]+ bytes instead of [0-9]+")],
)
def test_a_folder_in_place_of_a_file_is_refused(
    name: str, reason: str, folder: Path, tmp_path: Path
) -> None:
    path = folder / "checkpoints" / "000000000048.1" / name
    path.unlink()
    path.mkdir()
    _, said = start(folder, 2)
    assert re.search(rf"refused checkpoints/000000000048\.1: .*{name}: {reason}", said)
    require_same(folder, whole(tmp_path / "b", 2))


NESTED = "[" * 100_000


@pytest.mark.parametrize(
    "text", ["", "{", "null", NESTED, '{"format": 2}', '{"format": true, "islands": "0.1.0"}']
)
def test_an_invalid_manifest_is_refused_and_the_previous_one_used(text: str, folder: Path) -> None:
    (folder / "checkpoints" / "000000000048.1" / "manifest.json").write_text(text)
    _, said = start(folder, 2)
    assert "refused checkpoints/000000000048.1: " in said
    assert "resumed from generation 40   checkpoints/000000000040.1" in said


def test_a_checkpoint_without_all_islands_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    start(folder, 2, goes_on=False)
    (folder / "solution.parquet").unlink()
    half(folder / "checkpoints" / "000000000100.1" / "manifest.json")
    _, said = start(folder, 1)
    assert "refused checkpoints/000000000100.1: its files do not contain islands 0 to 5" in said
    require_same(folder, whole(tmp_path / "b", 1))


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
