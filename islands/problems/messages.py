"""The longer messages about problems and their data; each function returns the error."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from islands.errors import InputError, RunError, UsageError
from islands.instances import tsplib
from islands.instances.catalogue import Entry
from islands.instances.mkp import SUM_MAX, MkpFile
from islands.instances.tsplib import TspFile
from islands.text import counted, one_line, shown

_NAMED = 10  # maximum number of constraints listed in an error


def data_instead_of_problem(*, call: str, data: Any) -> UsageError:
    return UsageError(
        f"{call}({shown(data)}): data is not a problem yet. Write"
        f" {call}(islands.tsp(distances=...)) for a matrix of distances, or"
        f" {call}(islands.tsp(...)) for coordinates"
    )


def function_instead_of_problem(*, call: str, function: Any) -> UsageError:
    return UsageError(
        f"{call}({shown(function)}): a function is not a problem yet. Write"
        f" {call}(islands.permutation(n, function=...)) if it is the cost of an order of n"
        " items; islands.subset, islands.choices, islands.keys and islands.real are for"
        " other solutions"
    )


def other_size_than_published(
    *, path: Path, entry: Entry, size: int, constraints: int | None
) -> InputError:
    return InputError(
        f"{path}: has size {_size(size, constraints)}, but {entry.full_name} has "
        f"{_size(entry.size, entry.constraints)}. "
        "Download the file again, or rename it or its folder if it is another instance"
    )


def _size(size: int, constraints: int | None) -> str:
    return f"{size}" if constraints is None else f"{size} and {counted(constraints, 'constraint')}"


def abstract_class(*, name: str, lacking: Sequence[str]) -> UsageError:
    return UsageError(
        f"class {name}: a subclass of islands.Problem must define"
        f" {', '.join(lacking)}. Define them, or state the problem by islands.permutation,"
        " islands.subset, islands.choices, islands.keys or islands.real"
    )


def path_instead_of_matrix(*, name: str, path: str, form: str) -> UsageError:
    return UsageError(
        f"{name}={shown(path)}: is a string, must be {form}. If it is the path of a file,"
        " write islands.load(path)"
    )


def not_an_array(*, name: str, values: Any, form: str, error: Exception) -> UsageError:
    return UsageError(
        f"{name}={shown(values)}: cannot be converted to a NumPy array"
        f" ({one_line(str(error), 200)}). Pass {form}, or a NumPy array"
    )


def masked_values(*, name: str) -> UsageError:
    return UsageError(
        f"{name}: has masked values, which have no meaning here. Leave them out, or pass"
        f" {name}.filled(number)"
    )


def not_one_of_both(*, call: str, plural: str, coordinates: Any) -> UsageError:
    given = "neither coordinates nor" if coordinates is None else "both coordinates and"
    return UsageError(
        f"{call}: {given} distances given. Write islands.{call}(coordinates)"
        f" or islands.{call}(distances={plural})"
    )


def field_without_table(*, field: str) -> UsageError:
    return UsageError(
        f"field={shown(field)}: chooses a table in the response of a routing engine. Leave it out"
    )


def metric_with_distances(*, metric: str) -> UsageError:
    return UsageError(
        f"metric={shown(metric)} with distances: a metric is for coordinates. Leave metric out"
    )


def cities_too_close(*, apart: float) -> UsageError:
    return UsageError(
        f"coordinates: all cities are within {apart:.0e} of each other, too close for"
        " floating-point numbers. Multiply the coordinates by a power of ten"
    )


def costs_too_large(*, largest: int, most: int) -> UsageError:
    return UsageError(
        f"flows, distances: costs may reach {largest}, the sum of flows"
        f" times the largest distance, but are only exact up to {most}. Divide each matrix"
        " by a common factor of its numbers"
    )


def single_problem(*, problem: Any) -> UsageError:
    return UsageError(
        f"problems={shown(problem)}: is one problem. Call islands.solve for it, or pass a list"
    )


def open_file(*, file: Any) -> UsageError:
    return UsageError(
        f"problems={shown(file)}: is a file. Read the names of instances from it,"
        " and pass them as a list. A name FILE.py:NAME causes the script to be executed"
    )


def not_a_batch_of_tours(*, shape: tuple[int, ...]) -> UsageError:
    return UsageError(
        f"problems: an array of the shape {shape}, must be (B, n, 2) for coordinates or"
        " (B, n, n) for distances of tours. Create other problems with islands.qap_batch or"
        " islands.mkp_batch"
    )


def too_many_on_earth(*, file: TspFile) -> UsageError:
    return UsageError(
        f"{file.path or file.name}: DIMENSION {file.dimension} with EDGE_WEIGHT_TYPE GEO: at most "
        f"{tsplib.LARGEST} cities, since their matrix must fit in memory. "
        "Project the coordinates to a plane and use EUC_2D"
    )


def no_places(*, file: TspFile) -> UsageError:
    have = "no coordinates" if file.coordinates is None else "planar coordinates"
    return UsageError(
        f"{file.name}: has {have} instead of longitude and latitude, so its tours cannot be"
        " drawn on a map. Pass the longitude and latitude of each city to islands.tsp as"
        " places="
    )


def leg_too_long(*, file: TspFile, length: int, most: int) -> UsageError:
    return UsageError(
        f"{file.name}: a leg, with its share of the fixed edges, has length {length};"
        f" at most {most} is possible. Divide all lengths by a common factor, or pass"
        " them to islands.tsp as floats, which are scaled"
    )


def too_many_with_ends(*, file: TspFile) -> UsageError:
    return UsageError(
        f"{file.path or file.name}: {file.dimension} cities with ends or fixed edges: at most"
        f" {tsplib.LARGEST} are possible, since their matrix must fit in memory"
    )


def legs_too_long(*, file: TspFile, length: int, most: int) -> UsageError:
    return UsageError(
        f"{file.path or file.name}: lengths of up to {length} with ends or fixed edges:"
        f" at most {most} are possible. Divide the coordinates by a common factor"
    )


def capacity_exceeded(
    *, instance: str, file: MkpFile, loads: Sequence[int], violated: Sequence[int]
) -> RunError:
    first, *more = violated
    load, capacity = loads[first], int(file.capacities[first])
    weight, limit, excess = (
        file.shown(first, number) for number in (load, capacity, load - capacity)
    )
    others = ", ".join(str(number + 1) for number in more[:_NAMED])
    rest = f" and {len(more) - _NAMED} more" if more[_NAMED:] else ""
    return RunError(
        f"not feasible for {instance}: constraint {first + 1} of {len(file.capacities)} is"
        f" violated: the selected items weigh {weight}, the capacity is"
        f" {limit}, the excess {excess}" + (f" (also violated: {others}{rest})" if more else "")
    )


def weights_too_large(*, name: str, total: int, infeasible: str, is_scaled: bool) -> InputError:
    scaled = ", scaled to integers," if is_scaled else ""
    return InputError(
        f"{name}: all weights{scaled} add up to {total}, but"
        f" infeasible={infeasible} is only exact below {SUM_MAX}. Choose"
        " infeasible=repair or infeasible=drop"
    )


def wrong_route(file: TspFile, words: str) -> UsageError:
    return UsageError(words if file.path is None else f"{file.path}, counted from 0: {words}")


def equal_ends(file: TspFile, *, city: int) -> UsageError:
    return wrong_route(
        file,
        f"start={city}, end={city}: a path has two ends. Leave both out for a closed tour,"
        " which visits the city anyway",
    )


def forbidden_edge(file: TspFile, *, edge: tuple[int, int]) -> UsageError:
    return wrong_route(
        file, f"fixed: {edge} is a forbidden leg. Leave it out of fixed, or give it a length"
    )


def city_without_legs(file: TspFile, *, city: int, direction: str, side: str) -> UsageError:
    is_path = file.ends is not None
    only = f"; only the {side} city of a path may have none" if is_path else ""
    return wrong_route(
        file,
        f"distances: no leg {direction} city {city}, as all are infinite{only}. Leave the city"
        " out, or give a leg a length",
    )


def meeting_edges(
    file: TspFile, *, city: int, edges: Sequence[tuple[int, int]], is_directed: bool
) -> UsageError:
    words = ", ".join(_called(edge, file.dimension) for edge in edges)
    allowed = "one edge in and one out" if is_directed else "two edges"
    return wrong_route(
        file, f"fixed: {words} meet at city {city}, which has {allowed} in a tour. Leave one out"
    )


def _called(edge: tuple[int, int], n: int) -> str:
    """Return the words for an edge; edges at city n, which closes a path, are its ends."""
    one, other = edge
    if one == n:
        return "the start of the path"
    return "the end of the path" if other == n else str(edge)


def cycle(file: TspFile, *, city: int, has_ends: bool) -> UsageError:
    if has_ends:
        words = "the edges lead from the start to the end of the path without the other cities."
        return wrong_route(file, f"fixed: {words} Leave one out")
    return wrong_route(
        file,
        f"fixed: the edges at city {city} form a cycle without the other cities,"
        " which a tour must not contain. Leave an edge out",
    )
