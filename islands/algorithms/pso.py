"""Particle swarm optimisation (Kennedy and Eberhart 1995); each island is a swarm.

On bits, the sigmoid of a velocity is the probability that the bit is set (Kennedy and Eberhart
1997; Munhao et al. 2019). Individuals of the population are the best positions of the particles.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from islands.algorithms import messages
from islands.algorithms.base import (
    Algorithm,
    Shape,
    require_even,
    require_interval,
    reset_setting,
)
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.source import Header
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import Settings, setting

_CONSTANT = "constant"
_SCHEDULES = ("linear", "early", "late")
_GLOBAL, _RING = "global", "ring"
_LARGEST_C, _MOST_NEIGHBOURS = 100.0, 1024
_FARTHEST, _FASTEST = 1e6, 1e30
_BITS = 32

# On bits, decaying velocities prevent convergence: velocity 0 sets a bit with probability 0.5.
_DEFAULT_INERTIA = {"keys": 0.7298, "bits": 1.0, "vector": 0.7298}
_DEFAULT_VELOCITY = 0.5  # of bounded genes: half of their range


@dataclass(frozen=True)
class PsoSettings(Settings):
    """The settings of a particle swarm, named as in the literature."""

    c1: float = setting(
        1.49618, "acceleration towards the particle's own best position", low=0, high=_LARGEST_C
    )
    c2: float = setting(
        1.49618, "acceleration towards the neighbourhood's best position", low=0, high=_LARGEST_C
    )
    inertia: float = setting(
        0.0,
        "inertia weight: share of the velocity that is kept; 0: 0.7298 for keys and vectors, 1 for"
        " bits",
        low=0,
        high=10,
        of="constriction=false",
    )
    schedule: str = setting(
        _CONSTANT,
        "how the inertia weight decreases to inertia_end: not at all (constant), evenly (linear),"
        " or mostly early or late",
        choices=(_CONSTANT, *_SCHEDULES),
        of="constriction=false",
    )
    inertia_end: float = setting(
        0.4, "final inertia weight", low=0, high=10, of="schedule=linear or early or late"
    )
    horizon: int = setting(
        1000,
        "generations until the inertia weight reaches inertia_end",
        low=1,
        high=2**31 - 1,
        of="schedule=linear or early or late",
    )
    velocity: float = setting(
        0.0,
        "maximum velocity; 0: no limit, or half of the range if genes are bounded",
        low=0,
        high=_FASTEST,
    )
    constriction: bool = setting(
        False,
        "whether to use a constriction factor (Clerc and Kennedy 2002) instead of inertia",
    )
    neighbourhood: str = setting(
        _GLOBAL,
        "particles that share their best positions: the whole swarm, or neighbours on a ring",
        choices=(_GLOBAL, _RING),
    )
    neighbours: int = setting(
        2,
        "neighbours of a particle on the ring, half on each side",
        low=2,
        high=_MOST_NEIGHBOURS,
        of="neighbourhood=ring",
    )
    low: float = setting(
        0.0,
        "lower bound of the initial keys",
        low=-_FARTHEST,
        high=_FARTHEST,
        of="encoding=keys",
    )
    high: float = setting(
        1.0,
        "upper bound of the initial keys",
        low=-_FARTHEST,
        high=_FARTHEST,
        of="encoding=keys",
    )
    reset: int = reset_setting()

    def check(self) -> None:
        super().check()
        if self.constriction and self.c1 + self.c2 <= 4:
            raise UsageError(
                f"constriction with c1={self.c1:g} + c2={self.c2:g} = {self.c1 + self.c2:g}:"
                " must be more than 4. Choose 2.05 for both, or constriction=false"
            )
        require_even(self.neighbours)
        require_interval(self.low, self.high)


class Pso(Algorithm):
    """Particle swarm optimisation on keys, vectors or bits."""

    name: ClassVar[str] = "pso"
    header: ClassVar[Header] = Header("algorithms/pso.cuh")
    encodings: ClassVar[tuple[str, ...]] = ("bits", "keys", "vector")
    same_slots: bool = True
    divides: ClassVar[bool | None] = True
    Settings: ClassVar[type[Settings]] = PsoSettings

    def __init__(self, settings: PsoSettings, population: int, encoding: str = "keys") -> None:
        super().__init__(self.completed(settings, encoding), population, encoding)
        self.patience = settings.reset
        if settings.neighbourhood == _RING and population <= settings.neighbours:
            raise UsageError(
                f"population={population}: a ring with neighbours={settings.neighbours} needs at"
                f" least {settings.neighbours + 1} particles. Raise population, or lower neighbours"
            )
        settings.require_effective(encoding=encoding)

    @classmethod
    def completed(cls, settings: PsoSettings, encoding: str) -> PsoSettings:
        if settings.constriction or settings.inertia:
            return settings
        return dataclasses.replace(settings, inertia=_DEFAULT_INERTIA[encoding])

    @classmethod
    def confined(cls, settings: PsoSettings) -> PsoSettings:
        if (settings.low, settings.high) != (PsoSettings.low, PsoSettings.high):
            raise messages.unused_bounds(low=settings.low, high=settings.high)
        return dataclasses.replace(settings, velocity=settings.velocity or _DEFAULT_VELOCITY)

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings, factor = self.settings, 1.0
        first, is_constant = settings.inertia, settings.schedule == _CONSTANT
        if settings.constriction:
            pulls = settings.c1 + settings.c2
            first = factor = 2 / (pulls - 2 + math.sqrt(pulls * (pulls - 4)))
        low, high = np.float32(settings.low), np.float32(settings.high)
        return Struct(
            own_pull=np.float32(factor * settings.c1),
            swarm_pull=np.float32(factor * settings.c2),
            first_inertia=np.float32(first),
            final_inertia=np.float32(first if is_constant else settings.inertia_end),
            horizon=np.int32(settings.horizon),
            schedule=np.int32(0 if is_constant else _SCHEDULES.index(settings.schedule)),
            side=np.int32(settings.neighbours // 2 * (settings.neighbourhood == _RING)),
            fastest=np.float32(settings.velocity or _FASTEST),
            low=low,
            width=high - low,
            velocity=arrays["velocity"],
            position=arrays["offered"],
            position_cost=arrays["offered_cost"],
            began=arrays["began"],
        )

    def fields(self, shape: Shape) -> dict[str, Field]:
        items = shape.pitch * (_BITS if shape.gene == np.uint32 else 1)
        number = np.float64 if shape.gene == np.float64 else np.float32
        # Current positions are offered to the archive of best individuals.
        return {
            "offered": Field((shape.population, shape.pitch), shape.gene),
            "offered_cost": Field((shape.population,), np.int64),
            "velocity": Field((shape.population, items), number),
            "began": Field((1,), np.int64),
        }
