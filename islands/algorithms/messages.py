"""The longer messages about settings of algorithms; each function returns the error."""

from collections.abc import Sequence

from islands.errors import UsageError


def elite_and_mutants_too_large(*, elite: float, mutants: float) -> UsageError:
    return UsageError(
        f"elite={elite:g} + mutants={mutants:g} = {elite + mutants:g}: must be at most 1, the whole"
        " population. Lower one of them"
    )


def too_many_elite_parents(*, elite_parents: int, parents: int) -> UsageError:
    return UsageError(
        f"elite_parents={elite_parents}: must be at most parents={parents}. Lower"
        " elite_parents, or raise parents"
    )


def rho_with_many_parents(*, parents: int, elite_parents: int, biases: Sequence[str]) -> UsageError:
    return UsageError(
        f"bias=rho is for parents=2 with elite_parents=1, not {parents} with "
        f"{elite_parents}. Choose a bias of {', '.join(biases)}"
    )


def assignment_of_symmetric_tours(*, instance: str) -> UsageError:
    return UsageError(
        f"first_tours=assignment: needs a directed tour, but the lengths of"
        f" {instance} are the same in both directions. Choose greedy or mixed"
    )


def curve_without_coordinates(*, instance: str) -> UsageError:
    return UsageError(
        f"first_tours=curve: a space-filling curve needs coordinates, but"
        f" {instance} has a matrix of distances. Choose greedy, nearest or random"
    )


def empty_schedule(*, name: str, steps: object) -> UsageError:
    return UsageError(
        f"Schedule: {name}={steps!r}: must be a tuple of launches. Write"
        f' {name}=(islands.Launch("kernel", blocks),)'
    )


def empty_interval(*, low: float, high: float) -> UsageError:
    return UsageError(
        f"low={low:g} with high={high:g}: low must be less than high, as initial keys are drawn"
        " between them. Lower low or raise high"
    )


def unused_bounds(*, low: float, high: float) -> UsageError:
    return UsageError(
        f"low={low:g}, high={high:g}: only for unbounded keys. Initial individuals of this problem"
        " cover its whole range. Leave low and high out"
    )
