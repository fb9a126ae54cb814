"""Files of users: published at once, and opened in folders of others without following links."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from islands.errors import InputError, UnwritableError
from islands.inside import inside, inside_all, last_lines, line_breaks, opened
from islands.paths import cache_folder, published, writing


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


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.ENOSPC, "Free space there, or specify a folder"),
        (errno.EACCES, "Change the permissions, or specify a folder"),
        (errno.EROFS, "Specify a folder"),
    ],
)
def test_the_fix_depends_on_why_a_file_cannot_be_written(number: int, fix: str) -> None:
    reason = os.strerror(number)
    with pytest.raises(UnwritableError) as caught, writing("a.txt"):
        raise OSError(number, reason)
    assert f"a.txt: cannot be written: {reason}. {fix} in which you may write" == str(caught.value)


@pytest.mark.parametrize("what", ["a file", "a link to nothing", "a device", "below a file"])
def test_caches_must_be_folders(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        assert f"{obstacle} is not a folder" in str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "mine.txt").write_text("mine\n")
    return tmp_path / "a"


@pytest.mark.parametrize("mode", ["rb", "wb", "a+b", "r", "a"])
def test_a_link_is_not_opened(folder: Path, mode: str) -> None:
    (folder / "log.txt").symlink_to(folder.parent / "mine.txt")
    with pytest.raises(InputError, match="is a link"):
        opened(folder / "log.txt", mode)  # type: ignore[call-overload]
    assert (folder.parent / "mine.txt").read_text() == "mine\n"


def test_a_dangling_link_creates_no_file(folder: Path) -> None:
    (folder / "log.txt").symlink_to(folder.parent / "new.txt")
    with pytest.raises(InputError, match="is a link"):
        opened(folder / "log.txt", "a")
    assert not (folder.parent / "new.txt").exists()


def test_a_file_with_a_second_name_is_read_but_not_written(folder: Path) -> None:
    os.link(folder.parent / "mine.txt", folder / "log.txt")
    with opened(folder / "log.txt") as stream:
        assert stream.read() == b"mine\n"
    for mode in ("wb", "a"):
        with pytest.raises(InputError, match="second name elsewhere"):
            opened(folder / "log.txt", mode)  # type: ignore[call-overload]
    assert (folder.parent / "mine.txt").read_text() == "mine\n"


def test_a_pipe_is_rejected_instead_of_waiting_for_its_other_end(folder: Path) -> None:
    os.mkfifo(folder / "log.txt")
    for mode in ("rb", "a"):
        with pytest.raises(InputError, match="pipe"):
            opened(folder / "log.txt", mode)  # type: ignore[call-overload]


def test_a_link_on_the_way_is_rejected_but_the_folder_may_be_one(folder: Path) -> None:
    (folder / "trace").symlink_to(folder.parent / "other")
    with pytest.raises(InputError, match=r"a/trace: is a link to"):
        inside(folder, "trace", "rank-000.parquet")
    latest = folder.parent / "latest"
    latest.symlink_to(folder)
    assert inside(latest, "checkpoints", "1.1") == latest / "checkpoints" / "1.1"
    with pytest.raises(InputError, match=r"latest/trace: is a link to"):
        inside_all(latest, "t*")


def test_only_the_end_of_a_long_text_is_read(folder: Path) -> None:
    path = folder / "log.txt"
    with path.open("wb") as stream:
        stream.truncate(5 << 30)  # gaps only
        stream.seek(0, os.SEEK_END)
        stream.write(b"\nthe last\nline\n")
    assert [*last_lines(path)] == ["the last", "line", ""]
    assert line_breaks(path, 1 << 20) == 0
