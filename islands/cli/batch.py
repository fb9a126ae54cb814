"""Run a batch of instances in one command, and continue a batch."""

from __future__ import annotations

import argparse
import glob
import json
import os
import select
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from islands.configuration.request import Request
from islands.custom.trust import signed_scripts, trust_files
from islands.errors import InputError, IslandsError, UsageError
from islands.instances.catalogue import catalogue
from islands.paths import expanded, reading
from islands.text import option, show
from islands.untrusted import followed, parsing

if TYPE_CHECKING:
    from islands.cells.batch import BatchPlan
    from islands.engine.build import RankOptions
    from islands.engine.single import Output
    from islands.parallel import World

_SINGLE_RUN_OPTIONS = ("plot", "asynchronous", "start")
"""The options of single runs, which a batch does not have."""
_LIST = "@"
"""The prefix of the name of a file with a list of instances."""
_STANDARD_INPUT = "-"
_END = "--"
"""The line that ends standard input: `mpirun` of Open MPI does not report a closed pipe."""
_POLL_SECONDS, _AT_ONCE = 0.1, 1 << 16
"""Seconds between polls for the first line, and the number of bytes per read."""
_LONGEST_LINE = 1 << 13
"""Maximum number of bytes of a line; no path is longer."""
_LONGEST_LIST = 1 << 26
"""Maximum number of bytes of a list."""
_SOLUTIONS = (".tour", ".sln", ".sol", ".opt", ".py", ".md", ".csv")
"""Suffixes of files that are not instances, although they may be in a folder of instances."""


