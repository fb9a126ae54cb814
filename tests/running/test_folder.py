from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from islands.errors import InputError, UsageError
from islands.run import folder as module
from islands.run.folder import claim, remove_checkpoint, require_run
from islands.run.spec import SIGN


def finished(folder: Path) -> Path:
    for name in (
        "solution.parquet",
        "solution.tour",
        "log.txt",
        "trace/rank-007.parquet",
        "trace/rank-1000.2.unfinished.arrows",
        "trace/.rank-007.parquet.x7",
        "migrations/rank-007.parquet",
        "migrations/rank-000.1.unfinished.arrows",
        "checkpoints/000000000100.1/manifest.json",
        "checkpoints/000000000100.1/rank-000.npz",
        "checkpoints/000000000100.2/.rank-000.npz.x7",
        ".run.toml.x7",
        ".solution.parquet.x7",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("old")
    (folder / "run.toml").write_text(f"{SIGN}: old\n")
    (folder / "notes.txt").write_text("mine")
    return folder


def test_fresh_folders_never_collide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        claims = [pool.submit(claim, None, name="zi929", force=False) for _ in range(40)]
        folders = [each.result() for each in claims]
    assert len(set(folders)) == 40
    assert all(folder.is_dir() and folder.parent == Path("runs") for folder in folders)
    assert all(folder.name.startswith("zi929-2") for folder in folders)


def test_a_finished_run_is_not_overwritten(tmp_path: Path) -> None:
    folder = finished(tmp_path / "a")
    with pytest.raises(UsageError, match=r"a: holds a finished run.*--force"):
        claim(folder, name="x", force=False)
    assert (folder / "trace" / "rank-007.parquet").exists()


def test_force_removes_the_earlier_run_and_nothing_else(tmp_path: Path) -> None:
    folder = finished(tmp_path / "a")
    assert claim(folder, name="x", force=True) == folder
    assert sorted(path.name for path in folder.rglob("*")) == ["notes.txt"]


def test_a_run_that_was_killed_can_be_run_again(tmp_path: Path) -> None:
    folder = finished(tmp_path / "a")
    (folder / "solution.parquet").unlink()
    claim(folder, name="x", force=False)
    assert not (folder / "trace").exists()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("settings", [None, "rho = 0.7\n"])
def test_a_folder_of_the_users_own_is_refused_and_left(
    tmp_path: Path, force: bool, settings: str | None
) -> None:
    (tmp_path / "trace").mkdir()
    names = ["solution.cpp", "log.txt", "trace/data.csv", "solution.parquet"]
    for name in names:
        (tmp_path / name).write_text("mine")
    if settings is not None:
        names.append("run.toml")
        (tmp_path / "run.toml").write_text(settings)
    with pytest.raises(UsageError, match=r"holds files, but no run\. Name a folder that is new or"):
        claim(tmp_path, name="x", force=force)
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path)) for path in found) == sorted(names)


def test_only_files_that_runs_write_are_removed(tmp_path: Path) -> None:
    folder = finished(tmp_path / "a")
    for name in ("solution.cpp", "trace/data.csv", "trace/rank-best.parquet"):
        (folder / name).write_text("mine")
    claim(folder, name="x", force=True)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        *("data.csv", "notes.txt", "rank-best.parquet", "solution.cpp")
    ]


def test_a_run_that_was_killed_before_its_first_file_leaves_a_folder_that_can_be_used(
    tmp_path: Path,
) -> None:
    (tmp_path / ".run.toml.x7").touch()
    assert claim(tmp_path, name="x", force=False) == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_what_can_be_gone_on_from_goes_before_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = list[str]()
    unlink = Path.unlink

    def noted(path: Path, missing_ok: bool = False) -> None:
        gone.append(path.name)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", noted)
    claim(finished(tmp_path / "a"), name="x", force=True)
    assert gone[:2] == ["solution.parquet", "manifest.json"]
    assert gone.index("rank-000.npz") < gone.index("rank-007.parquet")
    assert gone[-1] == "run.toml"


def test_a_run_is_required() -> None:
    for folder, reason in (
        (Path("/nonexistent"), "holds no run"),
        (Path("/etc/hostname"), "holds no run"),
        (Path("x" * 300), "File name too long"),
    ):
        with pytest.raises(InputError, match=rf"{folder}: {reason}\. Name "):
            require_run(folder)


def test_a_run_is_known_by_its_settings(tmp_path: Path) -> None:
    require_run(finished(tmp_path / "a"))


def test_a_checkpoint_stops_counting_first(tmp_path: Path) -> None:
    checkpoint = finished(tmp_path / "a") / "checkpoints" / "000000000100.1"
    (checkpoint / "notes.txt").touch()
    remove_checkpoint(checkpoint)
    assert [path.name for path in checkpoint.iterdir()] == ["notes.txt"]
    (checkpoint / "notes.txt").unlink()
    remove_checkpoint(checkpoint)
    assert not checkpoint.exists()


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    assert claim(tmp_path, name="x", force=False) == tmp_path


def test_an_earlier_run_stays_where_the_new_one_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def probe(dir: Path) -> Any:
        if dir.name == "trace":
            raise PermissionError(13, "Permission denied", str(dir))
        return TemporaryFile(dir=dir)

    folder = finished(tmp_path / "a")
    before = sorted(folder.rglob("*"))
    monkeypatch.setattr(module, "TemporaryFile", probe)
    with pytest.raises(
        UsageError, match=r"a: Permission denied\. Name a folder that can be written"
    ):
        claim(folder, name="x", force=True)
    assert sorted(folder.rglob("*")) == before


def test_a_folder_that_may_not_be_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(UsageError, match=r"--out .*x: Permission denied\. Name a folder"):
        claim(tmp_path / "x", name="x", force=False)


def test_a_new_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    assert claim(tmp_path / "a" / "b", name="x", force=False).is_dir()


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UsageError, match="is a file"):
        claim(tmp_path / "a", name="x", force=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match=r"Permission denied\. Name a folder that can be written"):
        claim(tmp_path / "a", name="x", force=False)


def test_a_path_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UsageError, match=r"Not a directory\. Name a folder that can be written"):
        claim(tmp_path / "a" / "b", name="x", force=False)
