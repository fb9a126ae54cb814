"""Try configurations on instances and seeds, at random or on a grid, and rank them."""

from __future__ import annotations

import argparse
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from islands.cells import METRICS
from islands.cli import arguments
from islands.cli.run import PARTS, options
from islands.errors import Suspended, UsageError
from islands.parallel import InterruptedTogether, world
from islands.text import show

if TYPE_CHECKING:
    from islands.cells.store import Store as Ledger
    from islands.cells.tune import TuneResult
    from islands.cells.tuning import Tuning
    from islands.parallel import World

_CONFIGURATIONS, _STEPS, _RUNS = 10, 3, 5

_EXAMPLES = """
values of --over:
  rho=0.5..0.9            a range of numbers; of integers for a setting with integers
  population=16..1024:log a range with logarithmic scale
  selection=random,best   a list of values, also for preset, algorithm and encoding

examples:
  islands tune qaplib/nug20 qaplib/tai20a --over F=0.2..1 --over Cr=0..1 --algorithm de
  islands tune demo/qap --algorithm cellular --over neighbours=2,4,8 --grid 5 --runs 10
  islands tune tsplib/eil51 --algorithm brkga --over rho=0.5..0.9 --stop seconds=5 --out tuned
  islands run tsplib/eil51 --config tuned/best.toml
  islands tune sac94/weish30 --preset munhao2019-m1 --over c1=0.5..2 --over penalty=100..500

Configuration 0 has the given settings. To continue an interrupted tuning
with --out, repeat the command, also with more configurations or instances.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands tune`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    words = "instances: set/name, a bare name or a path"
    name = arguments.NAME
    parser.add_argument("instances", nargs="*", metavar="INSTANCE", type=name, help=words)
    what = parser.add_argument_group("configurations")
    add = what.add_argument
    words = "values of a setting: A..B, A..B:log or a,b,c; repeatable"
    values = arguments.CHOICES
    add("--over", metavar="KEY=VALUES", action="append", type=values, default=[], help=words)
    words = f"number of random configurations, drawn from the seed (default: {_CONFIGURATIONS})"
    add("--configurations", metavar="N", type=int, help=words)
    words = f"all combinations instead, with STEPS values per range (default: {_STEPS})"
    add("--grid", metavar="STEPS", type=int, nargs="?", const=_STEPS, help=words)
    words = "runs of each configuration on each instance, with seeds S, S+1, ..."
    words += f" (default: {_RUNS})"
    add("--runs", metavar="R", type=arguments.runs(f"{_RUNS}"), default=_RUNS, help=words)
    words = f"metric to average and test: {', '.join(METRICS)} (default: {METRICS[0]})"
    add("--metric", metavar="NAME", default=METRICS[0], help=words)
    _add_settings(parser.add_argument_group("common settings, as in islands run"))
    output = parser.add_argument_group("output")
    add = output.add_argument
    words = "folder for the files of the tuning (default: runs/tune-DATE-TIME)"
    add("--out", metavar="DIR", type=arguments.folder, help=words)
    add("--force", action="store_true", help="overwrite a previous tuning in --out")
    add("--quiet", action="store_true", help="print only the ranking")
    words = "print one JSON object; everything else goes to stderr"
    add("--json", action="store_true", help=words)


def _add_settings(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    words = "a file of settings, such as the run.toml of a run"
    add("--config", metavar="FILE.toml", type=Path, help=words)
    words = "run scripts that --config names, although you have not named them, and have not"
    words += " written the file on this machine"
    add("--trust", action="store_true", help=words)
    words = "any setting, such as rho=0.7"
    add("--set", metavar="KEY=VALUE", action="append", type=arguments.SETTING, help=words)
    for name in PARTS:
        metavar = "TOPOLOGY" if name == "migration" else "NAME"
        add(f"--{name}", metavar=metavar, type=arguments.NAME)
    names = {"format": "NAME", "preset": "NAME", "islands": "N", "population": "P"}
    names |= {"interval": "G", "migrants": "M", "seed": "S", "backend": "NAME"}
    for name, metavar in names.items():
        add(f"--{name}", metavar=metavar)
    add("--threads", metavar="T", type=arguments.threads)
    words = "stopping criterion of each run; repeatable. Concurrent runs of a configuration share"
    words += " the seconds; if any configuration needs sequential runs, all are sequential"
    add("--stop", metavar="KIND=VALUE", action="append", help=words)
    add("--colony", action="append", help=argparse.SUPPRESS)  # refused with a message of its own
    group.set_defaults(start=None)


def main(args: argparse.Namespace) -> int:
    """Tune, print the ranking and return the exit status."""
    from islands.cells.campaign import Campaign
    from islands.cells.ranking import table
    from islands.cells.tune import TuneOutput, refused, tune
    from islands.display.heartbeat import Heartbeat
    from islands.record.folder import BEST, RANKING, TUNING_TABLE, FolderKind
    from islands.run.signals import INTERRUPTED_STATUS

    stream = sys.stderr if args.json else sys.stdout
    ranks = world()
    is_first = ranks.rank == 0
    heartbeat = Heartbeat(sys.stderr if is_first and not args.quiet else None, "tune")

    def say(text: str) -> None:
        if is_first:
            heartbeat.print(text, stream)

    with ranks.guarded(show_traceback=args.debug):
        campaign = Campaign(ranks, heartbeat, FolderKind.TUNING)
        try:
            tuning = _tuning(args, ranks)
            with heartbeat:
                output = TuneOutput(args.out, args.force, say, args.quiet)
                done = tune(tuning, args.metric, output, campaign)
        except Suspended:
            return Suspended.status
        except InterruptedTogether:
            if ranks.size > 1:  # the interrupt has been reported
                return INTERRUPTED_STATUS
            raise
    if not is_first:
        return 0
    _write_provenance(done, args.metric, campaign.ledger)
    say(("" if args.quiet else "\n") + table(done.ranking))
    for reason in done.left_out.values():
        say(f"Left out: {reason}")
    if args.quiet and tuning.candidates.refused:
        say(refused(tuning.candidates))
    say(f"\nWrote {done.folder}: {TUNING_TABLE}, {RANKING}, {BEST}")
    if args.json:
        show(done.to_json())
    return 0


def _write_provenance(done: TuneResult, metric: str, ledger: Ledger) -> None:
    """Write what made the ranking: for rows of earlier commands only, what made those."""
    from islands.doctor.nvidia import driver
    from islands.record.folder import PROVENANCE
    from islands.record.provenance import provenance, write_provenance
    from islands.untrusted import bounded_text, parsing

    path = done.folder / PROVENANCE
    made = {**provenance(), "driver": driver(), "seconds": ledger.seconds()}
    if path.exists() and not ledger.has_new:
        with parsing(path):
            made = {**json.loads(bounded_text(path))}
    write_provenance(path, {**made, "metric": metric, "command": sys.argv[1:]})


def _tuning(args: argparse.Namespace, ranks: World) -> Tuning:
    """Return the tuning; refuse wrong options before the first run; collective."""
    from islands.cells.tuning import TuneRequest, Tuning, quality_criteria

    ranks.run_on_all(lambda: _refuse_wrong(args))
    given = {key: value for key, value in options(args).items() if key != "instance"}
    tuning = Tuning.of(
        TuneRequest(given, args.config),
        args.instances,
        args.over,
        args.runs,
        configurations=args.configurations or _CONFIGURATIONS,
        steps=args.grid,
        world=ranks,
    )

    def refuse_without_target() -> None:
        if args.metric == "evaluations" and not all(
            quality_criteria(task.spec) for task in tuning.tasks
        ):
            raise UsageError(
                "--metric evaluations: counts the evaluations until a target is reached. Set the"
                " target by --stop best-known, target=VALUE or gap=PERCENT"
            )

    ranks.run_on_all(refuse_without_target)
    return tuning


def _refuse_wrong(args: argparse.Namespace) -> None:
    if find_spec("scipy") is None:
        raise UsageError("tune needs scipy. Install it with: pip install 'islands[report]'")
    if args.metric not in METRICS:
        raise UsageError(f"--metric {args.metric}: must be {' or '.join(METRICS)}")
    if args.grid is not None and args.configurations is not None:
        raise UsageError(
            "--grid with --configurations: a grid determines the number. Leave one of them out"
        )
    for name in ("configurations", "grid"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} {value}: must be at least 1")