def run_batch(
    args: argparse.Namespace,
    request: Request,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve the instances that a command names."""
    from islands.cells.batch import BatchPlan

    for name in _SINGLE_RUN_OPTIONS:
        if getattr(args, name):
            word = "async" if name == "asynchronous" else name
            raise UsageError(f"--{word} with --batch: is for single runs. Leave one of them out")

    arriving: Iterator[str | None] | None = None

    def planned() -> BatchPlan:
        nonlocal arriving
        names, arriving = first_names(args.instances)
        if not names:
            raise UsageError(
                "--batch: no instances. Specify some, such as 'orlib/mknapcb1-*', a folder, @FILE"
                " with a list, or - for standard input"
            )
        options = {name: value for name, value in request.options.items() if name != "instance"}
        is_open = arriving is not None
        return BatchPlan(names, args.runs or 1, Request(options, args.config), is_open)

    trust_config(args, ranks)
    plan = ranks.from_first(planned)  # other ranks have no standard input
    return _performed(plan, args, ranks, output, rank_options, arriving)


def trust_config(args: argparse.Namespace, ranks: World) -> None:
    """Trust the scripts that a signed file names; rank 0 checks it, as others may lack the key."""
    trust_files(ranks.from_first(lambda: signed_scripts(args.config, followed)))


def resume_batch(
    args: argparse.Namespace,
    request: Request,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve the remaining instances of the batch in a folder."""
    from islands.cells.batch import BatchPlan

    if other := sorted({*request.options} - {"backend", "threads"}):
        raise UsageError(
            f"{option(other[0])}: a batch keeps its settings. Leave it out, or start another batch"
        )
    plan = ranks.from_first(lambda: BatchPlan.of_folder(args.folder, request))
    return _performed(plan, args, ranks, output, rank_options)


def _performed(
    plan: BatchPlan,
    args: argparse.Namespace,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
    arriving: Iterator[str | None] | None = None,
) -> int:
    from islands.cells import batch

    def print_line(result: Mapping[str, Any]) -> None:
        show(json.dumps(result))

    lines = print_line if args.json else None
    end = batch.run_batch(plan, ranks, output, rank_options, lines=lines, arriving=arriving)
    ranks.barrier()
    return end.status


def first_names(words: Sequence[str]) -> tuple[list[str], Iterator[str | None] | None]:
    """Return the first names, at least one, and an iterator over those that arrive later.

    Later names are lines of standard input, unless it is a file. The iterator yields None if no
    line is ready.
    """
    if _STANDARD_INPUT not in words or not _may_wait(sys.stdin):
        return listed(words), None
    names = listed(word for word in words if word != _STANDARD_INPUT)
    later = _arriving(sys.stdin.fileno())
    for name in () if names else later:
        if name is not None:
            return [name], later
        time.sleep(_POLL_SECONDS)
    return names, later


def _may_wait(stream: TextIO | None) -> bool:
    """Return whether lines may arrive later, as from a pipe or a terminal."""
    try:
        return stream is not None and not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # the stream has no file
        return False


def _arriving(descriptor: int) -> Iterator[str | None]:
    """Yield the names in lines of standard input, and None whenever no line is ready."""
    for line in _polled_lines(descriptor):
        if line is None:
            yield None
            continue
        if line.strip() == _END:
            return
        try:
            yield from [*_of_lines([line])]
        except (IslandsError, OSError, ValueError):
            yield line.strip()  # reported when this instance is read


def _polled_lines(descriptor: int) -> Iterator[str | None]:
    rest = b""
    with reading("standard input"):
        while True:
            if not select.select([descriptor], [], [], 0.0)[0]:
                yield None
            elif part := os.read(descriptor, _AT_ONCE):
                *lines, rest = (rest + part).split(b"\n")
                if max(map(len, [*lines, rest])) > _LONGEST_LINE:
                    raise _too_long("standard input")
                yield from map(os.fsdecode, lines)
            else:
                break
    if rest:
        yield os.fsdecode(rest)


def listed(words: Iterable[str]) -> list[str]:
    """Return the names of the instances that words of a command line denote, without duplicates.

    A word is a name; a pattern of files, or of names in the catalogue, such as
    `orlib/mknapcb1-*`; a folder; `@FILE`, a text file with a word per line; or `-`, standard input
    with a word per line.
    """
    return list(dict.fromkeys(name for word in words for name in _named(word)))


def _named(word: str) -> Iterator[str]:
    if word == _STANDARD_INPUT:
        lines = _lines(sys.stdin, "standard input")
        yield from _of_lines(takewhile(lambda line: line.strip() != _END, lines))
    elif word.startswith(_LIST):
        path = expanded(word.removeprefix(_LIST))
        with parsing(path, "is not UTF-8"), path.open(encoding="utf-8") as stream:
            yield from _of_lines(_lines(stream, str(path)))
    elif _is_folder(folder := expanded(word)):
        yield from _files(folder)
    elif glob.has_magic(word) and not expanded(word).exists():
        yield from _matching(word)
    else:
        yield word


def _is_folder(path: Path) -> bool:
    with reading(path):  # if @FILE is not a list, its lines may be too long for a path
        return path.is_dir()


def is_name(word: str) -> bool:
    """Return whether a word of a command line is a name, not a list or a pattern."""
    return not (word.startswith(_LIST) or glob.has_magic(word))


def _lines(stream: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of a list of limited size."""
    size = 0
    for line in iter(lambda: stream.readline(_LONGEST_LINE + 1), ""):
        size += len(line)
        if len(line) > _LONGEST_LINE or size > _LONGEST_LIST:
            raise _too_long(name)
        yield line


def _too_long(name: str) -> InputError:
    return InputError(
        f"{name}: has a line of more than {_LONGEST_LINE} bytes, or more than {_LONGEST_LIST} bytes"
        " in all. Write a name, a pattern or a folder on each line"
    )


def _of_lines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        word = line.removeprefix("\ufeff").strip()  # the byte order mark of some editors
        if word and not word.startswith("#"):
            yield from [word] if word.startswith((_LIST, _STANDARD_INPUT)) else _named(word)


def _files(folder: Path) -> Iterator[str]:
    with reading(folder):
        files = [str(path) for path in sorted(folder.iterdir()) if _may_be_instance(path)]
    if not files:
        raise UsageError(f"{folder}: has no files of instances. Specify a folder that has some")
    yield from files


def _may_be_instance(path: Path) -> bool:
    is_hidden = path.name.startswith(".")
    return path.is_file() and not is_hidden and path.suffix.lower() not in _SOLUTIONS


def _matching(pattern: str) -> Iterator[str]:
    """Yield the files that match a pattern, or else the names in the catalogue that do."""
    path = expanded(pattern)
    matching = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = [str(file) for file in sorted(matching) if file.is_file()]
    names = files or [name for name in catalogue().names() if fnmatchcase(name, pattern)]
    if not names:
        raise UsageError(
            f"{pattern}: matches no file and no instance of the catalogue. See the names with:"
            " islands instances list"
        )
    yield from names
