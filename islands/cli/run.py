"""The commands that solve instances and resume runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import indent, wrap
from typing import TYPE_CHECKING, Any

from islands.algorithms import ALGORITHMS
from islands.algorithms.operators import CROSSOVERS, MUTATIONS
from islands.cli import arguments
from islands.cli.batch import is_name, resume_batch, run_batch, trust_config
from islands.configuration.given import Given, gathered
from islands.configuration.request import DEFAULT_INSTANCE, Request
from islands.configuration.spec import GeneralSettings
from islands.configuration.stop import CRITERIA
from islands.encodings import ENCODINGS
from islands.errors import IslandsError, RunError, UsageError
from islands.improvers import IMPROVERS
from islands.migration import TOPOLOGIES, MigrationSettings
from islands.parallel import world
from islands.presets import PRESETS
from islands.text import show

if TYPE_CHECKING:
    from islands.cells.series import Series
    from islands.configuration.resolved import Resolved
    from islands.engine.single import Output
    from islands.parallel import World
    from islands.progress.result import Result

PARTS = ("algorithm", "encoding", "improver", "crossover", "mutation", "migration")
"""The options that select parts, which may come from scripts."""
_SETTINGS = (
    *("format", "preset", "islands", "colony", "population", *PARTS),
    *("interval", "migrants", "seed", "start", "stop", "bound", "backend", "threads"),
)
"""The names of the options that are settings."""
_INSTANCES = arguments.Naming(lambda text, args: [text] if not args.batch or is_name(text) else [])
_KINDS = "\n".join(wrap("  ".join(kind.example for kind in CRITERIA.values()), 80))
_RUN_EPILOG = f"""
stopping criteria; the first that is satisfied ends the run:
{indent(_KINDS, "  ")}
  (seconds=5m and seconds=2h mean minutes and hours; stagnation counts generations)

examples:
  islands run                                       the built-in demo
  islands run tsplib/berlin52 --stop gap=1% --stop seconds=30
  islands run national/zi929 --preset xavier2019 --seed 7 --json
  islands run tsplib/berlin52 tsplib/eil51 --runs 10 --out ten    20 runs and a table
  islands run gk/gk01 --set infeasible=drop --stop best-known
  islands run mine.py:problem --algorithm ga --crossover mine.py:Spread    parts from a script
  mpirun -n 4 python -m islands run national/mu1979 --islands 16
  islands run --colony 'islands=4 algorithm=brkga' --colony 'islands=4 algorithm=ga'
  islands run 'orlib/mknapcb1-*' --batch --stop seconds=1 --out knapsacks    30 instances
  islands run --config runs/zi929-20260101-120000/run.toml
"""
_RESUME_EPILOG = """
A finished run prints its result again. Only the stopping criteria can be changed. If the file of
the instance or the script of a part has moved, specify its new path.

examples:
  islands resume runs/zi929-20260101-120000
  islands resume runs/zi929-20260101-120000 --stop generations=5000 --json
  mpirun -n 4 python -m islands resume runs/zi929-20260101-120000
  islands resume runs/zi929-20260101-120000 --crossover elsewhere/mine.py:Spread
