"""Stopping criteria: pure functions of a `Progress` record that return the reason, or None.

They have no counters, so a resumed run stops at the same point as an uninterrupted one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from islands.configuration.stop_kinds import KINDS
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.progress.progress import Progress
from islands.text import meant, option, unknown


@dataclass(frozen=True)
class Criterion:
    """One reason to stop: a kind of `KINDS` and its value."""

    kind: str
    value: float
    text: str
    """The text that `--stop` accepts."""

    def reason(self, progress: Progress) -> str | None:
        """Return why the run stops now, or None."""
        return KINDS[self.kind].reason(progress, self.value)

    def words(self) -> str:
        """Return the criterion in words."""
        return KINDS[self.kind].words(self.value)


def parse(text: str, words: str = "") -> Criterion:
    """Return the criterion of `--stop TEXT`; errors quote `words` instead if they are given."""
    words = words or option("stop", text)
    name, equals, value = (part.strip() for part in text.partition("="))
    name = meant(name, KINDS)
    if name not in KINDS:
        raise UsageError(f"{words}: {unknown('criterion', name, KINDS)}")
    kind = KINDS[name]
    takes_value = "=" in kind.example
    if takes_value and not value:
        example = option("stop", kind.example)
        raise UsageError(f"{words}: needs a value, such as {example}")
    if equals and not takes_value:
        raise UsageError(f"{words}: takes no value; write {option('stop', name)}")
    try:
        return Criterion(name, kind.read(value), f"{name}={value}" if takes_value else name)
    except ValueError as error:
        raise UsageError(f"{words}: {error}") from None


def require_known(
    criteria: Iterable[Criterion],
    instance: str,
    known: BestKnown | None,
    *,
    is_of_script: bool = False,
) -> None:
    """Refuse criteria that need a best known value or an optimum that is unknown.

    A script states the best known value itself.
    """
    for criterion in criteria:
        needs = KINDS[criterion.kind].needs
        if needs and (known is None or (needs == "optimum" and known.status != "optimal")):
            target = option("stop", "target=VALUE")
            if is_of_script and needs != "optimum":
                raise UsageError(
                    f"{option('stop', criterion.text)}: the script states no {needs} for"
                    f" {instance}. Add best_known=VALUE to the problem, or use {target}"
                )
            raise UsageError(
                f"{option('stop', criterion.text)}: the catalogue has no {needs} for {instance}."
                f" Use {target}"
            )


def last_generation(criteria: Iterable[Criterion]) -> int | None:
    """Return the last possible generation of the run, or None without such a criterion."""
    limits = [int(criterion.value) for criterion in criteria if criterion.kind == "generations"]
    return min(limits, default=None)


def time_limit(criteria: Iterable[Criterion]) -> float:
    """Return the time limit of the run in seconds; infinite without one."""
    limits = [criterion.value for criterion in criteria if criterion.kind == "seconds"]
    return min(limits, default=math.inf)


def is_spent(criteria: Iterable[Criterion], progress: Progress) -> bool:
    """Return whether a limit of evaluations is reached."""
    limits = (criterion for criterion in criteria if criterion.kind == "evaluations")
    return first_reason(limits, progress) is not None


def seconds_left(criteria: Iterable[Criterion], progress: Progress) -> float | None:
    """Return an upper estimate of the remaining time; None if no criterion limits the effort."""
    if progress.seconds <= 0:
        return None
    done = {
        "seconds": progress.seconds,
        "generations": progress.generation,
        "evaluations": progress.evaluations,
    }
    left = [
        max(0.0, criterion.value - done[criterion.kind]) * progress.seconds / done[criterion.kind]
        for criterion in criteria
        if done.get(criterion.kind)
    ]
    return min(left, default=None)


def first_reason(criteria: Iterable[Criterion], progress: Progress) -> str | None:
    """Return the reason of the first criterion that is satisfied, or None."""
    reasons = (criterion.reason(progress) for criterion in criteria)
    return next((reason for reason in reasons if reason is not None), None)
