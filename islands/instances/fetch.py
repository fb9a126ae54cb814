"""Download the files of a set into the user's cache; each is verified before it appears there."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from islands.errors import InputError, UnwritableError, UsageError
from islands.instances.catalogue import Entry, InstanceSet
from islands.instances.locate import VARIABLE, set_of
from islands.paths import CACHE_ELSEWHERE, cache_folder, published, reading

_TIMEOUT = 30.0
_GZIP_OVERHEAD = 1 << 10
"""The gzip file of incompressible data is longer by its name and at most a thousandth."""


class NoAnswerError(InputError):
    """The server cannot be reached, so further files are not tried."""


def fetch(instances: InstanceSet, base: str | None, say: Callable[[str], None]) -> list[InputError]:
    """Download the files that are not in the cache; return the errors by file."""
    if instances.is_made:
        say(f"{instances.name}: each file is made when it is needed, without a download")
        return []
    if not instances.base and not instances.is_embedded:
        raise UsageError(
            f"{instances.name}: its files have no addresses of their own. Get them from"
            f" {instances.home}, into a folder {instances.name} below one that {VARIABLE} names"
        )
    if not instances.base:
        say(f"{instances.name} comes with the program and needs no download")
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
        return hashlib.sha256(_beginning(raw, longest)).hexdigest()


def _folder(name: str) -> Path:
    return cache_folder(f"instances/{name}")


def _fetch_file(url: str, target: Path, entry: Entry) -> None:
    longest, content = entry.bytes + entry.bytes // 1000 + _GZIP_OVERHEAD, b""
    raw = _downloaded(url, target, longest)
    try:
        content = _beginning(BytesIO(raw), entry.bytes) if len(raw) <= longest else raw
    except (gzip.BadGzipFile, EOFError, zlib.error):
        fault = "a broken gzip file"
    else:
        sha256 = hashlib.sha256(content).hexdigest()
        fault = "" if sha256 == entry.sha256 else f"SHA-256 {sha256}"
        if len(content) < entry.bytes:
            fault = f"only {len(content)} of {entry.bytes} bytes"
        elif len(content) > entry.bytes:
            fault = f"more than {entry.bytes} bytes"
    if fault:
        raise InputError(
            f"{url}: {fault}: not the published file with SHA-256 {entry.sha256}. Try again, or"
            " name a mirror with --from"
        )
    with published(target, CACHE_ELSEWHERE) as temporary:
        temporary.write_bytes(content)


def _downloaded(url: str, target: Path, longest: int) -> bytes:
    """Return the answer of a server, of a longer one the beginning."""
    kind: type[InputError] = NoAnswerError
    try:
        request = Request(url, headers={"User-Agent": "islands"})
        with urlopen(request, timeout=_TIMEOUT) as answer:
            kind = InputError
            found: bytes = answer.read(longest + 1)
            if len(found) <= longest and answer.length:
                raise ConnectionError
            return found
    except HTTPError as problem:
        kind, reason = InputError, f"the server answered {problem.code} {problem.reason}"
    except (TimeoutError, URLError, HTTPException, ConnectionError) as problem:
        late = isinstance(getattr(problem, "reason", problem), TimeoutError)
        reason = "no connection" if kind is NoAnswerError else "the transfer was interrupted"
        reason = f"no answer within {_TIMEOUT:g} s" if late else reason
    except ValueError as problem:
        reason = str(problem)
    raise kind(
        f"{url}: {reason}. Finished files are kept, so try again; or name a mirror with --from, or"
        f" set {VARIABLE} to a folder that contains {set_of(target)}/{target.name}"
    )


def _beginning(raw: IO[bytes], longest: int) -> bytes:
    """Return the content of a file that may be gzipped; of a longer one, a byte more."""
    is_zipped = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if is_zipped else raw
    return stream.read(longest + 1)
