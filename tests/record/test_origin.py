from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from started import checkpoints, facts, killed, require_same, start, streams, whole

from islands.errors import InputError
from islands.progress.progress import Moment, Progress
from islands.record.manifest import Manifest, Part, content_digest
from islands.record.stream import Extent
from islands.run import pace as pace
from islands.spec.spec import FORMAT


@pytest.fixture(autouse=True)
def _quick_and_whole_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_STEP_SECONDS", 1e9)
    monkeypatch.setattr(os, "fsync", lambda _: None)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def turned(path: Path) -> None:
    """Change one bit."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def turned_first_row(path: Path) -> None:
    """Change a value that the first checkpoint needs already."""
    with path.open("rb") as source:
        seconds = pa.ipc.open_stream(source).read_next_batch().column("mean").to_numpy()
    content = path.read_bytes()
    at = content.index(seconds.tobytes())
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a manifest, which then says that this is what was written."""
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
    """Change one figure, as a hand or a disk may."""
    values = json.loads(path.read_text())
    values["moment"]["generation"] += 2
    path.write_text(json.dumps(values))


def other_arrays(path: Path) -> None:
    """Put another state in its place, and let the manifest say so."""
    np.savez(path, letters=np.arange(6))
    manifest = path.with_name("manifest.json")
    size, digest = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    rewritten(manifest, lambda values: values["parts"][0].update(bytes=size, sha256=digest))


FAULTS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "cut": ("rank-000.npz", cut, r"rank-000\.npz: has \d+ bytes of \d+"),
    "turned": ("rank-000.npz", turned, r"rank-000\.npz: checksum mismatch"),
    "gone": ("rank-000.npz", Path.unlink, r"rank-000\.npz: No such file"),
    "arrays": ("rank-000.npz", other_arrays, "the saved arrays are letters"),
    "manifest cut": ("manifest.json", cut, r"manifest\.json: is damaged or cut off"),
    "no manifest": ("manifest.json", lambda path: path.write_text("[]"), "is no manifest"),
    "foreign": ("manifest.json", foreign, "is of another run, with other settings"),
    "newer": ("manifest.json", newer, f"is of format {FORMAT + 1}, but this is format {FORMAT}"),
    "older": ("manifest.json", older, f"is of format 2, but this is format {FORMAT}"),
    "of another version": (
        "manifest.json",
        of_another_version,
        r"was written by islands 0\.0\.9, but this is .* Resume with the version that wrote it",
    ),
    "outside": ("manifest.json", outside, r"\.\./\.\./run\.toml is no file of a rank"),
    "later": ("manifest.json", later, r"manifest\.json: checksum mismatch"),
    "nameless": ("manifest.json", nameless, r"manifest\.json: is damaged or cut off: 'seconds'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_checkpoint_that_is_not_whole_is_refused_and_the_one_before_it_used(
    fault: str, tmp_path: Path
) -> None:
    name, harm, reason = FAULTS[fault]
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    harm(folder / "checkpoints" / "000000000048.1" / name)
    _, said = start(folder, 2)
    for text in (said, (folder / "log.txt").read_text()):
        lines = text.splitlines()
        refused = next(i for i, line in enumerate(lines) if line.startswith("refused "))
        assert lines[refused].startswith("refused checkpoints/000000000048.1: ")
        assert re.search(reason, lines[refused])
        assert lines[refused + 1] == "goes on from generation 40   checkpoints/000000000040.1"
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("cost", [None, 7, 2**60 + 1, 0.1])
def test_a_manifest_is_read_as_it_was_written(cost: float | None, tmp_path: Path) -> None:
    progress = Progress(40, 10**12, 0.1 + 0.2, cost, 3, 25, 1 / 3, gap=0.7, best_known=6)
    records = {"trace": Extent(7, "cd")}
    parts = tuple(Part(first, 2, f"rank-{first}.npz", 9, "ab", records) for first in (0, 2))
    for before in (None, progress):
        written = Manifest("run", 3, 8, Moment(48, 1e-9 / 3, before), parts)
        written.write(tmp_path)
        assert Manifest.read(tmp_path, "run") == written


