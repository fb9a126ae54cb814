"""The biased random-key genetic algorithm (Goncalves and Resende 2011) on islands (Xavier 2019).

With more than two parents, this is the multi-parent variant of BRKGA-MP-IPR (Andrade, Toso,
Goncalves and Resende 2021) without path relinking.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from islands.algorithms import messages
from islands.algorithms.base import Algorithm, reset_setting
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.settings import Settings, setting
from islands.text import counted

# The weight of the r-th best parent, r = 1, 2, ...
_WEIGHTS: dict[str, Callable[[int], float]] = {
    "constant": lambda r: 1.0,
    "linear": lambda r: 1.0 / r,
    "quadratic": lambda r: r**-2.0,
    "cubic": lambda r: r**-3.0,
    "exponential": lambda r: math.exp(-r),
    "logarithmic": lambda r: 1.0 / math.log(r + 1.0),
}
_MOST_PARENTS = 8


@dataclass(frozen=True)
class BrkgaSettings(Settings):
    """The settings of BRKGA, named as in the literature."""

    elite: float = setting(0.1, "share of the population that is elite", low=0, high=1)
    mutants: float = setting(
        0.1,
        "share of the population that is replaced by random individuals each generation",
        low=0,
        high=1,
    )
    rho: float = setting(
        0.7, "probability that a child inherits a gene from the better parent", low=0.5, high=1
    )
    parents: int = setting(2, "number of parents of a child", low=2, high=_MOST_PARENTS)
    elite_parents: int = setting(
        1, "number of these parents that are elite", low=1, high=_MOST_PARENTS
    )
    bias: str = setting(
        "rho",
        "probability of inheriting from each parent: by rho, for two parents, or by a function of"
        " the parent's rank",
        choices=("rho", *_WEIGHTS),
    )
    reset: int = reset_setting()

    def check(self) -> None:
        if self.elite + self.mutants > 1:
            raise messages.elite_and_mutants_too_large(elite=self.elite, mutants=self.mutants)
        if self.elite_parents > self.parents:
            raise messages.too_many_elite_parents(
                elite_parents=self.elite_parents, parents=self.parents
            )
        if self.bias == "rho" and (self.parents, self.elite_parents) != (2, 1):
            raise messages.rho_with_many_parents(
                parents=self.parents, elite_parents=self.elite_parents, biases=list(_WEIGHTS)
            )


class Brkga(Algorithm):
    """BRKGA on random keys or vectors."""

    name: ClassVar[str] = "brkga"
    header: ClassVar[Header] = Header("algorithms/brkga.cuh")
    needs_order: bool = True
    fewest_threads: ClassVar[int] = 128
    decodings: ClassVar[tuple[str, ...]] = ("sorted", "plain")
    encodings: ClassVar[tuple[str, ...]] = ("keys", "vector")
    same_slots: bool = True
    Settings: ClassVar[type[Settings]] = BrkgaSettings

    def __init__(self, settings: BrkgaSettings, population: int, encoding: str = "keys") -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        # Shares are truncated to whole individuals; 1e-9 corrects products such as 0.29 * 100.
        self.elite = math.floor(settings.elite * population + 1e-9)
        self.mutants = math.floor(settings.mutants * population + 1e-9)
        needed = max(1, settings.parents - settings.elite_parents)
        if self.elite < settings.elite_parents:
            raise UsageError(
                f"elite={settings.elite:g} of population={population} is"
                f" {counted(self.elite, 'individual')}, too few for"
                f" elite_parents={settings.elite_parents}. Raise elite or population"
            )
        if population - self.elite < needed:
            raise UsageError(
                f"elite={settings.elite:g} of population={population} leaves "
                f"{counted(population - self.elite, 'other')}, but parents={settings.parents} needs"
                f" {needed}. Lower elite or raise population"
            )

    def defines(self) -> Macros:
        return {"BRKGA_PARENTS": str(self.settings.parents)}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            elite=np.int32(self.elite),
            mutants=np.int32(self.mutants),
            elite_parents=np.int32(self.settings.elite_parents),
            **{f"bias[{k}]": word for k, word in enumerate(self._bias())},
        )

    def kept(self) -> int:
        return self.elite

    def _bias(self) -> list[np.uint32]:
        """Return the cumulative probabilities of all parents but the last, as 32-bit words."""
        if self.settings.bias == "rho":
            weights = [self.settings.rho, 1 - self.settings.rho]
        else:
            weigh = _WEIGHTS[self.settings.bias]
            weights = [weigh(r) for r in range(1, self.settings.parents + 1)]
        shares = np.cumsum(weights)[:-1] / sum(weights)
        return [np.uint32(min(round(share * 2.0**32), 2**32 - 1)) for share in shares]
