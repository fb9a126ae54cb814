"""The longer messages about migration; each function returns the exception."""

from islands.errors import UsageError
from islands.text import counted, option


def too_many_arrivals(
    *,
    topology: str,
    migrants: int,
    sources: int,
    islands: int,
    population: int,
    replaceable: int,
    hint: str,
) -> UsageError:
    """Return the error for more migrants from `sources` islands than individuals to replace."""
    random = option("migration", "random")
    other = f"{hint}, or choose {random}, in which each island receives from one other"
    return UsageError(
        f"migration {topology}: an island receives up to {counted(sources * migrants, 'migrant')}"
        f" (migrants={migrants}, {counted(islands, 'island')}), but only {replaceable} of"
        f" population={population} can be replaced, as the others are elite. Lower migrants or"
        f" raise population{other if sources > 1 else ''}"
    )


def too_small_slice(population: int, reach: int) -> UsageError:
    """Return the error for an island with fewer individuals than its neighbour reads."""
    return UsageError(
        f"population={population}: with halo=true an island needs at least the {reach}"
        " individuals that its neighbour reads. Raise population, or lower neighbours or radius"
    )


def slices_that_migrate(topology: str) -> UsageError:
    """Return the error for migration between slices of one population."""
    return UsageError(
        f"halo=true with migration {topology}: islands that are slices of one population do not"
        f" migrate. Choose {option('migration', 'none')}, or halo=false"
    )


def no_senders(topology: str) -> UsageError:
    """Return the error for a topology that defines no senders."""
    return UsageError(
        f"topology {topology}: it has no function that returns senders. Write"
        f" Topology({topology!r}, function), or define senders() in a subclass"
    )


def impure_topology(topology: str) -> UsageError:
    """Return the error for a topology that returns different senders for equal arguments."""
    return UsageError(
        f"topology {topology}: two calls with the same arguments returned different senders. Every"
        " rank calls it, so its random numbers may only depend on number and seed"
    )