"""


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands run`."""
    parser.epilog = _RUN_EPILOG
    add = parser.add_argument
    text = "instances: set/name, a bare name, a path or FILE.py:NAME"
    text += f" (default: {DEFAULT_INSTANCE})"
    add("instances", nargs="*", metavar="INSTANCE", type=_INSTANCES, help=text)
    what = parser.add_argument_group("settings (defaults < preset < --config < options)")
    add = what.add_argument
    add_settings(what)
    text = "a colony: islands with these settings, such as 'islands=4 algorithm=de F=0.9';"
    text += " repeatable"
    add("--colony", metavar="SETTINGS", action="append", type=arguments.SETTINGS, help=text)
    text = "runs per instance, with seeds S, S+1, ...; each seed solves all instances (default: 1)"
    add("--runs", metavar="R", type=arguments.runs("a single run"), help=text)
    text = "solve many instances, several at a time, each on one thread or on the GPU of its rank:"
    text += " names, patterns ('orlib/mknapcb1-*'), folders, @FILE with a list, - for stdin"
    add("--batch", action="store_true", help=text)
    text = "add this solution to the first generation; repeatable"
    add("--start", metavar="FILE", action="append", help=text)
    text = "stopping criterion, see below; repeatable"
    add("--stop", metavar="KIND=VALUE", action="append", help=text)
    text = "compute a bound on the optimum after the search: for tsp, in a fifth of the search time"
    text += " (at least 2 s); for mkp, in the same time (at least 20 s)"
    add("--bound", action="store_true", default=None, help=text)
    device = add_device(parser)
    text = "let ranks run without waiting for each other; not reproducible, no checkpoints"
    device.add_argument("--async", dest="asynchronous", action="store_true", help=text)
    output = parser.add_argument_group("output")
    add = output.add_argument
    text = "folder for the files of the run, or of all runs (default: runs/NAME-DATE-TIME)"
    add("--out", metavar="DIR", type=arguments.folder, help=text)
    add("--force", action="store_true", help="overwrite the files of previous runs in --out")
    text = "at the end, draw the solution to solution.png in the folder of the run"
    add("--plot", action="store_true", help=text)
    text = "write the tour as GeoJSON, for maps, if cities have longitude and latitude"
    add("--geojson", metavar="FILE", type=Path, help=text)
    add_output(output)


def add_settings(group: argparse._ArgumentGroup) -> None:
    """Declare the options for the settings of one or several runs."""
    add = group.add_argument
    text = f"complete settings of a published experiment: {', '.join(PRESETS)}"
    add("--preset", metavar="NAME", help=text)
    text = "a file of settings, such as the run.toml of another run"
    add("--config", metavar="FILE.toml", type=Path, help=text)
    text = "run scripts that are only named in --config or in the folder of earlier runs, even if"
    text += " these were not written by you on this machine"
    add("--trust", action="store_true", help=text)
    arguments.add_format(group)
    text = "any setting by name, such as rho=0.7 or infeasible=drop; repeatable"
    add("--set", metavar="KEY=VALUE", action="append", type=arguments.SETTING, help=text)
    part = partial(add, metavar="NAME", type=arguments.NAME)
    part("--algorithm", help=f"{', '.join(ALGORITHMS)}; or FILE.py:NAME")
    part("--encoding", help=", ".join(ENCODINGS))
    part("--improver", help=f"local search: {', '.join(IMPROVERS)}")
    part("--crossover", help=f"for ga, cellular and memetic: {', '.join(CROSSOVERS)}")
    part("--mutation", help=f"for ga and cellular: {', '.join(MUTATIONS)}")
    add("--islands", metavar="N", help=GeneralSettings.words("islands"))
    add("--population", metavar="P", help=GeneralSettings.words("population"))
    text = f"which islands send migrants to which: {', '.join(TOPOLOGIES)}"
    part("--migration", metavar="TOPOLOGY", help=text)
    add("--interval", metavar="G", help=MigrationSettings.words("interval"))
    add("--migrants", metavar="M", help=MigrationSettings.words("migrants"))
    add("--seed", metavar="S", help=GeneralSettings.words("seed"))


