from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from islands.errors import UsageError
from islands.run.folder import claim


def finished(folder: Path) -> Path:
    (folder / "trace").mkdir(parents=True)
    for name in (
        "solution.parquet",
        "solution.tour",
        "run.toml",
        "log.txt",
        "trace/rank-007.parquet",
    ):
        (folder / name).write_text("old")
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
