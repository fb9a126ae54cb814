"""Download the files of a set into the user's cache, and verify them before they appear there."""

import gzip
import hashlib
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from islands.errors import InputError, UnwritableError, UsageError
from islands.instances.catalogue import Entry, InstanceSet
from islands.instances.locate import VARIABLE, set_of
from islands.paths import CACHE_ELSEWHERE, cache_folder, published, reading

_TIMEOUT = 30.0
_CHUNK = 1 << 16
_GZIP_OVERHEAD = 1 << 10
"""A gzip file of incompressible data is longer by a file name, and by at most a thousandth."""
_BROKEN_OFF = "ChunkedEncodingError"
_REASONS = {
    "ConnectionError": "no connection",
    "ConnectTimeout": f"no connection within {_TIMEOUT:g} s",
    "ReadTimeout": f"no answer within {_TIMEOUT:g} s",
    _BROKEN_OFF: "the transfer was interrupted",
}


class NoAnswerError(InputError):
    """The server cannot be reached, so further files are not tried."""


class _TooLongError(Exception):
    """A download is longer than expected."""


class _Bounded:
    """A file that ends a download if it is longer than expected."""

    def __init__(self, stream: IO[bytes], longest: int) -> None:
        self._stream = stream
        self._left = longest

    def write(self, chunk: bytes) -> int:
        """Write a chunk, or raise an error if the limit is exceeded."""
        self._left -= len(chunk)
        if self._left < 0:
            raise _TooLongError
        return self._stream.write(chunk)

    def flush(self) -> None:
        """Flush the file."""
        self._stream.flush()


def fetch(instances: InstanceSet, base: str | None, say: Callable[[str], None]) -> list[InputError]:
    """Download the files that are not in the cache; return the errors by file."""
    if instances.is_generated:
        say(f"{instances.name}: the program generates its files, without a download")
        return []
    if not instances.base and not instances.is_embedded:
        raise UsageError(
            f"{instances.name}: its files cannot be downloaded one by one. Get them from"
            f" {instances.home}, into a folder {instances.name} inside one that {VARIABLE} names"
        )
    if not instances.base:
        say(f"{instances.name} comes with the program and needs no download")
        return []
    folder = cache_folder(f"instances/{instances.name}")
    files = {entry.file: entry for entry in instances.entries.values()}
    failures: list[InputError] = []
    for number, (file, entry) in enumerate(files.items(), start=1):
        target = folder / file
        progress = f"{number}/{len(files)} {target}"
        with reading(target):
            is_there = target.exists() and target.stat().st_size == entry.bytes
            sha256 = hashlib.sha256(target.read_bytes()).hexdigest() if is_there else None
        if sha256 == entry.sha256:
            say(f"{progress} exists already")
            continue
        try:
            _fetch_file(instances.url(file, base), target, entry)
            say(progress)
        except (NoAnswerError, UnwritableError):
            raise
        except InputError as failure:
            say(f"{progress} failed")
            failures.append(failure)
    return failures


def digest(path: Path, longest: int) -> str:
    """Return the SHA-256 of a file's content, decompressed if it is gzipped.

    Only the beginning of a longer file is read; its digest differs anyway.
    """
    with path.open("rb") as raw:
        return _unpacked(raw, longest)[1]


def _fetch_file(url: str, target: Path, entry: Entry) -> None:
    too_long = f"{url}: {_unexpected(entry, f'more than {entry.bytes} bytes')}"
    with tempfile.TemporaryFile() as raw, published(target, CACHE_ELSEWHERE) as temporary:
        if not _download(url, target, raw, entry.bytes + entry.bytes // 1000 + _GZIP_OVERHEAD):
            raise InputError(too_long)
        try:
            with temporary.open("wb") as plain:
                size, sha256 = _unpacked(raw, entry.bytes, plain)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise InputError(f"{url}: {_unexpected(entry, 'a broken gzip file')}") from None
        if size > entry.bytes:
            raise InputError(too_long)
        if size < entry.bytes:
            raise InputError(f"{url}: {_unexpected(entry, f'only {size} of {entry.bytes} bytes')}")
        if sha256 != entry.sha256:
            raise InputError(f"{url}: {_unexpected(entry, f'SHA-256 {sha256}')}")


def _download(url: str, target: Path, stream: IO[bytes], longest: int) -> bool:
    """Download a file; stop and return False if it is longer than expected."""
    import pooch

    hint = (
        f"Finished files are kept, so try again; or name a mirror with --from, or set {VARIABLE} "
        f"to a folder that contains {set_of(target)}/{target.name}"
    )
    try:
        pooch.HTTPDownloader(timeout=_TIMEOUT)(url, _Bounded(stream, longest), None)
    except _TooLongError:
        # The connection closes when this error is freed.
        return False
    except OSError as problem:
        response = getattr(problem, "response", None)
        if response is not None:
            reason = f"{response.status_code} {response.reason}"
            raise InputError(f"{url}: the server answered {reason}. {hint}") from None
        name = type(problem).__name__
        kind = InputError if name == _BROKEN_OFF else NoAnswerError
        raise kind(f"{url}: {_REASONS.get(name, problem)}. {hint}") from None
    except ValueError as problem:
        raise NoAnswerError(f"{url}: {problem}. {hint}") from None
    return True


def _unpacked(raw: IO[bytes], longest: int, copy: IO[bytes] | None = None) -> tuple[int, str]:
    """Return the size and the SHA-256 of a file's content, decompressed if it is gzipped.

    Stop when the size exceeds `longest`. The content is also written to `copy`.
    """
    raw.seek(0)
    zipped = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if zipped else raw
    sha, size = hashlib.sha256(), 0
    while size <= longest and (chunk := stream.read(_CHUNK)):
        sha.update(chunk)
        size += len(chunk)
        if copy is not None:
            copy.write(chunk)
    return size, sha.hexdigest()


def _unexpected(entry: Entry, what: str) -> str:
    return (
        f"{what}: not the published file with SHA-256 {entry.sha256}. "
        f"Try again, or name a mirror with --from"
    )