def add_device(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Declare the options for devices and ranks, which may change when a run is resumed."""
    device = parser.add_argument_group("devices and ranks")
    add = device.add_argument
    text = "auto, cpu or cuda; auto: a GPU if there is one, otherwise the CPU"
    add("--backend", metavar="NAME", help=text)
    text = "threads of the cpu backend (default: all cores); with --batch on a GPU, number"
    text += " of kinds of instances solved at the same time (default: 4)"
    add("--threads", metavar="T", type=arguments.threads, help=text)
    add("--share-gpu", action="store_true", help="let ranks share a GPU")
    return device


def add_output(group: argparse._ArgumentGroup) -> None:
    """Declare the options for the output of a run."""
    group.add_argument("--quiet", action="store_true", help="print only the result")
    text = "print one JSON object; everything else goes to stderr"
    group.add_argument("--json", action="store_true", help=text)


def run(args: argparse.Namespace) -> int:
    """Solve instances, once or with several seeds, in one process or under mpirun."""
    from islands.cells.series import SeriesPlan, run_series
    from islands.engine.build import RankOptions
    from islands.engine.runner import run_requested

    output = output_of(args, args.out, force=args.force)
    request = of_arguments(args)  # raises the same errors on all ranks
    rank_options = RankOptions(share_gpu=args.share_gpu, asynchronous=args.asynchronous)
    if args.plot:
        _require_plot(args)
    prepare = None if args.geojson is None else _required_of_maps(args)
    ranks = world()
    with ranks.guarded(show_traceback=args.debug):
        if args.geojson is not None:
            ranks.from_first(partial(_require_folder, args.geojson))
        if args.batch:
            return run_batch(args, request, ranks, output, rank_options)
        if args.runs is None and not args.instances[1:]:
            result = run_requested(
                request,
                ranks,
                output,
                rank_options=rank_options,
                allow_no_solution=True,
                prepare=prepare,
            )
            if args.plot and ranks.rank == 0:
                _plot(result, output)
            if args.geojson is not None and ranks.rank == 0:
                _write_geojson(result, args.geojson, output)
            return ended(result, ranks, as_json=args.json)
        trust_config(args, ranks)
        runs = args.runs or 1
        planned = partial(SeriesPlan.of, args.instances, runs, request)
        series = run_series(ranks.run_on_all(planned), ranks, output, rank_options)
        return ended(series, ranks, as_json=args.json)


def output_of(args: argparse.Namespace, folder: Path | None, *, force: bool = False) -> Output:
    """Return the output of a command according to its options."""
    from islands.engine.single import Output

    stream = sys.stderr if args.json else sys.stdout
    return Output(writes=True, folder=folder, force=force, stream=stream, quiet=args.quiet)


def _require_plot(args: argparse.Namespace) -> None:
    """Before the run, reject --plot for several runs or without Matplotlib."""
    _require_one_run(
        args,
        "--plot draws the solution of one run. Leave it out, and draw any run later"
        " with: islands plot DIR",
    )
    arguments.require_extra("--plot", "matplotlib")


def _require_one_run(args: argparse.Namespace, message: str) -> None:
    if args.runs is not None or args.instances[1:]:
        raise UsageError(message)


def _required_of_maps(args: argparse.Namespace) -> Callable[[Resolved], Resolved]:
    """Reject --geojson for several runs, or if its file exists; return a check of the problem."""
    from islands.report.maps import require_places

    text = "--geojson writes the tour of one run. Leave it out, and write the tour of any run"
    text += " later with: islands plot DIR --out FILE.geojson"
    _require_one_run(args, text)
    if args.batch:
        raise UsageError(text)
    if args.geojson.is_file() and not args.force:
        raise UsageError(
            f"--geojson {args.geojson}: exists. Specify another file, or pass --force to overwrite"
            " it"
        )

    def required(resolved: Resolved) -> Resolved:
        require_places(resolved.problem)
        return resolved

    return required


def _require_folder(path: Path) -> None:
    """Reject a path for --geojson whose folder does not exist."""
    if not path.absolute().parent.is_dir():
        raise UsageError(
            f"--geojson {path}: the folder {path.parent} does not exist. Create it, or specify"
            " another file"
        )


def _write_geojson(result: Result, path: Path, output: Output) -> None:
    """Write the tour of a finished run; if this fails, print a message."""
    from islands.report.maps import write_map

    if result.records is None:
        return
    try:
        if result.cost is None:  # its solution is infeasible
            raise RunError("the run has found no tour")
        write_map(result.records.problem, result.solution, path)
        text = f"Wrote {path}"
    except IslandsError as error:
        text = f"islands: no GeoJSON: {error}"
    show(text, file=output.stream)


def _plot(result: Result, output: Output) -> None:
    """Draw the solution of a finished run; if this fails, print a message."""
    from islands.record.folder import FINISHED
    from islands.report.pictures import write_picture

    if result.folder is None or not Path(result.folder, FINISHED).exists():
        return
    try:
        path, notes = write_picture(Path(result.folder))
        text = "\n".join([*(f"islands: {note}" for note in notes), f"Drew {path}"])
    except IslandsError as error:
        text = f"islands: no picture: {error}"
    show(text, file=output.stream)


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands resume`."""
    parser.epilog = _RESUME_EPILOG
    text = "the folder of a run (see --out of islands run)"
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=text)
    text = "the problem, FILE.py:NAME, if its cost is a Python function, or the script has moved"
    parser.add_argument("script", metavar="FILE.py:NAME", nargs="?", type=arguments.NAME, help=text)
    text = "stopping criterion; replaces those of the run, even if it is finished; repeatable"
    parser.add_argument("--stop", metavar="KIND=VALUE", action="append", help=text)
    moved = parser.add_argument_group("files that have moved")
    add = partial(moved.add_argument, type=arguments.NAME)
    add("--instance", metavar="FILE", help="the instance, or FILE.py:NAME")
    for part in PARTS:
        text = f"the {part} from a script; repeatable if colonies have several"
        add(f"--{part}", metavar="FILE.py:NAME", action="append", help=text)
    text = (
        "run scripts that the folder names, and compile code that it contains, even if these were"
    )
    text += " not written by you on this machine"
    parser.add_argument("--trust", action="store_true", help=text)
    add_device(parser)
    add_output(parser.add_argument_group("output"))


