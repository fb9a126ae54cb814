"""The command that submits a Slurm job, and the commands of its batch script.

The script calls `python -m islands.cli.job run|sweep|scaling ...`.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain, product
from pathlib import Path
from shlex import join, quote
from typing import Any

from islands.cli import arguments, parsed
from islands.cli.run import add_run, of_arguments, of_resume
from islands.configuration.request import DEFAULT_INSTANCE
from islands.custom.trust import command, trust_typed
from islands.errors import IslandsError, UnwritableError, UsageError
from islands.record.claim import fresh
from islands.record.folder import JOB, reject_unfit, require_run
from islands.studies.clusters.command_line import Check, JobFacts
from islands.studies.clusters.jobs import output_in, reject_second_job
from islands.studies.clusters.run_job import run_job, run_scaling
from islands.studies.clusters.submit import (
    Gpus,
    directives_from,
    directives_of,
    find_site,
    require_accepted,
    require_fit,
    script,
    submit_job,
    time_limit,
)
from islands.studies.clusters.sweep import LIST, own_words, run_element
from islands.text import command_line, counted, show, unknown

IN_JOBS: dict[str, Callable[[list[str], Check], int]] = {
    "run": run_job,
    "sweep": lambda words, check: run_element(words, check, trust_words),
    "scaling": run_scaling,
}
"""The commands of the batch scripts."""
_EXAMPLES = """
The options above "the job" are those of `islands run`. Account, partition, modules and so on are
read from a file: that of --site, of the variable ISLANDS_SITE, ~/.config/islands/site.env, or
site.env next to the batch scripts. Copy and edit the last one; options override it.

examples:
  islands submit national/sw24978 --nodes 2 --gpus-per-node 4 --time 1h --stop seconds=50m
  islands submit tsplib/berlin52 --array 1-10 --time 10m           seeds 1 to 10 and one table
  islands submit tsplib/berlin52 tsplib/eil51 --over population=64,128 --array 1-5 --time 10m
  islands submit demo/qap --backend cpu --nodes 2 --ranks-per-node 2 --time 5m --dry-run
  islands submit resume runs/qap-20260101-120000 --backend cpu --nodes 4 --time 5m
"""


def add_submit(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands submit`: the options of a run, and of a job."""
    add_run(parser)
    parser.epilog = _EXAMPLES
    add = parser.add_argument_group("the job").add_argument
    number = arguments.whole_number()
    add("--nodes", metavar="N", type=number, default=1, help="nodes (default: 1)")
    text = "GPUs per node, one per rank (default: the value in site.env, or 1)"
    add("--gpus-per-node", metavar="[TYPE:]G", type=_option_type(Gpus.parse), help=text)
    text = "ranks per node without GPUs (default: 1)"
    add("--ranks-per-node", metavar="R", type=number, help=text)
    add("--cpus-per-task", metavar="C", type=number, help="cores per rank")
    text = "time limit of each attempt of the job, such as 90s, 30m, 1h or 1-12:00:00"
    add("--time", metavar="T", type=_option_type(time_limit), help=text)
    for name in ("partition", "account", "qos", "constraint", "mem"):
        metavar = "NAME" if name != "mem" else "SIZE"
        add(f"--{name}", metavar=metavar, type=_name, help=f"passed to sbatch --{name}")
    text = "name of the job (default: the name of the instance)"
    add("--job-name", metavar="NAME", type=_name, help=text)
    text = "any other option of sbatch, such as exclusive or nodelist=n[1-2]; repeatable"
    add("--sbatch", metavar="NAME[=VALUE]", action="append", default=[], help=text)
    add("--site", metavar="FILE", type=Path, help="settings of the cluster (see below)")
    text = "a job array: a run for each of these seeds, such as 1-10 or 1,5,9"
    add("--array", metavar="SEEDS", type=_seeds, help=text)
    text = "a job array: a run for each value of a setting; if repeated, for all combinations"
    add("--over", metavar="KEY=A,B,C", action="append", type=_values, default=[], help=text)
    add("--at-once", metavar="N", type=number, help="concurrent runs of the array (default: all)")
    add("--dry-run", action="store_true", help="check and print the script; submit nothing")


