from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from run_folders import claimed, finished

from islands.configuration.spec import SIGN
from islands.errors import InputError, UsageError
from islands.record import lock as lock_module
from islands.record.folder import claim, refuse_unfit, remove_checkpoint, require_run
from islands.record.lock import FolderLock


def test_new_folders_never_collide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        claims = [pool.submit(claimed, None) for _ in range(40)]
        folders = [each.result() for each in claims]
    assert len(set(folders)) == 40
    assert all(folder.is_dir() and folder.parent == Path("runs") for folder in folders)
    assert all(folder.name.startswith("zi929-2") for folder in folders)


def test_a_claimed_folder_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)
    for asked in (None, tmp_path / "a"):
        with FolderLock() as lock:
            folder = claim(asked, name="x", force=False, lock=lock)
            with (
                FolderLock() as other,
                pytest.raises(InputError, match="another process is using"),
            ):
                other.take(folder)


def test_a_folder_without_a_run_is_refused() -> None:
    for folder, reason in (
        (Path("/nonexistent"), "contains no run"),
        (Path("/etc/hostname"), "contains no run"),
        (Path("x" * 300), "File name too long"),
    ):
        with pytest.raises(InputError, match=rf"{folder}: {reason}\. Name "):
            require_run(folder)


def test_a_run_is_recognised_by_its_settings(tmp_path: Path) -> None:
    require_run(finished(tmp_path / "a"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            f"{SIGN}: --config repeats it.",
            "has format 2, written by an earlier version of islands",
        ),
        (
            f"{SIGN} 9.8.7, format 12: --config repeats it.",
            "has format 12, written by islands 9.8.7",
        ),
        (f"{SIGN} 0.1.0, fo", "is damaged: its first line contains no format. Restore it"),
        (f"{SIGN} 0.1.0, format x: --config repeats it.", "is damaged: its first line"),
    ],
)
def test_a_run_of_another_format_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    folder = finished(tmp_path / "a")
    (folder / "run.toml").write_text(f"{line}\nseed = 1\n")
    with pytest.raises(InputError, match=reason):
        require_run(folder)
    # It is still a run, which is overwritten only with force.
    with pytest.raises(UsageError, match="contains a finished run"):
        refuse_unfit(folder, force=False)
    refuse_unfit(folder, force=True)


def test_removing_a_checkpoint_keeps_foreign_files(tmp_path: Path) -> None:
    checkpoint = finished(tmp_path / "a") / "checkpoints" / "000000000100.1"
    (checkpoint / "notes.txt").touch()
    remove_checkpoint(checkpoint)
    assert [path.name for path in checkpoint.iterdir()] == ["notes.txt"]
    (checkpoint / "notes.txt").unlink()
    remove_checkpoint(checkpoint)
    assert not checkpoint.exists()


def test_an_empty_folder_is_accepted(tmp_path: Path) -> None:
    assert claimed(tmp_path) == tmp_path


def test_a_folder_without_read_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(UsageError, match=r"out=.*x\": Permission denied\. Name a folder"):
        claimed(tmp_path / "x")


def test_a_new_folder_is_created_with_its_parents(tmp_path: Path) -> None:
    assert claimed(tmp_path / "a" / "b").is_dir()


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UsageError, match="is a file"):
        claimed(tmp_path / "a", force=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match=r"Permission denied\. Name a folder that can be written"):
        claimed(tmp_path / "a")


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UsageError, match=r"Not a directory\. Name a folder that can be written"):
        claimed(tmp_path / "a" / "b")
