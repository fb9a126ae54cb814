"""No command follows a link inside a folder that others may have written."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from quick_plots import without_rendering

from islands.cli import main

COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "status": lambda run: ["status", str(run)],
    "watch": lambda run: ["watch", str(run)],
    "verify": lambda run: ["verify", "demo/tsp", str(run)],
    "report": lambda run: ["report", str(run)],
    "plot": lambda run: ["plot", str(run), "convergence"],
    "export": lambda run: ["export", str(run), "--csv", str(run.parent / "trace.csv")],
    "resume": lambda run: ["resume", str(run), "--stop", "generations=30"],
    "submit": lambda run: ["submit", "--dry-run", "resume", str(run)],
    "run": lambda run: [
        *("run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"),
        *("--algorithm", "ga", "--improver", "none", "--stop", "generations=20"),
        *("--out", str(run), "--force"),
    ],
}
NAMES = (
    *("log.txt", "run.toml", "solution.parquet", "solution.tour", "trace", "migrations"),
    *("trace/rank-000.parquet", "migrations/rank-000.parquet", "checkpoints", "report.html"),
    *("checkpoints/000000000020.1", "checkpoints/000000000020.1/manifest.json"),
    *("checkpoints/000000000020.1/rank-000.npz", "convergence.png"),
)
_watched: list[Path] = []
_followed: list[str] = []


def _audit(event: str, values: tuple[object, ...]) -> None:
    """Record each file in the watched folder that is opened without O_NOFOLLOW."""
    if event != "open" or not _watched or not isinstance(values[0], str | bytes):
        return
    path, mode, flags = os.fsdecode(values[0]), values[1], values[2]
    if not path.startswith(f"{_watched[0]}{os.sep}"):
        return
    assert isinstance(flags, int)
    if not flags & (os.O_NOFOLLOW | os.O_EXCL):
        _followed.append(path)
    elif mode is None and path in _followed:
        _followed.remove(path)  # `open` announces the file, and then calls its opener


sys.addaudithook(_audit)


@contextmanager
def watched(folder: Path) -> Iterator[list[str]]:
    """Collect the files in a folder that are opened so that a link would be followed."""
    _followed.clear()
    _watched.append(folder)
    try:
        yield _followed
    finally:
        _watched.clear()


@pytest.fixture(scope="module")
def finished(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run with a page and a picture."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("runs") / "a"
    shutil.copytree(finished, folder)
    with without_rendering():
        main(["report", str(folder)])
        main(["plot", str(folder), "convergence"])
    return folder


def _content(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(each): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_changes_nothing_outside_of_a_folder_with_links(
    command: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, name in enumerate(NAMES):
        run, other = tmp_path / str(number) / "a", tmp_path / str(number) / "other"
        shutil.copytree(finished, run)
        (run / name).rename(other)
        (run / name).symlink_to(other)
        others = {other: _content(other) if other.is_dir() else other.read_bytes()}
        with without_rendering():
            status = main(COMMANDS[command](run))
        now = {other: _content(other) if other.is_dir() else other.read_bytes()}
        assert now == others, f"{command} with a link {name}"
        said = capsys.readouterr()
        # A remark of verify is printed with its results.
        assert status == 0 or "is a link to" in said.err + said.out, f"{command}, {name}: {said}"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_opens_all_files_so_that_links_are_not_followed(
    command: str, finished: Path, tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path / "a")
    with without_rendering(), watched(tmp_path / "a") as opened:
        assert main(COMMANDS[command](tmp_path / "a")) == 0
    # What a command writes is a temporary file, with a name that nobody could know.
    others = {name for name in map(os.path.basename, opened) if not name.startswith(".")}
    # These are read like files that the user names, after a check that they are not links.
    assert others <= {"run.toml", "solution.tour"}


@pytest.mark.parametrize("command", ["status", "report"])
def test_a_link_to_a_folder_of_a_series_is_rejected(
    command: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ten").mkdir()
    (tmp_path / "ten" / "a").symlink_to(finished)
    assert main([command, str(tmp_path / "ten")]) == 2
    assert "ten/a: is a link to" in capsys.readouterr().err


def test_the_folder_itself_may_be_a_link(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(finished)
    assert main(["status", str(tmp_path / "latest")]) == 0


@pytest.mark.parametrize("more", [[], ["--runs", "2"], ["--batch"]])
def test_a_folder_that_is_a_link_without_a_target_is_named(
    more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The system only says that the link exists."""
    Path("link").symlink_to("nowhere/x")
    for out in ("link", "link/below"):
        line = ["run", "demo/tsp", "--backend", "cpu", "--stop", "generations=1", *more]
        assert main([*line, "--out", out]) == 2
        words = "link is a symbolic link to nowhere/x, which does not exist. Specify a folder"
        assert words in capsys.readouterr().err
