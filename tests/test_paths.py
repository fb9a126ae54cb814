from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from islands.errors import InputError, UnwritableError
from islands.paths import cache_folder, published, reading, writing


def test_a_file_is_published_atomically(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with published(path) as temporary:
        temporary.write_text("all")
        assert not path.exists()
    assert path.read_text() == "all"
    assert list(path.parent.iterdir()) == [path]


def test_a_pipe_gets_the_content_and_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as other:
        content = other.submit(pipe.read_text)
        with published(pipe) as temporary:
            temporary.write_text("whole")
        assert content.result(timeout=20) == "whole"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_an_unfinished_file_is_not_published(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(KeyError), published(tmp_path / "a.txt") as temporary:
        raise KeyError(temporary.write_text("half"))
    assert (tmp_path / "a.txt").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "a.txt"
    message = r"a\.txt: cannot be written: .*\. Make room there, or name a folder"
    with pytest.raises(UnwritableError, match=message), published(path):
        pytest.fail("there is nowhere to write")


@pytest.mark.parametrize("what", ["a file", "a link to nothing", "a device", "below a file"])
def test_a_cache_that_is_not_a_folder_is_named(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    obstacle = Path(os.devnull) if what == "a device" else tmp_path / "cache"
    if what == "a link to nothing":
        obstacle.symlink_to(tmp_path / "absent")
    elif what != "a device":
        obstacle.touch()
    root = obstacle / "deep" / "below" if what == "below a file" else obstacle
    monkeypatch.setenv("ISLANDS_CACHE", str(root))
    for name in ("", "programs"):
        with pytest.raises(InputError) as caught:
            cache_folder(name)
        assert str(caught.value) == (
            f"cannot make the cache folder {root / name}: {obstacle} is not a folder."
            " Let ISLANDS_CACHE name a folder that you may write"
        )


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(UnwritableError, match=r"a\.txt: cannot be written: No space left\. Make"),
        published(tmp_path / "a.txt"),
    ):
        raise OSError(28, "No space left")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.mkdir()
    message = r"a\.txt: cannot be written: Is a directory"
    with pytest.raises(UnwritableError, match=message), published(path) as temporary:
        temporary.write_text("all")


def test_errors_about_other_files_keep_their_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="compiler"), published(tmp_path / "a.txt"):
        raise FileNotFoundError(2, "No such file", "compiler")


def test_a_broken_pipe_is_not_an_error_of_the_file() -> None:
    with pytest.raises(BrokenPipeError), writing("a"):
        raise BrokenPipeError(32, "Broken pipe")


def test_an_unreadable_file_is_named() -> None:
    message = r"^a/b: Permission denied\. Name a file that can be read$"
    with pytest.raises(InputError, match=message), reading("a/b"):
        raise PermissionError(13, "Permission denied")
