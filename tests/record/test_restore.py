"""Resuming from checkpoints, also if they or their records are damaged, or a write is cut."""

import ctypes
import hashlib
import itertools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from fakes import FakeArchipelago, Quiet
from starts_for_tests import (
    checkpoints,
    facts,
    killed,
    record,
    require_same,
    rewritten,
    start,
    streams,
    whole,
)

import islands
from islands.configuration.spec import FORMAT
from islands.engine import pace as pace
from islands.errors import InputError
from islands.progress.progress import Moment, Progress
from islands.record.checkpoint import (
    Checkpoints,
    Manifest,
    RankFile,
    newest_first,
    next_start,
)
from islands.record.journal import Journal
from islands.record.stream import Extent

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
    start(folder, 2)
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("option", [{"seed": 2}, {"islands": 7}])
def test_other_settings_belong_to_another_run(option: dict[str, int], folder: Path) -> None:
    with pytest.raises(InputError, match="belongs to a run with other settings"):
        start(folder, 1, **option)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def with_values(**values: object) -> Callable[[Path], object]:
    return lambda path: rewritten(path, lambda manifest: manifest.update(values))


def with_parts(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], object]:
    return lambda path: rewritten(path, lambda manifest: change(manifest["parts"]))


def outside(parts: list[dict[str, Any]]) -> None:
    parts[0]["file"] = "../../run.toml"


def other_arrays(path: Path) -> None:
    """Replace the state, and update its checksum in the manifest."""
    np.savez(path, letters=np.arange(6))
    manifest = path.with_name("manifest.json")
    size, digest = path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
    rewritten(manifest, lambda values: values["parts"][0].update(bytes=size, sha256=digest))


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


