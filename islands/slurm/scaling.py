"""The same islands on 1, 2, 4, ... nodes of one job: generations per second, and equal digests."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from islands.errors import RunError, UsageError
from islands.inside import inside
from islands.paths import published
from islands.progress.result import Result
from islands.record.folder import FINISHED
from islands.record.solution import finished
from islands.slurm.allocation import Allocation
from islands.slurm.attempts import JobAttempts
from islands.slurm.command_line import Check, CommandWords, of_one_run
from islands.slurm.continuation import continues
from islands.slurm.run_job import run_job, say
from islands.text import show

TABLE = "scaling.csv"


def run_scaling(words: Sequence[str], check: Check) -> int:
    """Run the same islands on increasing numbers of nodes; print and write the table."""
    allocation = Allocation.of(os.environ)
    given = CommandWords(words)
    if not any(word.startswith("generations=") for word in _values(words, "--stop")):
        raise UsageError(
            "a scaling test compares equal work. Add --stop generations=N, such as"
            " --stop generations=2000"
        )
    folder = given.folder or Path("runs") / f"{allocation.name}-{allocation.job}"
    options = given.without("--out")
    results: list[tuple[int, Result]] = []
    for nodes in powers_of_two(len(allocation.ranks)):
        place = inside(folder, f"nodes-{nodes}")
        is_done = (place / FINISHED).exists()
        if not (
            is_done and continues(CommandWords(options), place, JobAttempts(place), allocation.job)
        ):
            status = run_job(options, of_one_run(check), place, nodes=nodes)
            if status != 0:
                return status
        ended = finished(place, goes_on=False)
        if ended is None:
            raise RunError(f"{place}: the run ended without a result. Its log.txt gives the reason")
        results.append((nodes, ended.result))
    _write(inside(folder, TABLE), results)
    first, *others = ((nodes, result.digest) for nodes, result in results)
    for nodes, digest in others:
        if digest != first[1]:
            raise RunError(
                f"{folder}: the runs on {first[0]} and {nodes} nodes have different digests,"
                f" {first[1]} and {digest}. Compare their run.toml, and report this"
            )
    say(f"same digest on all numbers of nodes: {first[1]}")
    return 0


def powers_of_two(limit: int) -> list[int]:
    """Return 1, 2, 4, ... and the limit itself."""
    return sorted({1 << exponent for exponent in range(limit.bit_length())} | {limit})


def _write(path: Path, results: Sequence[tuple[int, Result]]) -> None:
    """Print the table, and write it."""
    rows = list(_rows(results))
    with published(path) as temporary, temporary.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    show("  nodes  ranks  generations/s  speedup  efficiency")
    for row in rows:
        show(
            f"{row['nodes']:>7} {row['ranks']:>6} {row['generations_per_second']:>14.1f}"
            f" {row['speedup']:>8.2f} {row['efficiency']:>11.2f}"
        )
    show(f"The table is in {path}")


def _rows(results: Sequence[tuple[int, Result]]) -> list[dict[str, float]]:
    speeds = [result.generations / result.seconds for _, result in results]
    return [
        {
            "nodes": nodes,
            "ranks": result.ranks,
            "generations": result.generations,
            "seconds": result.seconds,
            "generations_per_second": speed,
            "speedup": speed / speeds[0],
            "efficiency": speed / speeds[0] / nodes,
        }
        for (nodes, result), speed in zip(results, speeds, strict=True)
    ]


def _values(words: Sequence[str], name: str) -> list[str]:
    """Return all values of a repeatable option."""
    after = [words[place + 1] for place, word in enumerate(words[:-1]) if word == name]
    return [*after, *(word.partition("=")[2] for word in words if word.startswith(f"{name}="))]