def of_resume(args: argparse.Namespace) -> Request:
    """Return the request of `islands resume`."""
    names = ("stop", "instance", *PARTS, "backend", "threads")
    given = {name: getattr(args, name) for name in names}
    given["instance"] = args.script or args.instance
    return Request.of({name: value for name, value in given.items() if value is not None})


def resume(args: argparse.Namespace) -> int:
    """Resume a run from its last checkpoint, with the same or another number of ranks."""
    if args.script is not None and args.instance is not None:
        raise UsageError(f"{args.script} and --instance {args.instance}: specify the problem once")
    from islands.engine.build import RankOptions
    from islands.engine.runner import resume_requested
    from islands.record.folder import is_batch

    output = output_of(args, args.folder)
    ranks = world()
    with ranks.guarded(show_traceback=args.debug):
        rank_options = RankOptions(share_gpu=args.share_gpu)
        if ranks.from_first(lambda: is_batch(args.folder)):
            return resume_batch(args, of_resume(args), ranks, output, rank_options)
        result = resume_requested(args.folder, of_resume(args), ranks, output, rank_options)
        return ended(result, ranks, as_json=args.json)


def ended(result: Result | Series, ranks: World, *, as_json: bool) -> int:
    """Print the JSON result if requested, and return the exit status; collective.

    If files could not be written, print the solution and raise an error. Also raise an error if a
    complete run, or all runs of an instance, did not find a feasible solution.
    """
    from islands.engine.signals import INTERRUPTED_STATUS, SUSPENDED_STATUS
    from islands.problems import hint_of
    from islands.progress.result import Result
    from islands.record.folder import FINISHED

    if as_json and ranks.rank == 0:
        show(result.to_json())
    if error := result.write_error:
        last = result if isinstance(result, Result) else result.results[-1]
        if ranks.rank == 0 and not as_json and not Path(str(last.folder), FINISHED).exists():
            show(f"Solution: {json.dumps(last.items())}")
        ranks.agree_on(RunError(error))
    if isinstance(result, Result):
        hint = hint_of(result.problem)
        ranks.run_on_all(lambda: result.require_solution(hint))
    else:
        ranks.run_on_all(lambda: result.require_solutions(hint_of))
    # A launcher may end the other ranks as soon as one rank exits with an error status.
    ranks.barrier()
    if result.suspended:
        return SUSPENDED_STATUS
    return INTERRUPTED_STATUS if result.interrupted else 0


def of_arguments(args: argparse.Namespace) -> Request:
    """Return the request of `islands run` or `tune`, including the instances."""
    values = ((name, getattr(args, name, None)) for name in _SETTINGS)  # tune has no --bound
    given = [Given(_typed(name, value), name, value) for name, value in values if value is not None]
    if args.instances:
        value = args.instances if args.instances[1:] else args.instances[0]
        given.append(Given(" ".join(args.instances), "instance", value))
    return Request(gathered([*given, *map(of_set, args.set or [])]), args.config)


def _typed(name: str, value: Any) -> str:
    """Return an option as the user wrote it."""
    if value is True:
        return f"--{name}"
    return " ".join(f"--{name} {v}" for v in (value if isinstance(value, list) else [value]))


def of_set(text: str) -> Given:
    """Return the setting of `--set TEXT`."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and key and value):
        raise UsageError(f"--set {text}: write KEY=VALUE, such as --set rho=0.7")
    return Given(f"--set {text}", key, value)
