"""Functions that return the longer errors about the data of ready-made models."""

from collections.abc import Sequence
from typing import Any

from islands.errors import UsageError
from islands.instances.sizes import FEW_NODES, MOST_NODES_PER_EDGE
from islands.text import counted, shown


def different_jobs(*, machines: int, times: int) -> UsageError:
    return UsageError(
        f"machines has {machines} rows and times {times}. Pass a row for each job in both"
    )


def different_operations(*, job: int, machines: int, times: int) -> UsageError:
    return UsageError(
        f"job {job} has {machines} machines and {times} times. Pass a machine and a"
        " time for each operation"
    )


def different_choices(*, job: int, operation: int, machines: int, times: int) -> UsageError:
    return UsageError(
        f"operation {operation} of job {job} has {machines} machines and {times}"
        " times. Pass a time for each machine that it may use"
    )


def repeated_machine(*, job: int, operation: int, machines: Sequence[int]) -> UsageError:
    return UsageError(
        f"operation {operation} of job {job} has a machine twice: {machines}. Leave one out"
    )


def too_many_operations(*, count: int, most: int) -> UsageError:
    return UsageError(
        f"{count} operations: with dates or a choice of machine, at most {most} are"
        " allowed. Divide the problem"
    )


def too_many_nodes(*, nodes: int, edges: int, most: int) -> UsageError:
    return UsageError(
        f"edges: the largest node number is {nodes - 1}, but a graph with"
        f" {counted(edges, 'edge')} may have at most {most} nodes: {FEW_NODES}, or"
        f" {MOST_NODES_PER_EDGE} for each edge. Leave out nodes without edges"
    )


def wrong_key(*, key: Any) -> UsageError:
    return UsageError(
        f"q: {shown(key)} is not a valid key. Number the items from 0, and write q={{(0, 1): 2}}"
    )


def missing_item(*, last: int, missing: int) -> UsageError:
    return UsageError(
        f"q: has the item {last}, but not {missing}. Number the items 0 to n - 1, or"
        f" add ({missing}, {missing}): 0"
    )
