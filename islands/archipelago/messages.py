"""The longer messages about islands and their parts; each function returns the exception."""

from collections.abc import Sequence

from islands.backends.base import Backend
from islands.errors import UsageError
from islands.parallel import Deal
from islands.text import counted, option


def not_a_list(call: str, value: str) -> UsageError:
    """Return the error for a value that is not a list; `call` received it."""
    begin, end = ("(", ")") if call == "inject" else ("=", "")
    return UsageError(
        f"{call}{begin}{value}{end}: is not a list of solutions. Write {call}{begin}[solution]{end}"
    )


def too_many_solutions(call: str, solutions: int, individuals: int) -> UsageError:
    """Return the error for more solutions than individuals; `call` received them."""
    return UsageError(
        f"{call}: {counted(solutions, 'solution')} for {counted(individuals, 'individual')}."
        " Pass fewer, or raise population or islands"
    )


def too_many_individuals(islands: int, population: int, ranks: int, most: int) -> UsageError:
    """Return the error for more individuals on a rank than `most`, which kernels can count."""
    return UsageError(
        f"{counted(islands, 'island')} x population={population}{_of(ranks)}: at most"
        f" {most} individuals per rank. Lower one of them, or start more ranks"
    )


def too_little_memory(
    sizes: Sequence[tuple[int, int]], needed: int, free: int, backend: Backend, deal: Deal
) -> UsageError:
    """Return the error for islands of a rank that need more memory than its device has.

    `sizes` are the islands of each colony on this rank, and their population.
    """
    colonies = [f"{counted(islands, 'island')} x population={size}" for islands, size in sizes]
    count, share = sum(islands for islands, _ in sizes), free / needed
    limits = {
        "islands to at most": int(count * share) * deal.teams,
        "population to about": 0 if sizes[1:] else int(sizes[0][1] * share),
    }
    lower = [f"{words} {number}" for words, number in limits.items() if number > 1]
    place = "on other hosts" if backend.in_host_memory else "with GPUs of their own"
    more = f", or start more ranks {place}" if deal.teams < deal.islands else ""
    return UsageError(
        f"{' + '.join(colonies)}{_of(deal.ranks)} need at least {_shown(needed)} of memory, but"
        f" this rank has {_shown(free)} free ({backend.device}). Lower"
        f" {' or '.join(lower) or 'islands or population'}{more}"
    )


def _of(ranks: int) -> str:
    return f" on one of {ranks} ranks" if ranks > 1 else ""


def _shown(size: float) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**29 else f"{size / 2**20:.1f} MiB"


def field_does_not_travel(
    algorithm: str, field: str, shape: tuple[int, ...], population: int
) -> UsageError:
    """Return the error for a field that travels, but has no entry for each individual."""
    return UsageError(
        f"algorithm {algorithm}: the field {field} travels with each individual, but its shape is"
        f" {shape}. Its first dimension must be population={population}; or choose travels=False"
    )


def field_of_built_in_name(algorithm: str, field: str) -> UsageError:
    """Return the error for a field with the name of a built-in one."""
    return UsageError(
        f"algorithm {algorithm}: the field {field} has the name of a built-in field. Choose another"
        " name"
    )


def table_of_other_type(algorithm: str, table: str, kind: type[object]) -> UsageError:
    """Return the error for a table that is not a NumPy array."""
    return UsageError(
        f"algorithm {algorithm}: the table {table} has the type {kind.__name__}. Return a NumPy"
        " array with the element type that kernels read"
    )


def unknown_decoding(requested: str, algorithm: str, known: Sequence[str]) -> UsageError:
    """Return the error for a decoding that an algorithm does not have."""
    return UsageError(
        f"decoding={requested}: {algorithm} allows {' or '.join(known)}. Omit decoding, or choose"
        " one of them"
    )


def improved_python(improver: str, instance: str) -> UsageError:
    """Return the error for local search on a problem that is evaluated in Python."""
    return UsageError(
        f"improver {improver}: {instance} is evaluated by a Python function, which local search"
        f" cannot call. Choose {option('improver', 'none')}, or state the cost in CUDA (cost=)"
    )


def improved_decoding(decoding: str, improver: str) -> UsageError:
    """Return the error for local search with a decoding other than the default."""
    return UsageError(
        f"decoding={decoding} with improver {improver}: improvers need the default decoding."
        f" Omit decoding, or choose {option('improver', 'none')}"
    )


def only_kernels_decode(problem: str) -> UsageError:
    """Return the error for a problem that the host cannot decode."""
    return UsageError(
        f"decoding=host: only kernels select the items of a solution of {problem}. Omit decoding"
    )


def other_plan(kernel: str, plan: object) -> UsageError:
    """Return the error for a launch that changes the types of the plan of its algorithm."""
    return UsageError(
        f"Launch({kernel!r}): plan={plan!r} must replace members of algorithm::Plan by values of"
        " the same types. Give them these types"
    )
