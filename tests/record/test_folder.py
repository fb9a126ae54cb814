"""A run's folder: claiming and locking one, and what of an earlier run is removed."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands_for_tests import Patch

from islands.configuration.spec import FORMAT, SIGN
from islands.errors import InputError, UsageError
from islands.record import lock as lock_module
from islands.record.claim import claim
from islands.record.folder import (
    BATCH_SETTINGS,
    LEDGER,
    FolderKind,
    kind_of,
    reject_unfit,
    remove_checkpoint,
    require_run,
)
from islands.record.lock import FolderLock


def claimed(folder: Path | None, *, force: bool = False) -> Path:
    with FolderLock() as lock:
        return claim(folder, name="zi929", force=force, lock=lock)


def finished(folder: Path) -> Path:
    """Return the folder with files of all kinds that runs write, and one of the user."""
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
    (folder / "run.toml").write_text(f"{SIGN} 0.1.0, format {FORMAT}: --config repeats it.\n")
    (folder / "notes.txt").write_text("mine")
    return folder


def test_new_folders_never_collide(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        claims = [pool.submit(claimed, None) for _ in range(40)]
        folders = [each.result() for each in claims]
    assert len(set(folders)) == 40
    assert all(folder.is_dir() and folder.parent == Path("runs") for folder in folders)
    assert all(folder.name.startswith("zi929-2") for folder in folders)


@pytest.mark.parametrize("name", ["x" * 251, "長" * 83], ids=["ascii", "wide"])
def test_an_instance_with_the_longest_name_has_a_folder(
    tmp_path: Path, monkeypatch: Patch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.tsp").touch()  # this name is possible
    with FolderLock() as lock:
        assert claim(None, name=f"{name}.tsp", force=False, lock=lock).is_dir()


def test_an_unfinished_measurement_is_known_by_its_ledger(tmp_path: Path) -> None:
    (tmp_path / LEDGER).touch()  # a copy without hidden files
    assert kind_of(tmp_path) is FolderKind.MEASUREMENT
    (tmp_path / BATCH_SETTINGS).touch()  # all folders of many runs have a ledger
    assert kind_of(tmp_path) is FolderKind.BATCH


def test_a_folder_without_a_run_is_rejected(tmp_path: Path) -> None:
    require_run(finished(tmp_path / "a"))
    for folder in (Path("/nonexistent"), Path("/etc/hostname"), Path("x" * 300)):
        with pytest.raises(InputError, match=str(folder)):
            require_run(folder)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{SIGN} 9.8.7, format 12: --config repeats it.", r"format 12, .* 9\.8\.7"),
        (f"{SIGN} 0.1.0, format x: --config repeats it.", "damaged"),
    ],
)
def test_a_run_of_another_format_is_rejected(tmp_path: Path, line: str, reason: str) -> None:
    folder = finished(tmp_path / "a")
    (folder / "run.toml").write_text(f"{line}\nseed = 1\n")
    with pytest.raises(InputError, match=reason):
        require_run(folder)
    # It is still a run, which is overwritten only with force.
    with pytest.raises(UsageError, match="contains a finished run"):
        reject_unfit(folder, force=False)
    reject_unfit(folder, force=True)


def test_removing_a_checkpoint_keeps_foreign_files(tmp_path: Path) -> None:
    checkpoint = finished(tmp_path / "a") / "checkpoints" / "000000000100.1"
    (checkpoint / "notes.txt").touch()
    remove_checkpoint(checkpoint)
    assert [path.name for path in checkpoint.iterdir()] == ["notes.txt"]
    (checkpoint / "notes.txt").unlink()
    remove_checkpoint(checkpoint)
    assert not checkpoint.exists()


def test_where_no_folder_can_be_it_is_rejected(tmp_path: Path) -> None:
    assert claimed(tmp_path / "new" / "b").is_dir()
    (tmp_path / "a").touch()
    for path in (tmp_path / "a", tmp_path / "a" / "b"):
        with pytest.raises(UsageError):
            claimed(path, force=True)
    if os.geteuid() != 0:  # root may write everywhere
        tmp_path.chmod(0o500)
        with pytest.raises(UsageError):
            claimed(tmp_path / "c")


def test_a_run_that_was_killed_before_its_first_checkpoint_can_be_run_again(tmp_path: Path) -> None:
    folder = finished(tmp_path / "a")
    (folder / "solution.parquet").unlink()
    (folder / "checkpoints" / "000000000100.1" / "manifest.json").unlink()
    claimed(folder)
    assert not (folder / "trace").exists()


def test_a_run_that_can_be_resumed_is_not_overwritten(tmp_path: Path) -> None:
    folder = finished(tmp_path / "my a")
    (folder / "solution.parquet").unlink()
    before = sorted(folder.rglob("*"))
    with pytest.raises(UsageError, match=f"islands resume '{folder}'"):
        claimed(folder)
    assert sorted(folder.rglob("*")) == before
    claimed(folder, force=True)
    assert not (folder / "checkpoints").exists()


@pytest.mark.parametrize("force", [False, True])
def test_a_run_locked_by_another_process_is_not_changed(
    tmp_path: Path, monkeypatch: Patch, force: bool
) -> None:
    monkeypatch.setattr(lock_module, "_PATIENCE_SECONDS", 0.0)
    folder = finished(tmp_path / "a")
    for name in ("solution.parquet", "checkpoints/000000000100.1/manifest.json"):
        (folder / name).unlink()
    before = sorted(folder.rglob("*"))
    with FolderLock() as lock:
        lock.acquire(folder)
        with pytest.raises(InputError, match="another process is using this run"):
            claimed(folder, force=force)
        assert sorted(folder.rglob("*")) == before
        assert (folder / "log.txt").read_text() == "old"


def test_a_run_that_finished_while_waiting_for_the_lock_is_not_overwritten(tmp_path: Path) -> None:
    class Waiting(FolderLock):
        def acquire(self, folder: Path) -> None:
            super().acquire(folder)
            finished(folder)

    with Waiting() as lock, pytest.raises(UsageError, match="contains a finished run"):
        claim(tmp_path / "a", name="x", force=False, lock=lock)
    assert (tmp_path / "a" / "solution.parquet").exists()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("settings", [None, "rho = 0.7\n"])
def test_a_folder_with_the_users_own_files_is_rejected_and_not_changed(
    tmp_path: Path, force: bool, settings: str | None
) -> None:
    (tmp_path / "trace").mkdir()
    names = ["solution.cpp", "log.txt", "trace/data.csv", "solution.parquet"]
    for name in names:
        (tmp_path / name).write_text("mine")
    if settings is not None:
        names.append("run.toml")
        (tmp_path / "run.toml").write_text(settings)
    with pytest.raises(UsageError, match="contains files, but no run"):
        claimed(tmp_path, force=force)
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path)) for path in found) == sorted(names)


def test_only_files_that_runs_write_are_removed(tmp_path: Path) -> None:
    folder = finished(tmp_path / "a")
    for name in ("solution.cpp", "trace/data.csv", "trace/rank-best.parquet"):
        (folder / name).write_text("mine")
    claimed(folder, force=True)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        *("data.csv", "log.txt", "notes.txt", "rank-best.parquet", "solution.cpp")
    ]


def test_checkpoints_are_removed_before_their_records(tmp_path: Path, monkeypatch: Patch) -> None:
    gone = list[str]()
    unlink = Path.unlink

    def noted(path: Path, missing_ok: bool = False) -> None:
        gone.append(path.name)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", noted)
    claimed(finished(tmp_path / "a"), force=True)
    assert gone[:2] == ["solution.parquet", "manifest.json"]
    assert gone.index("rank-000.npz") < gone.index("rank-007.parquet")
    assert gone[-1] == "run.toml"


def test_a_filesystem_without_locks_is_accepted(tmp_path: Path, monkeypatch: Patch) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(lock_module.fcntl, "flock", unsupported)
    with FolderLock() as first, FolderLock() as second:
        first.acquire(tmp_path)
        second.acquire(tmp_path)


def test_removing_the_log_does_not_unlock_the_folder(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(lock_module, "_PATIENCE_SECONDS", 0.0)
    with FolderLock() as first, FolderLock() as second:
        first.acquire(tmp_path)
        (tmp_path / "log.txt").unlink()
        with pytest.raises(InputError, match="another process is using this run"):
            second.acquire(tmp_path)