def _option_type(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return an option type that reports the message of a `ValueError` raised by `convert`."""

    def converted(text: str) -> Any:
        try:
            return convert(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} {error}") from error

    return converted


def _name(text: str) -> str:
    if not text or any(letter in "\n\r" for letter in text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a name. Leave the option out")
    return text


def _seeds(text: str) -> list[int]:
    """Return the seeds in a text such as `1-10` or `1,5,9`."""
    seeds: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word.strip())
        if match is None:
            raise argparse.ArgumentTypeError(f"{text!r} must be seeds such as 1-10 or 1,5,9")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise argparse.ArgumentTypeError(f"{text!r}: write the lower end first, {last}-{first}")
        seeds += range(first, last + 1)
    return seeds


def _values(text: str) -> tuple[str, list[str]]:
    key, equals, values = text.partition("=")
    listed = [value.strip() for value in values.split(",")]
    if not (key.strip() and equals and all(listed)):
        raise argparse.ArgumentTypeError(f"{text!r}: write KEY=A,B,C, such as rho=0.6,0.7")
    return key.strip(), listed


def submit(args: argparse.Namespace) -> int:
    """Write, check and submit the script of a Slurm job."""
    resumes = (args.instances or [])[:1] == ["resume"]
    elements = [_resume(args)] if resumes else _elements(args)
    for word in chain.from_iterable(elements):
        require_fit("the option", word)
    checks = _checks(args, elements)
    site = find_site(args.site)
    on_cpu = all(check.on_cpu for check in checks)
    directives = directives_from(args, directives_of(site), on_cpu=on_cpu)
    is_sweep = len(elements) > 1
    named = Path(elements[0][1]) if resumes else args.out
    name = directives.setdefault("job-name", _job_name(args))
    folder = named or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    if not resumes:
        reject_unfit(named, force=args.force)
    reject_second_job(folder)
    _require_writable(folder)

    def text(folder: Path) -> str:
        if is_sweep:
            limit = f"%{args.at_once}" if args.at_once else ""
            array, output = {"array": f"1-{len(elements)}{limit}"}, output_in(folder, "%A-%a.out")
            words, template = [str(folder / JOB / LIST), "--out", str(folder)], "sweep"
        else:
            array, output, template = {}, output_in(folder, "%j.out"), "run"
            words = elements[0] if resumes else [*elements[0], "--out", str(folder)]
        return script(template, directives | array | {"output": output}, words, site, folder)

    require_accepted(text(folder))
    show(f"settings of the site: {site}", file=sys.stderr)
    if args.dry_run:
        show(text(folder), end="")
        return 0
    if named is None:
        folder = fresh(Path("runs"), folder.name)
    job = submit_job(text(folder), folder, list(map(join, elements)) if is_sweep else None)
    if args.json:
        show(json.dumps(vars(job)))
        return 0
    array = f", an array of {counted(len(elements), 'run')}" if is_sweep else ""
    show(f"job {job.job}{array}: {folder}")
    quoted = quote(str(folder))
    show(f"follow it with: islands status {quoted}   or: islands watch {quoted}")
    return 0


def _elements(args: argparse.Namespace) -> list[list[str]]:
    """Return the options of the run, or of the runs of a job array."""
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
        [*instance, *options, *chain.from_iterable(varied)]
        for instance, *varied in product([[name] for name in instances] or [[]], *axes, seeds)
    ]


def _resume(args: argparse.Namespace) -> list[str]:
    """Return the words `resume DIR` and the options of the command line."""
    if len(args.instances) not in (2, 3):
        raise UsageError(
            "resume: specify the folder of one run, such as: islands submit resume DIR"
        )
    if args.array or args.over or args.out:
        raise UsageError(
            "resume with --array, --over or --out: a resumed run has one folder, in which it"
            " continues. Leave them out"
        )
    return [*args.instances, *_words_of_run(args)]


def _words_of_run(args: argparse.Namespace) -> list[str]:
    """Return the given options of the run, without instances and folder."""
    parser = argparse.ArgumentParser()
    add_run(parser)
    words: list[str] = []
    for action in parser._actions:
        value = getattr(args, action.dest, None)
        if not action.option_strings or action.dest in ("help", "out", "json") or not value:
            continue
        name = action.option_strings[0]
        if value is True:
            words.append(name)
        else:
            values = value if isinstance(value, list) else [value]
            words += chain.from_iterable((name, str(item)) for item in values)
    return words


def _checks(args: argparse.Namespace, elements: Sequence[Sequence[str]]) -> list[JobFacts]:
    """Reject options that the runs would reject, as far as they can be checked here."""
    without_seeds = {tuple(words[:-2] if args.array else words): None for words in elements}
    return [
        checked(words if words[:1] == ("resume",) else ("run", *words)) for words in without_seeds
    ]


def _require_writable(folder: Path) -> None:
    """Reject a folder that cannot be written; create nothing."""
    paths = (folder.absolute(), *folder.absolute().parents)
    existing = next(path for path in paths if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        raise UnwritableError(
            f"--out {folder}: {existing} is not a folder in which you may write. Specify"
            " another folder"
        )


def _job_name(args: argparse.Namespace) -> str:
    first = (args.instances or [DEFAULT_INSTANCE])[1 if args.instances[:1] == ["resume"] else 0]
    return re.sub(r"[^\w.-]+", "-", Path(first).stem or "islands")


def checked(words: Sequence[str]) -> JobFacts:
    """Check `run ...` or `resume DIR ...` as the user wrote it; return the facts about it."""
    args = parsed(list(words))
    with command(arguments.names_in(args), is_all=args.trust):
        return facts(words)


def trust_words(words: Sequence[str]) -> None:
    """Trust the scripts that the user names in `resume DIR ...` or in options of `islands run`."""
    args = parsed([*words] if words[:1] == ["resume"] else ["run", *words])
    trust_typed(arguments.names_in(args), is_all=args.trust)


def facts(words: Sequence[str]) -> JobFacts:
    """Check `run ...` or `resume DIR ...` of any origin, without trusting the scripts in it."""
    from islands.cells.series import SeriesPlan
    from islands.configuration.resolve import resolve
    from islands.engine.loading import load_and_resolve, stored_request

    args = parsed(list(words))
    if args.command == "resume":
        require_run(args.folder)
        request, problem = stored_request(args.folder, of_resume(args))
        return JobFacts(resolve(request, problem).spec.general.backend == "cpu")
    given = of_arguments(args)
    runs: tuple[str, ...] = ()
    if args.runs is None and not args.instances[1:]:
        specs = [load_and_resolve(given).spec]
    else:
        plan = SeriesPlan.of(args.instances, args.runs or 1, given)
        specs = [job.spec for job in plan.first]
        runs = tuple(job.folder for job in plan.planned())
    return JobFacts(all(spec.general.backend == "cpu" for spec in specs), runs)


def main(words: list[str]) -> int:
    """Run a command inside a job; return its exit status."""
    try:
        with command_line():
            return _run(words)
    except IslandsError as error:
        show(f"islands job: {error}", file=sys.stderr)
        return error.status


def _run(words: list[str]) -> int:
    if not words or words[0] not in IN_JOBS:
        raise UsageError(unknown("command", words[0] if words else "", IN_JOBS))
    name, *given = words
    with command(()):
        with suppress(UsageError):  # recorded later as the end of an attempt
            trust_words(own_words(given) if name == "sweep" else given)
        return IN_JOBS[name](given, facts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
