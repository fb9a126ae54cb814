"""Damaged checkpoints are refused, and an earlier one is used."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starts_for_tests import checkpoints, require_same, start, streams, whole

from islands.configuration.spec import FORMAT
from islands.errors import InputError
from islands.record.checkpoint import content_digest
from islands.run import pace as pace

pytestmark = pytest.mark.usefixtures("checkpoints_at_epochs_only")


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
