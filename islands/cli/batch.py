"""Run many instances in one command, and go on with those that are left."""

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

from islands.configuration.asked import Asked
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

_OF_ONE_RUN = ("plot", "asynchronous", "start")
"""The options that instances on one thread each cannot have."""
_LIST = "@"
"""Begins the name of a file with a list of instances."""
_STANDARD_INPUT = "-"
_END = "--"
"""A line that ends standard input: `mpirun` of Open MPI does not pass on that a pipe is closed."""
_LOOK_SECONDS, _AT_ONCE = 0.1, 1 << 16
"""How often to look for the first line, and bytes of lines that are read at once."""
_LONGEST_LINE = 1 << 13
"""The most bytes of a line: more than any path has."""
_LONGEST_LIST = 1 << 26
"""The most bytes of a list that is a file."""
_SOLUTIONS = (".tour", ".sln", ".sol", ".opt", ".py", ".md", ".csv")
"""Suffixes of files next to instances in their folders, which are none themselves."""


def run_batch(
    args: argparse.Namespace,
    asked: Asked,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve all instances that the command names."""
    from islands.cells.batch import BatchPlan

    for name in _OF_ONE_RUN:
        if getattr(args, name):
            word = "async" if name == "asynchronous" else name
            raise UsageError(f"--{word} with --batch: is for single runs. Leave one of them out")

    arriving: Iterator[str | None] | None = None

    def planned() -> BatchPlan:
        nonlocal arriving
        names, arriving = begun(args.instances)
        if not names:
            raise UsageError(
                "--batch: no instances. Name some, such as 'orlib/mknapcb1-*', a folder, @FILE with"
                " a list, or - for standard input"
            )
        own = {name: value for name, value in asked.options.items() if name != "instance"}
        is_open = arriving is not None
        return BatchPlan(names, args.runs or 1, Asked(own, args.config), is_open)

    # Other hosts may lack the key.
    trust_files(ranks.from_first(lambda: signed_scripts(args.config, followed)))
    # Only rank 0 has the standard input.
    plan = ranks.from_first(planned)
    return _ended(plan, args, ranks, output, rank_options, arriving)


def resume_batch(
    args: argparse.Namespace,
    asked: Asked,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve the instances of a folder that are left."""
    from islands.cells.batch import BatchPlan

    if other := sorted({*asked.options} - {"backend", "threads"}):
        raise UsageError(
            f"{option(other[0])}: a batch keeps its settings. Leave it out, or begin another batch"
        )
    plan = ranks.from_first(lambda: BatchPlan.of_folder(args.folder, asked))
    return _ended(plan, args, ranks, output, rank_options)


def _ended(
    plan: BatchPlan,
    args: argparse.Namespace,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
    arriving: Iterator[str | None] | None = None,
) -> int:
    from islands.cells import batch

    def line(made: Mapping[str, Any]) -> None:
        show(json.dumps(made))
        sys.stdout.flush()

    lines = line if args.json else None
    end = batch.run_batch(plan, ranks, output, rank_options, lines=lines, arriving=arriving)
    ranks.barrier()
    return end.status


def begun(words: Sequence[str]) -> tuple[list[str], Iterator[str | None] | None]:
    """Return the names that are known, at least one, and those that come later.

    Later ones come from standard input, unless it is a file; None comes whenever there is no line.
    """
    if _STANDARD_INPUT not in words or not _may_wait(sys.stdin):
        return listed(words), None
    names = listed(word for word in words if word != _STANDARD_INPUT)
    later = _arriving(sys.stdin.fileno())
    for name in () if names else later:
        if name is not None:
            return [name], later
        time.sleep(_LOOK_SECONDS)
    return names, later


def _may_wait(stream: TextIO | None) -> bool:
    """Return whether lines may come later, as from a pipe or a terminal."""
    if stream is None:
        return False
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # it has no file
        return False


def _arriving(descriptor: int) -> Iterator[str | None]:
    for line in _lines_as_they_come(descriptor):
        if line is None:
            yield None
            continue
        if line.strip() == _END:
            return
        try:
            yield from [*_of_lines([line])]
        except (IslandsError, OSError, ValueError):
            yield line.strip()  # an error of its own, when it is its turn


def _lines_as_they_come(descriptor: int) -> Iterator[str | None]:
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
    """Return the names of all instances that the words of a command mean, each once.

    A word is a name; a pattern of files, or of names in the catalogue, such as
    `orlib/mknapcb1-*`; a folder; `@FILE`, a text file with a word on each line; or `-`, the same
    from standard input.
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
    elif (folder := expanded(word)).is_dir():
        yield from _files(folder)
    elif glob.has_magic(word) and not expanded(word).exists():
        yield from _matching(word)
    else:
        yield word


def is_name(word: str) -> bool:
    """Return whether a word of a command can only be a name: no list, and no pattern."""
    return not (word.startswith(_LIST) or glob.has_magic(word))


def _lines(stream: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of a list, which may be a device or damaged."""
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
        word = line.strip()
        if word and not word.startswith("#"):
            yield from [word] if word.startswith((_LIST, _STANDARD_INPUT)) else _named(word)


def _files(folder: Path) -> Iterator[str]:
    with reading(folder):
        files = [str(each) for each in sorted(folder.iterdir()) if _may_be_instance(each)]
    if not files:
        raise UsageError(f"{folder}: has no files of instances. Name a folder that has some")
    yield from files


def _may_be_instance(path: Path) -> bool:
    is_hidden = path.name.startswith(".")
    return path.is_file() and not is_hidden and path.suffix.lower() not in _SOLUTIONS


def _matching(pattern: str) -> Iterator[str]:
    """Yield the files that match a pattern, or else the names in the catalogue."""
    path = expanded(pattern)
    found = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = [str(each) for each in sorted(found) if each.is_file()]
    names = files or [each for each in catalogue().names() if fnmatchcase(each, pattern)]
    if not names:
        raise UsageError(
            f"{pattern}: matches no file and no instance of the catalogue. See the names with:"
            " islands instances list"
        )
    yield from names
