"""Downloads the files of a set into the user's cache, each checked before it appears there."""

from __future__ import annotations

import gzip
import hashlib
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from islands.errors import InputError, UnwritableError
from islands.instances.catalogue import Entry, InstanceSet
from islands.instances.locate import VARIABLE, set_of
from islands.paths import CACHE_ELSEWHERE, cache_folder, published, reading

_TIMEOUT = 30.0
_CHUNK = 1 << 16
_OF_GZIP = 1 << 10
"""A file that cannot be compressed is longer by its name, and by a thousandth at most."""
_BROKEN_OFF = "ChunkedEncodingError"
_REASONS = {
    "ConnectionError": "no connection",
    "ConnectTimeout": f"no connection within {_TIMEOUT:g} s",
    "ReadTimeout": f"no answer within {_TIMEOUT:g} s",
    _BROKEN_OFF: "the transfer broke off",
}


class NoAnswerError(InputError):
    """A server that cannot be reached, so that trying the next file makes no sense."""


class _TooLongError(Exception):
    """What comes is longer than what was expected."""


class _Bounded:
    """A file for a download, which ends it when more comes than is expected."""

    def __init__(self, stream: IO[bytes], longest: int) -> None:
        self._stream = stream
        self._left = longest

    def write(self, chunk: bytes) -> int:
        """Write what has come, unless it is too much."""
        self._left -= len(chunk)
        if self._left < 0:
            raise _TooLongError
        return self._stream.write(chunk)

    def flush(self) -> None:
        """Do what the file does."""
        self._stream.flush()


def fetch(instances: InstanceSet, base: str | None, say: Callable[[str], None]) -> list[InputError]:
    """Fetch what is not yet in the cache, and return what went wrong, file by file."""
    if not instances.base:
        say(f"{instances.name} comes with the program: nothing to fetch")
        return []
    folder = _folder(instances.name)
    files = {entry.file: entry for entry in instances.entries.values()}
    failures: list[InputError] = []
    for number, (file, entry) in enumerate(files.items(), start=1):
        target = folder / file
        progress = f"{number}/{len(files)} {target}"
        with reading(target):
            is_there = target.exists() and target.stat().st_size == entry.bytes
            found = hashlib.sha256(target.read_bytes()).hexdigest() if is_there else None
        if found == entry.sha256:
            say(f"{progress} is there already")
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
    """Return the SHA-256 of a file's content, decompressed where it is gzipped.

    Of a file that is longer, only the beginning is read, which has another digest.
    """
    with path.open("rb") as raw:
        sha, size = hashlib.sha256(), 0
        for chunk in _chunks(raw):
            sha.update(chunk)
            size += len(chunk)
            if size > longest:
                break
        return sha.hexdigest()


def _folder(name: str) -> Path:
    return cache_folder(f"instances/{name}")


def _fetch_file(url: str, target: Path, entry: Entry) -> None:
    too_long = f"{url}: {_other(entry, f'more than {entry.bytes} bytes')}"
    with tempfile.TemporaryFile() as raw, published(target, CACHE_ELSEWHERE) as temporary:
        if not _download(url, target, raw, entry.bytes + entry.bytes // 1000 + _OF_GZIP):
            raise InputError(too_long)
        sha, size = hashlib.sha256(), 0
        try:
            with temporary.open("wb") as plain:
                for chunk in _chunks(raw):
                    size += len(chunk)
                    if size > entry.bytes:
                        raise InputError(too_long)
                    sha.update(chunk)
                    plain.write(chunk)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise InputError(f"{url}: {_other(entry, 'a broken gzip file')}") from None
        if size < entry.bytes:
            raise InputError(f"{url}: {_other(entry, f'only {size} of {entry.bytes} bytes')}")
        if sha.hexdigest() != entry.sha256:
            raise InputError(f"{url}: {_other(entry, f'SHA-256 {sha.hexdigest()}')}")


def _download(url: str, target: Path, stream: IO[bytes], longest: int) -> bool:
    """Download, and return whether the whole is no longer than expected; else give up there."""
    import pooch

    hint = (
        f"Finished files stay, so try again; or name a mirror with --from, or let {VARIABLE} "
        f"name a folder that holds {set_of(target)}/{target.name}"
    )
    try:
        pooch.HTTPDownloader(timeout=_TIMEOUT)(url, _Bounded(stream, longest), None)
    except _TooLongError:
        # The connection is closed when nothing refers to this error any more.
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


def _chunks(raw: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file that may be gzipped."""
    raw.seek(0)
    zipped = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if zipped else raw
    while chunk := stream.read(_CHUNK):
        yield chunk


def _other(entry: Entry, what: str) -> str:
    return (
        f"{what}, not the published file, whose SHA-256 is {entry.sha256}. "
        f"Try again, or name a mirror with --from"
    )