def test_where_none_can_be_used_each_is_named_with_its_reason(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    cut(folder / "checkpoints" / "000000000048.1" / "manifest.json")
    turned(folder / "checkpoints" / "000000000040.1" / "rank-000.npz")
    before = checkpoints(folder), streams(folder)
    with pytest.raises(InputError) as caught:
        start(folder, 2)
    message = str(caught.value)
    assert message.startswith(f"{folder}: no checkpoint can be used: checkpoints/000000000048.1: ")
    assert "; checkpoints/000000000040.1: rank-000.npz: checksum mismatch" in message
    assert message.endswith(f"Start again with: islands run --config {folder / 'run.toml'}")
    # Nothing is lost by trying.
    assert (checkpoints(folder), streams(folder)) == before
    assert "no checkpoint" not in (folder / "log.txt").read_text().splitlines()[-1]


def test_a_checkpoint_whose_record_lacks_rows_gives_way_to_one_whose_record_is_whole(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    path = folder / "trace" / "rank-000.1.unfinished.arrows"
    # What was written for the last checkpoint is cut, what was for the one before is there.
    path.write_bytes(path.read_bytes()[:-40])
    _, said = start(folder, 2)
    words = "passed over checkpoints/000000000048.1 for one with records: the trace of islands 0"
    assert words in said
    assert "rank-000.1.unfinished.arrows: is damaged or cut off" in said
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("harm", [turned_first_row, Path.unlink])
def test_states_whose_records_are_lost_are_gone_on_from_without_them(
    harm: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    path = folder / "trace" / "rank-000.1.unfinished.arrows"
    harm(path)
    left = path.read_bytes() if path.exists() else None
    result, said = start(folder, 2)
    lines = said.splitlines()
    passed = [line.split()[2] for line in lines if line.startswith("passed over ")]
    assert passed == ["checkpoints/000000000048.1", "checkpoints/000000000040.1"]
    assert "refused" not in said
    assert "goes on from generation 48   checkpoints/000000000048.1" in lines
    islands = "the trace of islands 0 to 5 is lost up to generation 48: "
    assert f"there is none, so that {islands}" in said
    assert result.digest == facts(whole(tmp_path / "b", 2))["digest"]
    # What could not be read is not thrown away.
    kept = path.with_name(f"{path.name}.damaged-1")
    assert (kept.read_bytes() if kept.exists() else None) == left
    generations = pq.read_table(folder / "trace" / "rank-000.parquet").column("generation")
    assert pc.min(generations).as_py() == 48


@pytest.mark.parametrize(
    ("name", "reason"),
    [("manifest.json", "Is a directory"), ("rank-000.npz", "has [0-9]+ bytes of [0-9]+")],
)
def test_a_folder_in_the_place_of_a_file_is_refused_as_the_file_would_be(
    name: str, reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
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
def test_whatever_is_in_a_manifest_the_one_before_it_is_tried(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    (folder / "checkpoints" / "000000000048.1" / "manifest.json").write_text(text)
    _, said = start(folder, 2)
    assert "refused checkpoints/000000000048.1: " in said
    assert "goes on from generation 40   checkpoints/000000000040.1" in said


def test_files_that_do_not_hold_all_islands_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    start(folder, 2, goes_on=False)
    (folder / "solution.parquet").unlink()
    half(folder / "checkpoints" / "000000000100.1" / "manifest.json")
    _, said = start(folder, 1)
    assert "refused checkpoints/000000000100.1: its files do not hold islands 0 to 5" in said
    require_same(folder, whole(tmp_path / "b", 1))


def test_a_checkpoint_without_a_manifest_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    for name in checkpoints(folder):
        (folder / "checkpoints" / name / "manifest.json").unlink()
    _, said = start(folder, 2)
    assert "refused" not in said
    assert "begins anew, as there is no checkpoint yet" in said
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("option", [{"seed": 2}, {"record.every": 7}, {"islands": 7}])
def test_a_run_by_other_settings_is_another_run(option: dict[str, int], tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    with pytest.raises(InputError, match="is of another run, with other settings"):
        start(folder, 1, **option)


@pytest.mark.parametrize(
    "option", [{"threads": 2}, {"backend": "auto"}, {"checkpoint.every": 9}, {"stop": "target=945"}]
)
def test_what_results_do_not_depend_on_may_change(
    option: dict[str, object], tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    _, said = start(folder, 1, **option)
    assert "goes on from generation 48" in said


def test_what_has_just_been_finished_stays_beside_a_later_checkpoint_that_is_broken(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    manifest = folder / "checkpoints" / "000000000048.1" / "manifest.json"
    manifest.unlink()
    manifest.mkdir()
    start(folder, 2, stop="generations=44")
    assert "000000000044.2" in checkpoints(folder)
    _, said = start(folder, 1)
    assert "goes on from generation 44   checkpoints/000000000044.2" in said


def test_rows_that_were_set_aside_are_never_overwritten(tmp_path: Path) -> None:
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
