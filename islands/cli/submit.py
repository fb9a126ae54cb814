"""Write, check and submit the script of a Slurm job."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from shlex import join

from islands.cli import run
from islands.errors import UsageError
from islands.slurm.time_limit import time_limit
from islands.text import counted

_EXAMPLES = """
The options above "the job" are those of `islands run`. Account, partition, modules and so on are
read from site.env (copy and edit the one of the package); options override it.

examples:
  islands submit national/sw24978 --nodes 2 --gpus-per-node 4 --time 1h --stop seconds=50m
  islands submit tsplib/berlin52 --array 1-10 --time 10m           seeds 1 to 10 and one table
  islands submit tsplib/berlin52 tsplib/eil51 --over rho=0.6,0.7,0.8 --array 1-5 --time 10m
  islands submit demo/qap --backend cpu --nodes 2 --ranks-per-node 2 --time 5m --dry-run
"""
_OWN = "the job"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands submit`: those of a run, and those of a job."""
    run.add_arguments(parser)
    parser.epilog = _EXAMPLES
    job = parser.add_argument_group(_OWN)
    add = job.add_argument
    add("--nodes", metavar="N", type=_positive, default=1, help="nodes (1)")
    add("--gpus-per-node", metavar="G", type=_natural, help="GPUs and ranks of each node (1)")
    add("--ranks-per-node", metavar="R", type=_positive, help="ranks of each node without GPUs (1)")
    add("--cpus-per-task", metavar="C", type=_positive, help="cores of each rank")
    words = "time limit of each part of the job, such as 90s, 30m, 1h or 1-12:00:00"
    add("--time", metavar="T", type=_limit, help=words)
    for name in ("partition", "account", "qos", "constraint", "mem"):
        add(
            f"--{name}",
            metavar="NAME" if name != "mem" else "SIZE",
            help=f"passed to sbatch --{name}",
        )
    add("--job-name", metavar="NAME", help="name of the job (that of the instance)")
    words = "any other option of sbatch, such as exclusive or nodelist=n[1-2]; repeatable"
    add("--sbatch", metavar="NAME[=VALUE]", action="append", default=[], help=words)
    add("--site", metavar="FILE", type=Path, help="settings of the cluster (./site.env)")
    words = "a job array: a run for each of these seeds, such as 1-10 or 1,5,9"
    add("--array", metavar="SEEDS", type=_numbers, help=words)
    words = "a job array: a run for each value of a setting; repeatable, then for all combinations"
    add("--over", metavar="KEY=A,B,C", action="append", type=_values, default=[], help=words)
    add(
        "--at-once",
        metavar="N",
        type=_positive,
        help="runs of the array at once (all)",
    )
    add("--dry-run", action="store_true", help="print the script, have it checked, submit nothing")


def main(args: argparse.Namespace) -> int:
    """Check, write and submit the job; print its number and its folder."""
    from islands.paths import writing
    from islands.record.folder import fresh, refuse_unfit
    from islands.slurm.directives import directives_from
    from islands.slurm.site import directives_of, find_site
    from islands.slurm.submit import require_accepted, submit
    from islands.slurm.sweep import LIST
    from islands.slurm.template import script

    elements = _elements(args)
    _require_runnable(args, elements)
    site = find_site(args.site)
    directives = directives_from(args, directives_of(site))
    refuse_unfit(args.out, force=args.force)
    name = directives.setdefault("job-name", _name(args))
    is_sweep = len(elements) > 1
    folder = args.out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"

    def text(folder: Path) -> str:
        if is_sweep:
            limit = f"%{args.at_once}" if args.at_once else ""
            place = {"array": f"1-{len(elements)}{limit}", "output": f"{folder}/slurm/%A-%a.out"}
            words, template = [str(folder / LIST), "--out", str(folder)], "sweep"
        else:
            place, template = {"output": f"{folder}/slurm/%j.out"}, "run"
            words = [*elements[0], "--out", str(folder)]
        return script(template, directives | place, words, site, folder)

    require_accepted(text(folder))
    if args.dry_run:
        print(text(folder), end="")
        return 0
    if args.out is None:
        folder = fresh(Path("runs"), folder.name)
    if is_sweep:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / LIST).write_text("".join(f"{join(words)}\n" for words in elements))
    job = submit(text(folder), folder, len(elements) if is_sweep else None)
    if args.json:
        print(json.dumps(vars(job)))
        return 0
    what = f", an array of {counted(len(elements), 'run')}" if is_sweep else ""
    print(f"job {job.job}{what}: {folder}")
    print(f"follow it with: islands status {folder}   or: islands watch {folder}")
    return 0


def _elements(args: argparse.Namespace) -> list[list[str]]:
    """Return the options of each run: one, or one for each combination of the array."""
    if args.runs is not None:
        raise UsageError(
            f"--runs {args.runs}: a job array runs several seeds. Write --array 1-{args.runs}"
        )
    options = _words_of_run(args)
    instances = args.instances or []
    if args.array and args.seed is not None:
        raise UsageError(f"--seed {args.seed}: --array has the seeds. Leave one of them out")
    seeds = [["--seed", str(seed)] for seed in args.array] if args.array else [[]]
    axes = [[["--set", f"{key}={value}"] for value in values] for key, values in args.over]
    return [
        [*each[0], *options, *(word for part in each[1:] for word in part)]
        for each in product([[name] for name in instances] or [[]], *axes, seeds)
    ]


def _words_of_run(args: argparse.Namespace) -> list[str]:
    """Return the options of the run as they were given, without instances and folder."""
    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    words: list[str] = []
    for action in parser._actions:
        value = getattr(args, action.dest, None)
        if not action.option_strings or action.dest in ("help", "out", "json") or not value:
            continue
        name = action.option_strings[0]
        if value is True:
            words.append(name)
        else:
            many = value if isinstance(value, list) else [value]
            words += [word for each in many for word in (name, str(each))]
    return words


def _require_runnable(args: argparse.Namespace, elements: Sequence[Sequence[str]]) -> None:
    """Refuse options that the runs would refuse, as far as this machine can know."""
    from islands.run.request import resolved
    from islands.slurm.directives import ranks_of_node
    from islands.spec.resolve import layers

    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    checked: set[tuple[str, ...]] = set()
    for words in elements:
        without_seed = tuple(words[:-2] if args.array else words)
        if without_seed in checked:
            continue
        checked.add(without_seed)
        given = parser.parse_args(list(words))
        spec, _ = resolved(layers(run.options(given), given.config))
        ranks = args.nodes * ranks_of_node(args, None)
        if spec.general.islands < ranks:
            raise UsageError(
                f"--islands {spec.general.islands}: fewer than the {ranks} ranks of the job. Name"
                f" --islands {ranks} or more, or fewer nodes or GPUs"
            )


def _name(args: argparse.Namespace) -> str:
    from islands.spec.resolve import DEFAULT_INSTANCE

    first = (args.instances or [DEFAULT_INSTANCE])[0]
    return re.sub(r"[^\w.-]+", "-", Path(first).stem or "islands")


def _positive(text: str) -> int:
    number = _natural(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return number


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


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
