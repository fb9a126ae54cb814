"""Run many instances in one command, and go on with those that are left."""

from __future__ import annotations

import argparse
import glob
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from islands.custom.trust import Trust
from islands.errors import UsageError
from islands.instances.catalogue import catalogue
from islands.parallel import RanksLostError
from islands.paths import expanded, reading
from islands.text import option, show
from islands.untrusted import followed

if TYPE_CHECKING:
    from islands.campaign.batch import BatchPlan
    from islands.parallel import World
    from islands.run.build import RankOptions
    from islands.run.single import Output

_OF_ONE_RUN = ("plot", "asynchronous", "fault_tolerant", "start")
"""The options that instances on one thread each cannot have."""
_LIST = "@"
"""Begins the name of a file with a list of instances."""
_STANDARD_INPUT = "-"
_SOLUTIONS = (".tour", ".sln", ".sol", ".opt", ".py", ".md", ".csv")
"""Suffixes of files next to instances in their folders, which are none themselves."""


def run_batch(
    args: argparse.Namespace,
    options: Mapping[str, Any],
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve all instances that the command names."""
    from islands.campaign.batch import BatchPlan

    for name in _OF_ONE_RUN:
        if getattr(args, name):
            word = "async" if name == "asynchronous" else name.replace("_", "-")
            raise UsageError(f"--{word} with --batch: is for single runs. Leave one of them out")

    def planned() -> BatchPlan:
        trust = Trust(is_full=args.trust).signed_in(args.config, followed)
        names = listed(args.instances)
        if not names:
            raise UsageError(
                "--batch: no instances. Name some, such as 'orlib/mknapcb1-*', a folder, @FILE with"
                " a list, or - for standard input"
            )
        own = {name: value for name, value in options.items() if name != "instance"}
        return BatchPlan(names, args.runs or 1, own, args.config, trust)

    # Only rank 0 has the standard input.
    plan = ranks.from_first(planned)
    return _ended(plan, args, ranks, output, rank_options)


def resume_batch(
    args: argparse.Namespace,
    options: Mapping[str, Any],
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    """Solve the instances of a folder that are left."""
    from islands.campaign.batch import BatchPlan

    if other := sorted({*options} - {"backend", "threads"}):
        raise UsageError(
            f"{option(other[0])}: a batch keeps its settings. Leave it out, or begin another batch"
        )
    trust = Trust(is_full=args.trust)
    plan = ranks.from_first(lambda: BatchPlan.of_folder(args.folder, options, trust))
    return _ended(plan, args, ranks, output, rank_options)


def _ended(
    plan: BatchPlan,
    args: argparse.Namespace,
    ranks: World,
    output: Output,
    rank_options: RankOptions,
) -> int:
    from islands.campaign import batch
    from islands.run.signals import INTERRUPTED_STATUS, SUSPENDED_STATUS

    def line(made: Mapping[str, Any]) -> None:
        show(json.dumps(made))
        sys.stdout.flush()

    end = batch.run_batch(plan, ranks, output, rank_options, lines=line if args.json else None)
    with suppress(RanksLostError):  # everything is written
        ranks.barrier()
    return batch.status_of(end, INTERRUPTED_STATUS, SUSPENDED_STATUS)


def listed(words: Iterable[str]) -> list[str]:
    """Return the names of all instances that the words of a command mean, each once.

    A word is a name; a pattern of files, or of names in the catalogue, such as
    `orlib/mknapcb1-*`; a folder; `@FILE`, a text file with a word on each line; or `-`, the same
    from standard input.
    """
    return list(dict.fromkeys(name for word in words for name in _named(word)))


def _named(word: str) -> Iterator[str]:
    if word == _STANDARD_INPUT:
        yield from _of_lines(sys.stdin.read())
    elif word.startswith(_LIST):
        path = expanded(word.removeprefix(_LIST))
        with reading(path):
            text = path.read_text(encoding="utf-8")
        yield from _of_lines(text)
    elif (folder := expanded(word)).is_dir():
        yield from _files(folder)
    elif glob.has_magic(word) and not expanded(word).exists():
        yield from _matching(word)
    else:
        yield word


def _of_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
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
