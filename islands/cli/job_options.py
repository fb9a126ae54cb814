"""The options of a Slurm job, and the types of their values."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from islands.slurm.gpus import Gpus
from islands.slurm.time_limit import time_limit


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a job."""
    job = parser.add_argument_group("the job")
    add = job.add_argument
    add("--nodes", metavar="N", type=_positive, default=1, help="nodes (1)")
    words = "GPUs of each node, one for each rank (from site.env, or 1)"
    add("--gpus-per-node", metavar="[TYPE:]G", type=_gpus, help=words)
    add("--ranks-per-node", metavar="R", type=_positive, help="ranks of each node without GPUs (1)")
    add("--cpus-per-task", metavar="C", type=_positive, help="cores of each rank")
    words = "time limit of each attempt of the job, such as 90s, 30m, 1h or 1-12:00:00"
    add("--time", metavar="T", type=_limit, help=words)
    for name in ("partition", "account", "qos", "constraint", "mem"):
        metavar = "NAME" if name != "mem" else "SIZE"
        add(f"--{name}", metavar=metavar, type=_name, help=f"passed to sbatch --{name}")
    add("--job-name", metavar="NAME", type=_name, help="name of the job (the name of the instance)")
    words = "any other option of sbatch, such as exclusive or nodelist=n[1-2]; repeatable"
    add("--sbatch", metavar="NAME[=VALUE]", action="append", default=[], help=words)
    add("--site", metavar="FILE", type=Path, help="settings of the cluster (./site.env)")
    words = "a job array: a run for each of these seeds, such as 1-10 or 1,5,9"
    add("--array", metavar="SEEDS", type=_numbers, help=words)
    words = "a job array: a run for each value of a setting; repeatable, then for all combinations"
    add("--over", metavar="KEY=A,B,C", action="append", type=_values, default=[], help=words)
    add("--at-once", metavar="N", type=_positive, help="concurrent runs of the array (all)")
    add("--dry-run", action="store_true", help="check and print the script; submit nothing")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def _gpus(text: str) -> Gpus:
    try:
        return Gpus.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from error


def _name(text: str) -> str:
    if not text or any(letter in "\n\r" for letter in text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a name. Leave the option out")
    return text


def _limit(text: str) -> str:
    try:
        return time_limit(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from error


def _numbers(text: str) -> list[int]:
    """Return the seeds of 1-10 or 1,5,9."""
    found: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word.strip())
        if match is None:
            raise argparse.ArgumentTypeError(f"{text!r} must be seeds such as 1-10 or 1,5,9")
        if int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(
                f"{text!r}: write the lower end first, {match[2]}-{match[1]}"
            )
        found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return found


def _values(text: str) -> tuple[str, list[str]]:
    key, equals, values = text.partition("=")
    found = [value.strip() for value in values.split(",")]
    if not (key.strip() and equals and all(found)):
        raise argparse.ArgumentTypeError(f"{text!r}: write KEY=A,B,C, such as rho=0.6,0.7")
    return key.strip(), found
