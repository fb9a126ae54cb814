"""The commands that follow the work of another process or job in its folder."""

from __future__ import annotations

import argparse
import codecs
import json
import os
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from islands.cli import arguments
from islands.display.curve import state_of_rows
from islands.display.heartbeat import read_work
from islands.display.terminal import StatusLine, is_terminal
from islands.inside import inside, opened
from islands.record.one_run import warnings
from islands.studies.clusters import follow
from islands.studies.clusters.follow import (
    JobState,
    counted_states,
    is_sweep,
    log_of,
    state_of,
    states_of,
)
from islands.text import escaped, one_line, show

if TYPE_CHECKING:
    from islands.studies.pages.folders import LivePage

_LOG_SECONDS, _STATE_SECONDS = 0.5, 5.0
_MOST_BYTES = 1 << 20
"""The maximum number of bytes of a log that are printed at once."""
_BLOCKS = 40
"""The width of the curve of costs in the last line of a terminal."""
_DECODER = codecs.getincrementaldecoder("utf-8")
_FOLDER = "the folder of a run, series, tuning, experiment, benchmark, job or sweep"
_EXAMPLES = """
It prints the rows of a run as they are written, and the current run, configuration or instance of
other work, until the work ends. The exit status is 1 if the work has failed.

examples:
  islands watch runs/zi929-20260101-120000     a run, also in a Slurm job
  islands watch ten                            a series, a tuning, islands reproduce or bench
  islands watch ten --page ten.html            also as a page that a browser reloads
"""


def add_status(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands status`."""
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=_FOLDER)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def status(args: argparse.Namespace) -> int:
    """Show the state of a run, other work, a job or a sweep."""
    if is_sweep(args.folder):
        return _print_sweep(args.folder, states_of(args.folder), as_json=args.json)
    state, messages = state_of(args.folder), warnings(args.folder)
    if args.json:
        show(json.dumps({"folder": str(args.folder), "warnings": messages} | asdict(state)))
        return 0
    show(f"{_name(args.folder)}: {state}")
    for warning in messages:
        show(f"warning: {warning}")
    if state.progress:
        show(f"last row: {one_line(state.progress)}")
    return 0


def _print_sweep(folder: Path, states: dict[int, JobState], *, as_json: bool) -> int:
    if as_json:
        counts = Counter(state.word for state in states.values())
        elements = {str(number): asdict(state) for number, state in states.items()}
        show(json.dumps({"folder": str(folder), "counts": counts, "elements": elements}))
        return 0
    show(f"{_name(folder)}: {counted_states(states)}")
    for number, state in states.items():
        if state.word not in ("done", "queued"):
            show(f"{number:>7}  {state}")
    for number in states:
        for warning in warnings(inside(folder, str(number))):
            show(f"warning: {warning}")
    return 0


def _name(path: Path) -> str:
    """Return a path as escaped text on one line."""
    return escaped(str(path), kept="")


def add_collect(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands collect`."""
    text = "the folder of a sweep, in which each run has a folder 1, 2, ..."
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=text)


def collect(args: argparse.Namespace) -> int:
    """Write one table of all runs of a sweep, and name the unfinished ones."""
    from islands.cli import main

    done, is_complete = follow.collect(args.folder)
    if done:  # one page that compares the runs
        main(["report", *map(str, done), "--out", str(args.folder / "report.html")])
    return 0 if is_complete else 1


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands watch`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=_FOLDER)
    words = "also write a live report to FILE (.html or .htm), updated until the work ends"
    parser.add_argument("--page", metavar="FILE", type=Path, help=words)


def watch(args: argparse.Namespace) -> int:
    """Show the progress of work that another process or a job is doing."""
    page: LivePage | None = None
    if args.page is not None:
        from islands.studies.pages.folders import LivePage  # imports Matplotlib

        page = LivePage(args.folder, args.page, _STATE_SECONDS)
    try:
        watch_folder = _watch_sweep if is_sweep(args.folder) else _watch_one
        return watch_folder(args.folder, page)
    except KeyboardInterrupt:
        if page is not None:
            page.update(is_final=True)  # so that browsers do not reload it any more
        raise


def _watch_one(folder: Path, page: LivePage | None) -> int:
    """Print the log and the state of a run, a job or other work until it ends."""
    for warning in warnings(folder):
        show(f"warning: {warning}")
    status = StatusLine(sys.stdout) if is_terminal(sys.stdout) else None
    name = _name(folder)
    log, shown, shown_work, read_at = _Log(status), "", "", -_STATE_SECONDS
    try:
        while True:
            if time.monotonic() - read_at >= _STATE_SECONDS:
                state, read_at = state_of(folder), time.monotonic()
                if page is not None and not state.is_final:
                    page.update(is_final=False)
            if (work := read_work(folder)) is not None and work.words != shown_work:
                log.say(f"{name}: {work}")
                shown_work = work.words
            # The line about the work already implies that it is running.
            is_implied = shown_work and state.word == "running" and state.job is None
            if state.word != shown and not (state.is_final or is_implied):
                log.say(f"{name}: {state}")
                shown = state.word
            log.show(log_of(folder))
            if state.is_final:
                log.say(f"{name}: {state}")
                if page is not None:
                    page.update(is_final=True)
                return 1 if state.word == "failed" else 0
            time.sleep(_LOG_SECONDS)
    finally:
        if status is not None:
            status.wipe()


def _watch_sweep(folder: Path, page: LivePage | None) -> int:
    """Print the states of the runs of a sweep whenever they change."""
    shown = ""
    while True:
        states = states_of(folder)
        if (counts := counted_states(states)) != shown:
            show(f"{_name(folder)}: {counts}")
            shown = counts
        has_ended = all(state.is_final for state in states.values())
        if page is not None:
            page.update(is_final=has_ended)
        if has_ended:
            return 1 if any(state.word == "failed" for state in states.values()) else 0
        time.sleep(_STATE_SECONDS)


class _Log:
    """Prints a log that another process writes, beginning with its last part.

    In a terminal, the last line shows the state of the run and its curve of costs.
    """

    def __init__(self, status: StatusLine | None = None) -> None:
        self._status, self._read = status, ""
        self._path: Path | None = None
        self._position = 0
        self._decoder = _DECODER("replace")

    def show(self, path: Path | None) -> None:
        """Print the text added since the last call, or the last part of a new log."""
        if path != self._path:
            self._show_rest()
            self._path, self._position, self._read = path, 0, ""
            if path is not None and (left_out := path.stat().st_size - _MOST_BYTES) > 0:
                self._position = left_out
                self.say(f"{_name(path)}: the first {left_out} bytes are left out")
        self._show_rest()
        if self._status is not None and (state := state_of_rows(self._read, _BLOCKS)):
            self._status.show(state)

    def say(self, text: str, end: str = "\n") -> None:
        """Print text above the last line."""
        if self._status is not None and text:
            self._status.wipe()
        show(text, end=end)

    def _show_rest(self) -> None:
        if self._path is None:
            return
        with opened(self._path) as stream:
            if os.fstat(stream.fileno()).st_size < self._position:
                self._position, self._read = 0, ""  # the run has started again
            stream.seek(self._position)
            # Read a limited part, as another process may write faster than it is printed.
            part = stream.read(_MOST_BYTES)
            self._position += len(part)
        text = self._decoder.decode(part)
        if self._status is not None:
            self._read = (self._read + text)[-_MOST_BYTES:]
        self.say(text, end="")
