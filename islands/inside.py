"""Safe access to files in the folder of one or more runs, which may come from another user.

The folder itself may be a link, but links inside it are rejected: they could lead to any file of
the user, which a command would read, change or replace. Pipes and devices are rejected as well,
as they could block a command, or never end.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TextIO, overload

from islands.errors import InputError
from islands.paths import reading

_WRITES = os.O_WRONLY | os.O_RDWR
_AT_ONCE, _LAST = 1 << 16, 1 << 20  # bytes per read, and bytes read from the end of a file


def inside(folder: Path, *names: str) -> Path:
    """Return a path inside a folder; the path need not exist. Reject links, pipes and devices.

    `names` are those of the subfolders and of the file. Use this function for every path inside
    the folder of one or more runs.
    """
    path = folder
    for name in names:
        path = path / name
        with reading(path), suppress(FileNotFoundError, NotADirectoryError):
            _require_plain(path, path.lstat().st_mode)
    return path


def inside_all(folder: Path, pattern: str) -> list[Path]:
    """Return the paths in a folder that match `pattern`, sorted; reject what `inside` rejects."""
    with reading(folder):
        return [inside(folder, path.name) for path in sorted(folder.glob(pattern))]


def descriptor(path: Path, flags: int) -> int:
    """Return a descriptor of a file inside a folder, like `os.open`; follow no link.

    Refuse to write a file with several hard links: another one may be outside the folder.
    """
    inside(path.parent, path.name)  # raises an error with a better message
    # Without O_NONBLOCK, opening a pipe would wait for its other end. Truncate only regular files.
    safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    number = os.open(path, (flags & ~os.O_TRUNC) | safe, 0o666)
    try:
        status = os.fstat(number)
        _require_plain(path, status.st_mode)
        if flags & _WRITES and status.st_nlink > 1:
            raise InputError(
                f"{path}: has a second name elsewhere (a hard link), so it is not written. Replace"
                " it with a copy"
            )
        if flags & os.O_TRUNC:
            os.ftruncate(number, 0)
    except BaseException:
        os.close(number)
        raise
    return number


@overload
def opened(path: Path) -> BufferedReader: ...
@overload
def opened(path: Path, mode: Literal["wb", "a+b"]) -> BinaryIO: ...
@overload
def opened(path: Path, mode: Literal["r", "a"], **options: Any) -> TextIO: ...
def opened(path: Path, mode: str = "rb", **options: Any) -> IO[Any]:
    """Open a file inside a folder, like `open`; follow no link."""
    return open(path, mode, opener=lambda _, flags: descriptor(path, flags), **options)


def last_lines(path: Path) -> Iterator[str]:
    """Yield the lines in the last megabyte of a text file inside a folder."""
    with opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - _LAST))
        lines = stream.read(_LAST).decode(errors="replace").split("\n")
    if size > _LAST:
        del lines[0]  # its beginning may be missing
    yield from lines


def complete_lines(path: Path, longest: int, what: str) -> Iterator[tuple[str, bytes]]:
    """Yield the location of each line of a text file, such as `cells.jsonl:3`, and the line.

    Ignore an incomplete last line, such as that of a killed process. Reject lines with more than
    `longest` bytes; the message says that this is the limit for `what`.
    """
    with reading(path), opened(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(longest), b""), 1):
            if line.endswith(b"\n"):
                yield f"{path}:{number}", line
            elif len(line) == longest:
                raise InputError(
                    f"{path}:{number}: has more than {longest} bytes, the limit for {what}."
                    " Remove that line"
                )


def line_breaks(path: Path, longest: int) -> int:
    """Return the number of line breaks in the first `longest` bytes of a text file in a folder."""
    breaks = 0
    with opened(path) as stream:
        while longest > 0 and (part := stream.read(min(_AT_ONCE, longest))):
            breaks += part.count(b"\n")
            longest -= len(part)
    return breaks


def _require_plain(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return
    if stat.S_ISLNK(mode):
        raise InputError(
            f"{path}: is a link to {path.readlink()}. Links inside this folder are not followed,"
            " as other users may have created them. Replace it with a copy of its target,"
            " or remove it"
        )
    raise InputError(f"{path}: is a pipe or a device, not a file. Remove it")
