"""The options of `islands bench`, grouped by the benchmarks that use them."""

import argparse
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from islands.cli.arguments import NAME, SETTINGS, Naming, positive, whole_number
from islands.errors import UsageError
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.rivals.contest import RIVALS
from islands.text import either

_MOST_ISLANDS = 1 << 20
_INSTANCES, _METHODS = "instances", "methods"


@dataclass(frozen=True)
class BenchOption:
    """An option with the name and the default of a field of `BenchRequest`."""

    field: str
    metavar: str
    """Empty for a switch."""
    kind: Callable[[str], Any] | None
    """None for a switch, and for an option that may be repeated."""
    help: str
    default: str = ""
    """The description of the default, if the value alone does not describe it."""
    purpose: str = ""
    """A word that options of different benchmarks share if they serve the same purpose."""

    @property
    def name(self) -> str:
        """The option as it is written on the command line."""
        return f"--{self.field.replace('_', '-')}"

    def declare(self, group: argparse._ArgumentGroup) -> None:
        """Declare the option, without a value in the namespace by default."""
        arguments: dict[str, Any] = {"help": self.help}
        if not self.metavar:
            arguments["action"] = "store_true"
        elif self.kind is None:
            arguments |= {"action": "append", "metavar": self.metavar, "type": SETTINGS}
        else:
            value = getattr(BenchRequest, self.field)
            default = ",".join(map(str, value)) if isinstance(value, tuple) else value
            arguments |= {"type": self.kind, "metavar": self.metavar}
            arguments["help"] += f" (default: {self.default or default})".replace("%", "%%")
        group.add_argument(self.name, default=argparse.SUPPRESS, **arguments)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options, grouped by the benchmarks that use them."""
    for benchmarks, options in OPTIONS.items():
        group = parser.add_argument_group(either(benchmarks, "and"))
        for option in options:
            option.declare(group)


def reject_unused(given: Collection[str], requested: Collection[str]) -> None:
    """Reject options that no requested benchmark uses; `given` are the names of their fields."""
    used = [
        option
        for names, options in OPTIONS.items()
        if {*names} & {*requested}
        for option in options
    ]
    for benchmarks, options in OPTIONS.items():
        for option in options:
            if option.field in given and option not in used:
                raise _unused(option, benchmarks, requested, used)


def _unused(
    option: BenchOption,
    benchmarks: Sequence[str],
    requested: Collection[str],
    used: Collection[BenchOption],
) -> UsageError:
    similar = [other.name for other in used if other.purpose and other.purpose == option.purpose]
    fix = f"Use {' or '.join(similar)}" if similar else "Leave it out"
    names = list(dict.fromkeys(requested))
    return UsageError(
        f"{option.name}: an option of {either(benchmarks, 'and')}, but {either(names, 'and')}"
        f" {'was' if len(names) == 1 else 'were'} requested. {fix}"
    )


def _numbers(text: str, low: int = 1, high: int = _MOST_ISLANDS) -> tuple[int, ...]:
    try:
        numbers = tuple(dict.fromkeys(map(int, text.split(","))))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < low or max(numbers) > high:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be whole numbers from {low} to {high}, separated by commas"
        )
    return numbers


def _gaps(text: str) -> tuple[float, ...]:
    """Return gaps in per cent, the largest first."""
    try:
        gaps = {float(gap.strip().removesuffix("%")) for gap in text.split(",")}
    except ValueError:
        gaps = set()
    if not gaps or not all(0 <= gap < math.inf for gap in gaps):
        raise argparse.ArgumentTypeError(
            f"{text!r} must be numbers in per cent from 0, separated by commas, such as 0.01%,0%"
        )
    return tuple(sorted(gaps, reverse=True))


def _generations(text: str) -> int:
    number = text.removeprefix("generations=")
    if number == text or not (number.isascii() and number.isdigit()) or int(number) < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be generations=N with N from 1, so that all ranks do the same work"
        )
    return int(number)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split(",")))


_NAMES = Naming(convert=_names)
_COUNT = whole_number()
_DELAYS = partial(_numbers, low=0, high=1)
_OF = "instances, sets, and patterns of names"
_STOP = "the generations that one rank completes in half of --limit"
_COLONY = "settings of a colony; repeatable (default: depends on the problem)"
_VARIANT = (
    "settings KEY=VALUE of a method, and a file for --config; repeatable (default: the default run)"
)
_BOTH = "100,200,500 cities and 20 facilities if neither is given"
_RIVALS = f"also run these programs, for as long and on as many cores: {', '.join(RIVALS)}"

OPTIONS: dict[tuple[str, ...], tuple[BenchOption, ...]] = {
    ("brkga", "de", "cellular", "ga", "pso", "eax", "decoders"): (
        BenchOption("generations", "G", _COUNT, "generations per repetition"),
    ),
    ("topologies", "migration", "colonies"): (
        BenchOption("islands_a_rank", "N", _COUNT, "islands per rank"),
        BenchOption("migrants", "M", _COUNT, "individuals that each island sends per migration"),
    ),
    ("topologies", "migration"): (
        BenchOption("population", "P", _COUNT, "individuals per island"),
    ),
    ("topologies",): (
        BenchOption("islands", "N,N", _numbers, "numbers of islands"),
        BenchOption("genes", "N", _COUNT, "genes per individual"),
    ),
    ("migration", "colonies"): (
        BenchOption("topology", "NAME", NAME, "which islands send migrants to which"),
        BenchOption("interval", "G", _COUNT, "generations between two migrations"),
    ),
    ("migration",): (
        BenchOption("instances", "A,B", _NAMES, "instances", purpose=_INSTANCES),
        BenchOption("delay", "D,D", _DELAYS, "migrations until migrants arrive, 0 or 1"),
    ),
    ("migration", "recording"): (
        BenchOption("seconds", "S", positive, "approximate seconds per repetition"),
    ),
    ("quality", "colonies", "gpus"): (
        BenchOption(
            "limit", "S", positive, "time limit of a run, which ends at the best known value"
        ),
        BenchOption("seeds", "R", _COUNT, "runs per instance and method"),
        BenchOption(
            "every", "G", _COUNT, "generations between checks of the best cost", "cuda 10, cpu 1"
        ),
    ),
    ("colonies",): (
        BenchOption("mixes", "A,B", _NAMES, "instances, also FILE.py:NAME", purpose=_INSTANCES),
        BenchOption("colony", "SETTINGS", None, _COLONY, purpose=_METHODS),
    ),
    ("quality", "gpus"): (
        BenchOption("of", "A,B", _NAMES, _OF, "sac94 for quality; for gpus, see below", _INSTANCES),
    ),
    ("quality", "many", "gpus"): (
        BenchOption("variant", "SETTINGS", None, _VARIANT, purpose=_METHODS),
    ),
    ("quality", "many"): (BenchOption("rivals", "A,B", _names, _RIVALS, "none"),),
    ("many",): (
        BenchOption("cities", "N,N", _numbers, "sizes of random tours", _BOTH),
        BenchOption("facilities", "N,N", _numbers, "sizes of random assignments", _BOTH),
    ),
    ("gpus",): (
        BenchOption("gap", "G%,G%", _gaps, "targets, as gaps to the best known value", "0%"),
        BenchOption("stop", "generations=N", _generations, "length of timed runs", _STOP),
        BenchOption("own_defaults", "", None, "use the defaults for each number of ranks"),
        BenchOption("share_gpu", "", None, "allow several ranks on one GPU"),
    ),
}
"""The options, by the benchmarks that use them."""
