"""Parallel tempering on orders: ladders of Markov chains at different temperatures.

A replica proposes exchanges of two items, whose deltas are stored, and accepts them by the
Metropolis rule. Replicas at neighbouring temperatures exchange them after each generation. An
island sets its temperatures itself, from the mean cost at each temperature while it cools down.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import (
    Algorithm,
    Launch,
    Rounds,
    Schedule,
    Shape,
    Step,
    TeamExchanges,
    reset_setting,
)
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Block
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem
    from islands.problems.qap_choice import Choice

_WIDE_LOW, _WIDE_HIGH = 0.001, 0.4
"""The temperatures between which an island cools down, relative to the mean change of the cost."""
_EXCESS = 0.2, 0.75
"""How the ends of a ladder are chosen; see kernels/tempering/ladder.cuh. On sko100a, tho150 and
tai60b, replicas between them neither freeze nor lose all structure."""
_EXCESS_ROUGH = 0.405, 0.485
"""The same for unstructured instances: close to the temperature at which tai100a freezes."""
_EXCESS_CHOICE = 0.04, 0.1
"""The same for each chosen place, if places are chosen."""
_WIDE_CHOICE = 0.1, 2.0
_LOOKS = 4  # proposals for each place that a block looks at together if places are chosen
_EFFORT, _EFFORT_ROUGH = 0.35, 0.6
"""Number of sweeps as which an accepted exchange counts. With the second one, replicas take equally
long on an H100; it delays good solutions of structured instances, as hot replicas propose less."""
_EFFORT_MOVES = 4
"""Number of proposals as which an accepted move counts: a block looks again at those after it."""
_WIDE_MOVES = 1e-6, 1.0
_SHARES = 0.002, 0.05
"""The accepted climbs of a proposal at the coldest and the hottest temperature of moves. With 0.2
at the hottest, routes, cuts and flow shops were 10 to 25 % further from the best known values."""
_SHARES_STEPS = 0.002, 0.15
"""The same for steps that a state proposes, most of which climb: after ten seconds on two threads,
job shops were 3.2 and 3.4 % from the best known values with 0.05, and 2.6 and 1.9 % with 0.15
(ta32js, dmu42); flow shops were alike. After only 200,000 evaluations, a shop of 20 x 10 was 3.4 %
above its bound instead of 1.5 %."""
RUNGS_OF_CORE, RUNGS_OF_MOVES = 4, 2
"""Default rungs for the core of a knapsack, and for moves."""
_WIDE_CORE = 0.001, 0.05
_SHARES_CORE = 5e-5, 3e-3
_WARP = Block(32, 16)
"""A warp looks at the free items of a core, which are 40 to 80: more threads would wait for each
other. On one H100, 16 warps a multiprocessor made 1.0 to 1.2e11 exchanges a second; 20, which have
too few registers, 0.9 to 1.1e11."""
_EFFORT_CORE = 300
"""The same for the core of a knapsack."""
_GUESSES = 32
"""Number of moves that a replica proposes at once if others evaluate them; at least the samples of
the first generation."""
_PROGRESS = 7  # words of `Progress` of kernels/tempering/plan.cuh
LEAST_PROPOSALS = 400
"""The default of `proposals`, which defaults of large problems exceed."""
PRICE = "price"
"""The field with the factor of the price of violations, of each ladder."""
_ENCODINGS = {"order": "permutation", "subset": "bits", "keys": "keys", "vector": "vector"}
"""The encoding whose genomes are solutions, by kind of solution."""
_ROWS = 2.0
"""Number of rows of pairs that take as long as an accepted exchange if places are chosen."""
_C_TYPES = {
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
}
_RENEWED = 0.5, 1.0
"""The rungs whose replicas are renewed, as shares of the ladder."""
_KEPT_FROM, _KEPT_TO = 300, 2048
"""Numbers of items for which deltas are kept between generations; computing them again takes little
time for fewer items, and keeping them too much memory for more."""
_MOST_KEPT = 4 << 30  # bytes of the deltas of all replicas on a device


@dataclass(frozen=True)
class TemperingSettings(Settings):
    """The settings of parallel tempering."""

    rungs: int = setting(
        8, "temperatures of a ladder; the population consists of whole ladders", low=2, high=64
    )
    sweeps: int = setting(
        96,
        "work of a replica per generation, in sweeps over all pairs of items; if an island sets its"
        " temperatures, at most 96 while it cools down, and an accepted exchange counts as 0.35"
        " sweeps, as 0.6 if the instance is unstructured, as two rows of pairs if it is a choice",
        low=1,
        high=1_000_000,
    )
    coldest: float = setting(
        0.0,
        "lowest temperature, relative to the mean change of the cost by an exchange; 0: set by each"
        " island",
        low=0,
        high=10,
    )
    hottest: float = setting(
        0.0, "highest temperature, in the same unit; 0: set by each island", low=0, high=10
    )
    tuning: int = setting(
        40,
        "generations in which an island cools down, after which it sets its temperatures",
        low=1,
        high=2**31 - 1,
    )
    patience: int = setting(
        100,
        "generations without improvement before the hotter half of a ladder is renewed; 0: never;"
        " if state= has a crossover, all but its best are, and the default is 10,"
        " or 200 for steps with a GPU",
        low=0,
        high=2**31 - 1,
    )
    descent: int = setting(
        0,
        "generations at each temperature in which a replica descends from the hottest to the"
        " coldest, after which it begins again with a child; 0: temperatures are exchanged instead",
        low=0,
        high=2**31 - 1,
    )
    proposals: int = setting(
        LEAST_PROPOSALS,
        "own problems and knapsacks: moves that a replica proposes per generation; an accepted one"
        " counts as four more, of a knapsack as 300; with state=, the default is 40 for each item,"
        " 2 for steps with a GPU; 600, or 60 with a GPU, if the state learns; 10 if it searches",
        low=1,
        high=1_000_000_000,
    )
    cycle: int = setting(
        0,
        "own problems: generations of the first annealing, in which all replicas cool down, and of"
        " which each next one has twice as many; 0: ladders, whose replicas exchange temperatures",
        low=0,
        high=2**31 - 1,
    )
    reset: int = reset_setting()

    def check(self) -> None:
        super().check()
        if (self.coldest > 0) != (self.hottest > 0):
            raise UsageError(
                f"coldest={self.coldest:g} and hottest={self.hottest:g}: set both temperatures, or"
                " leave both out"
            )
        if self.coldest > self.hottest:
            raise UsageError(
                f"coldest={self.coldest:g}: must be at most hottest={self.hottest:g}. Lower the"
                " former, or raise the latter"
            )


class Tempering(Algorithm):
    """Ladders of replicas on each island."""

    name: ClassVar[str] = "tempering"
    header: ClassVar[Header] = Header("algorithms/tempering.cuh")
    encodings: ClassVar[tuple[str, ...]] = ("permutation", "bits", "keys", "vector")
    improves: ClassVar[bool] = False
    needs: ClassVar[str] = "moves whose change of the cost can be computed"
    Settings: ClassVar[type[Settings]] = TemperingSettings

    def __init__(
        self, settings: TemperingSettings, population: int, encoding: str = "permutation"
    ) -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        self._tuning = 0 if settings.coldest > 0 else settings.tuning
        if population % settings.rungs:
            below = population // settings.rungs * settings.rungs
            near = [str(each) for each in (below, below + settings.rungs) if each > 0]
            raise UsageError(
                f"population={population}: must be a multiple of rungs={settings.rungs}. Choose"
                f" {' or '.join(near)}, or other rungs"
            )

    @classmethod
    def takes(cls, problem: Problem, given: Mapping[str, Any]) -> bool:
        usual = RUNGS_OF_MOVES if problem.chains.proposals else TemperingSettings.rungs
        rungs = given.get("rungs", usual if problem.core is None else RUNGS_OF_CORE)
        population = given.get("population", 0)
        return not (str(population).isdigit() and str(rungs).isdigit()) or (
            int(rungs) == 0 or int(population) % int(rungs) == 0
        )

    @classmethod
    def standstill(
        cls, settings: TemperingSettings, population: int, size: int, *, is_warm: bool
    ) -> int:
        # Twice the tuning, which ends frozen, and an annealing.
        tuning = 0 if settings.coldest > 0 else 2 * settings.tuning
        return population + tuning + settings.cycle

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return (
            problem.swaps is not None or problem.core is not None or bool(problem.chains.proposals)
        )

    @classmethod
    def reads(cls, problem: Problem, encoding: str) -> bool:
        return encoding == _ENCODINGS[problem.solution_kind]

    def prepare(self, problem: Problem, shape: Shape) -> None:
        self._choice, self._moves = _choice_of(problem), problem.chains.proposals
        self._steps = problem.chains.has_steps
        self._core = problem.core
        self._counts = bool(self._moves) or self._core is not None
        self._shape = shape
        self._stated = problem.kind.moving(self._moves)
        self._adapts = bool(self._moves) and problem.scale.adapts_price
        self.children = _GUESSES if self._moves else 1
        self.few_threads = self._choice is None and self._core is None
        self.block = _WARP if self._core is not None else None
        self._excess, self._effort = _EXCESS, _EFFORT_MOVES if self._moves else _EFFORT
        if self._core is not None:
            self._effort = _EFFORT_CORE
        if problem.swaps is not None and problem.swaps.is_unstructured:
            self._excess, self._effort = _EXCESS_ROUGH, _EFFORT_ROUGH
        bytes_kept = shape.individuals * _bytes_of_deltas(shape.pitch)
        is_worth_it = _KEPT_FROM <= shape.pitch <= _KEPT_TO and bytes_kept <= _MOST_KEPT
        self._keeps = is_worth_it and self._choice is None and not self._counts
        if self._choice is not None:
            share = self._choice.chosen / self._choice.size
            self._excess = _EXCESS_CHOICE[0] * share, _EXCESS_CHOICE[1] * share
            self._effort = _ROWS / self._choice.chosen

    def defines(self) -> Macros:
        counting = {"TEMPERING_SHARES": "1"} if self._counts else {}
        if self._moves:
            counting |= {"TEMPERING_TRIES": "1", **self._stated}
        if self._adapts:
            counting["TEMPERING_ADAPTS"] = "1"
        if self._core is not None:
            counting["TEMPERING_PAIRS"] = str(self._core.pairs)
        return {**_types(self._choice), **counting, "TEMPERING_KEEPS": str(int(self._keeps))}

    def items(self, problem: Problem) -> int:
        if self._counts and not self._moves:
            return 32  # each thread evaluates a proposal
        if self._moves:
            # Each thread evaluates a proposal, or all of them one.
            return 32 if problem.evaluation.is_serial else problem.evaluation.items
        # A few rows of pairs at once, so that little is in vain if one of them is accepted.
        return problem.evaluation.items if self._choice is None else _LOOKS * self._choice.size

    def fields(self, shape: Shape) -> dict[str, Field]:
        size, ladders = shape.population, shape.population // self.settings.rungs
        kept = {}
        if self._keeps:
            each = _bytes_of_deltas(shape.pitch)
            kept["deltas"] = Field((size, each), np.uint8, kind="scratch")
            kept["deltas_of"] = Field((size,), np.int64, kind="scratch")
        if self._moves:
            kept["roughness"] = Field((size,), np.float64)
            kept["progress"] = Field((size, _PROGRESS), np.int64, kind="scratch")
        if self._adapts:
            kept[PRICE] = Field((ladders,), np.float64)
        if self._core is not None:
            kept["variant"] = Field((ladders,), np.int64)
        if self._counts:
            kept |= {
                "climbs": Field((size,), np.int64),
                "proposals": Field((size,), np.int64),
                "shares": Field((ladders, max(1, self._tuning)), np.float64),
                "range": Field((ladders, 2), np.float64),
            }
        return {
            **kept,
            "state": Field((size, shape.pitch), shape.gene),
            "energy": Field((size,), np.int64),
            "held": Field((size,), np.int64),
            "rung": Field((size,), np.int32),
            "mate": Field((size,), np.int32),
            "temperature": Field((size,), np.float64),
            "heat": Field((ladders, max(1, self._tuning)), np.float64),
            "records": Field((ladders, 2), np.int64),
        }

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        if self._moves:
            return {}
        if problem.core is not None:  # of this instance: others share the algorithm
            return problem.core.tables(self._shape.pitch)
        assert problem.swaps is not None, "the problem fits"
        tables = problem.swaps.tables()
        if self._choice is not None:
            tables |= {"weights": self._choice.weights, "alone": self._choice.alone}
            tables["symmetries"] = self._choice.symmetries()
        return tables

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        def all_of(replicas: str, judge: str, ladders: str) -> tuple[Step, ...]:
            rounds = (Rounds((Launch(judge, shape.jobs, None),), judge == later),) if judges else ()
            return (
                *(Launch(replicas, shape.jobs, None), *rounds, TeamExchanges()),
                Launch(ladders, shape.islands),
            )

        judges, later = outside and bool(self._moves), "judge_replicas"
        return Schedule(
            start=all_of("first_replicas", "judge_first_replicas", "first_ladders"),
            generation=all_of("advance_replicas", later, "end_ladders"),
            adopt=(Launch("adopt_immigrants", shape.islands),),
        )

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings, deltas = self.settings, arrays.get("deltas")
        is_given = settings.coldest > 0
        wide = (_WIDE_LOW, _WIDE_HIGH) if self._choice is None else _WIDE_CHOICE
        wide = _WIDE_MOVES if self._moves else _WIDE_CORE if self._core is not None else wide
        return Struct(
            rungs=np.int32(settings.rungs),
            sweeps=np.int32(settings.proposals if self._counts else settings.sweeps),
            patience=np.int32(settings.patience),
            renewed_from=np.int32(_RENEWED[0] * settings.rungs),
            renewed_to=np.int32(_RENEWED[1] * settings.rungs),
            descent=np.int32(settings.descent),
            tuning=np.int32(self._tuning),
            # With given temperatures, states have Boltzmann's distribution; see base.cuh.
            effort=np.float64(0 if is_given else self._effort),
            low=np.float64(settings.coldest if is_given else wide[0]),
            high=np.float64(settings.hottest if is_given else wide[1]),
            cold_excess=np.float64(self._excess[0]),
            hot_excess=np.float64(self._excess[1]),
            unit=arrays.get("unit", Null(np.float64)),
            alike_places=arrays.get("alike_places", Null(np.int32)),
            **{name: arrays[name] for name in _FIELDS},
            deltas=Null(np.uint8) if deltas is None else deltas,
            deltas_bytes=np.int64(0 if deltas is None else deltas.shape[-1]),
            deltas_of=arrays.get("deltas_of", Null(np.int64)),
            **self._counting(arrays),
            **self._of_core(arrays),
            **self._chosen(arrays),
        )

    def _counting(self, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """Return the members of the plan for chains that count what they accept."""
        if not self._counts:
            return {}
        names = ["climbs", "proposals", "shares", "range"]
        names += ["roughness", "progress"] if self._moves else []
        names += [PRICE] if self._adapts else []
        cold, hot = _SHARES if self._moves else _SHARES_CORE
        if self._steps:
            cold, hot = _SHARES_STEPS
        return {
            "cold_share": np.float64(cold),
            "hot_share": np.float64(hot),
            "cycle": np.int32(self.settings.cycle),
            **{name: arrays[name] for name in names},
        }

    def _of_core(self, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """Return the members of the plan for the core of a knapsack."""
        core = self._core
        if core is None:
            return {}
        return {
            **{name: arrays[name] for name in _TABLES},
            "variants": np.int32(len(core.variants)),
            "largest": np.int32(core.largest),
            "places": np.int32(core.places),
            "scale": arrays["scale"],
            "variant": arrays["variant"],
        }

    def numbers(self) -> Hashable:
        return None if self._core is None else self._core.likeness

    def _chosen(self, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """Return the members of the plan that state a choice of places."""
        if self._choice is None:
            return {}
        return {
            "weights": arrays["weights"],
            "alone": arrays["alone"],
            "scale": np.int64(self._choice.scale),
            "symmetries": arrays["symmetries"],
            "symmetry_count": np.int32(arrays["symmetries"].shape[1]),
            "chosen": np.int32(self._choice.chosen),
        }


def _choice_of(problem: Problem) -> Choice | None:
    """Return the choice of places that a problem is; None for another one, which may not fit."""
    return None if problem.swaps is None else problem.swaps.choice


def _types(choice: Choice | None) -> Macros:
    """Return the types of weights and fields for a choice of places."""
    if choice is None:
        return {}
    kinds = {"WEIGHT": choice.weights, "FIELD": choice.alone}
    return {f"TEMPERING_{name}": _C_TYPES[array.dtype.name] for name, array in kinds.items()}


def _bytes_of_deltas(items: int) -> int:
    """Return the bytes of an entry for each pair, in rows that kernels/core/triangle.cuh pads."""
    return 8 * (items * (items - 1) // 2 + 32 * items)


_FIELDS = ("state", "energy", "held", "rung", "mate", "temperature", "heat", "records")
"""The fields in the order of `algorithm::Plan`."""
_TABLES = (
    *("packed", "gains", "rows", "shifts", "core", "rounded", "levels"),
    *("sizes", "prices", "slops"),
)
"""The tables of a core, in the same order."""