FAULTS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "cut": ("rank-000.npz", cut, r"has \d+ bytes instead of \d+"),
    "flipped": ("rank-000.npz", flipped, "checksum mismatch"),
    "gone": ("rank-000.npz", Path.unlink, "No such file"),
    "arrays": ("rank-000.npz", other_arrays, "the saved arrays are letters"),
    "a folder": ("manifest.json", folder_instead, "Is a directory"),
    "manifest cut": ("manifest.json", cut, "is damaged or cut off"),
    "no manifest": ("manifest.json", lambda path: path.write_text("[]"), "is not the manifest"),
    "nested": ("manifest.json", lambda path: path.write_text("[" * 100_000), ""),
    "half": ("manifest.json", with_parts(list.pop), "do not contain islands"),
    "foreign": ("manifest.json", with_values(run="0" * 64), "belongs to a run with other settings"),
    "newer": ("manifest.json", with_values(format=FORMAT + 1), f"has format {FORMAT + 1}"),
    "older": ("manifest.json", with_values(format=2), "has format 2"),
    "of another version": ("manifest.json", with_values(islands="0.0.9"), r"islands 0\.0\.9"),
    "outside": ("manifest.json", with_parts(outside), r"\.\./\.\./run\.toml"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_checkpoint_is_rejected_and_the_previous_one_used(
    fault: str, folder: Path, tmp_path: Path
) -> None:
    name, harm, reason = FAULTS[fault]
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    harm(folder / "checkpoints" / "000000000048.1" / name)
    _, said = start(folder, 2)
    (rejected,) = [line for line in said.splitlines() if line.startswith("rejected ")]
    assert re.search(f"000000000048.1: .*{reason}", rejected)
    assert "resumed from generation 40" in said
    require_same(folder, whole(tmp_path / "b", 2))


def test_if_all_checkpoints_are_damaged_each_is_named_with_its_fault(folder: Path) -> None:
    cut(folder / "checkpoints" / "000000000048.1" / "manifest.json")
    flipped(folder / "checkpoints" / "000000000040.1" / "rank-000.npz")
    before = checkpoints(folder), streams(folder)
    with pytest.raises(InputError, match=r"48\.1: .*40\.1: .*islands run --config"):
        start(folder, 2)
    # The attempt has removed nothing.
    assert (checkpoints(folder), streams(folder)) == before


def flipped_first_row(path: Path) -> None:
    """Change a value that the first checkpoint already needs."""
    with path.open("rb") as source:
        seconds = pa.ipc.open_stream(source).read_next_batch().column("mean").to_numpy()
    content = path.read_bytes()
    at = content.index(seconds.tobytes())
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


def test_a_checkpoint_with_missing_rows_is_skipped_for_a_complete_one(
    folder: Path, tmp_path: Path
) -> None:
    path = folder / "trace" / "rank-000.1.unfinished.arrows"
    # The rows of the last checkpoint are cut; those of the previous one are complete.
    path.write_bytes(path.read_bytes()[:-40])
    _, said = start(folder, 2)
    assert "skipped checkpoints/000000000048.1" in said
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.parametrize("harm", [flipped_first_row, Path.unlink])
def test_if_all_records_are_lost_the_run_resumes_without_them(
    harm: Callable[[Path], None], folder: Path, tmp_path: Path
) -> None:
    path = folder / "trace" / "rank-000.1.unfinished.arrows"
    harm(path)
    left = path.read_bytes() if path.exists() else None
    result, said = start(folder, 2)
    assert "resumed from generation 48" in said
    assert "the trace of islands 0 to 5 is lost up to generation 48: " in said
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


def made(run: Path, *names: str) -> None:
    """Make checkpoints, and the streams of their starts."""
    (run / "trace").mkdir(exist_ok=True)
    for name in names:
        (run / "checkpoints" / name).mkdir(parents=True)
        (run / "checkpoints" / name / "manifest.json").touch()
        (run / "trace" / f"rank-000.{name.partition('.')[2]}.unfinished.arrows").touch()


def test_the_state_is_on_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised, early = set[tuple[int, int]](), list[Path]()
    replace = Path.replace

    def fsync(number: int) -> None:
        found = os.fstat(number)
        synchronised.add((found.st_ino, found.st_size))

    def renamed(self: Path, target: Path) -> Path:
        found = self.stat()
        if target.suffix == ".npz" and (found.st_ino, found.st_size) not in synchronised:
            early.append(target)
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", renamed)
    start(tmp_path, 2, goes_on=False)
    assert checkpoints(tmp_path)
    assert early == []


def test_the_newest_checkpoint_is_that_of_the_latest_generation_and_start(tmp_path: Path) -> None:
    made(tmp_path, "000000000090.1", "000000000100.1", "000000000100.3", "000000000095.2")
    (tmp_path / "checkpoints/000000000200.4").mkdir()  # without a manifest
    assert newest_first(tmp_path) == [
        *("000000000100.3", "000000000100.1", "000000000095.2", "000000000090.1")
    ]
    assert next_start(tmp_path) == 5


_PERTURB = -6  # M_PERTURB of the C library


@contextmanager
def memory_of(byte: int) -> Iterator[None]:
    """Fill newly allocated memory with a byte, if the C library supports this."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        pytest.skip("this C library does not fill memory")
    library.mallopt(_PERTURB, byte)
    try:
        yield
    finally:
        library.mallopt(_PERTURB, 0)


# Archives and offered solutions exist before anything is written there.
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("demo/tsp", {"algorithm": "eax", "population": 10}),
    ("demo/qap", {"algorithm": "tempering", "rungs": 2, "reset": 90, "migration.delay": 1}),
    ("demo/mkp", {"algorithm": "pso", "encoding": "keys", "infeasible": "linear"}),
    ("demo/mkp", {"algorithm": "cellular", "encoding": "bits", "infeasible": "linear"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "options"), RUNS)
def test_equal_runs_write_equal_checkpoints(
    problem: str, options: dict[str, Any], tmp_path: Path
) -> None:
    found = []
    for byte in (85, 170):
        out = tmp_path / str(byte)
        usual: dict[str, Any] = {"islands": 16, "population": 12, "interval": 2, "generations": 3}
        usual |= {"backend": "cpu", "threads": 16}  # each has memory of its own
        with memory_of(byte):
            islands.solve(problem, out=out, seed=1, **(usual | options))
        (file,) = out.glob("checkpoints/*/rank-000.npz")
        with np.load(file) as saved:
            found.append({name: saved[name].tobytes() for name in saved.files})
    assert found[0].keys() == found[1].keys()
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "method"), [(Journal, "epoch"), (Checkpoints, "keep"), (Journal, "finish")]
)
@pytest.mark.parametrize("call", [1, 2, 5])
def test_a_kill_during_a_write_loses_nothing(
    owner: type, method: str, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    before = getattr(owner, method)
    calls = itertools.count(1)

    def dying(self: object, *arguments: object) -> None:
        if next(calls) == call:
            raise SystemExit
        before(self, *arguments)

    monkeypatch.setattr(owner, method, dying)
    for _ in range(2):
        try:
            start(folder, 2)
        except SystemExit:
            continue
    monkeypatch.undo()
    start(folder, 2)
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.slow
def test_a_finished_run_can_be_extended(tmp_path: Path) -> None:
    folder = whole(tmp_path / "a", 2, stop="generations=61")
    assert 61 in record(folder, "trace")["rank-000.parquet"].column("generation").to_pylist()
    result, said = start(folder, 3)
    assert "resumed from generation 61   checkpoints/000000000061.1" in said
    assert result.generations == 100
    # Generation 61 does not end an epoch of the longer run.
    require_same(folder, whole(tmp_path / "b", 3))


def test_the_last_two_checkpoints_and_their_records_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, 1, at=50)
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    # The second start writes no checkpoint, so those of the first are needed.
    killed(folder, 2, at=60, **{"checkpoint.every": "0"})
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    assert streams(folder) == [
        *("rank-000.1.unfinished.arrows", "rank-000.2.unfinished.arrows"),
        "rank-001.2.unfinished.arrows",
    ]
    # No checkpoint needs the records of the second start, so they are removed.
    killed(folder, 1, at=60, **{"checkpoint.every": "0"})
    assert streams(folder) == ["rank-000.1.unfinished.arrows", "rank-000.3.unfinished.arrows"]
    start(folder, 1)
    assert checkpoints(folder) == ["000000000096.4", "000000000100.4"]
    assert streams(folder) == streams(folder, "migrations") == []


def test_an_incomplete_generation_0_cannot_be_resumed(tmp_path: Path) -> None:
    class Partial(FakeArchipelago):
        is_partial = True

    class Stopped(Quiet):
        requested = 2

    result, _ = start(tmp_path, kind=Partial, interruption=Stopped, goes_on=False)
    assert not checkpoints(tmp_path)
    assert result.suspended
