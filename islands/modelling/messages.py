"""The longer messages about user-defined problems; each function returns the error."""

from collections.abc import Sequence
from typing import Any

from islands.errors import RunError, UsageError
from islands.text import shown


def cross_with_repair() -> UsageError:
    return UsageError(
        "state: only tempering calls cross, and not with repair=. Leave cross or repair out"
    )


def cost_and_delta_differ() -> UsageError:
    return UsageError(
        "delta: cost and delta return different types. Return long long from both, or double from"
        " both"
    )


def cost_and_change_differ(*, function: str) -> UsageError:
    return UsageError(
        f"state: cost and {function} return different types. Return long long from both, or double"
        " from both"
    )


def real_violation_of_changes(*, argument: str) -> UsageError:
    return UsageError(
        f"violation: returns double, but {argument}= adds up its changes, which must be exact."
        f" Return long long from violation, or leave {argument} out"
    )


def delta_without_move(*, types: Sequence[str], declaration: str) -> UsageError:
    *most, last = types
    names = f"{', '.join(most)} or {last}" if most else last
    return UsageError(f"delta: has no parameter of the type {names}. Write {declaration} {{ ... }}")


def change_and_apply_differ(
    *, possible: Sequence[str], of_change: Sequence[str], of_apply: Sequence[str]
) -> UsageError:
    return UsageError(
        f"state: of the moves {', '.join(possible)}, change takes"
        f" {' and '.join(of_change) or 'none'}, and apply"
        f" {' and '.join(of_apply) or 'none'}. Define both for the same moves"
    )


def cyclic_pairs(*, cycle: Sequence[int]) -> UsageError:
    return UsageError(
        f"before: no order is possible, as the pairs have the cycle"
        f" {', '.join(map(str, cycle))}. Remove one of its pairs"
    )


def not_pairs(*, before: Any) -> UsageError:
    return UsageError(
        f"before={shown(before)}: is not a list of pairs of items. Write"
        " before=[(0, 1), (0, 2)] if item 0 comes before items 1 and 2"
    )


def wrong_choose(*, choose: Any, size: int) -> UsageError:
    return UsageError(
        f"choose={shown(choose)}: must be a whole number from 1 to {size - 1}, below n={size},"
        " or a pair (least, most)"
    )


def wrong_limits(*, choose: Any, size: int) -> UsageError:
    return UsageError(
        f"choose={shown(choose)}: must be a pair of whole numbers (least, most) with 0 <= least"
        f" <= most <= n={size}"
    )


def wrong_k(*, k: Any) -> UsageError:
    return UsageError(
        f"k={shown(k)}: is not a whole number. Pass the number of values, such as 3, or a list"
        " with that of each item"
    )


def only_exchanges_across_groups(*, at_most: Any, size: int) -> UsageError:
    return UsageError(
        f"at_most={shown(at_most)}: allows exactly n={size} items, so only exchanges"
        " are possible, but groups= allows them only within a group. Raise a limit, or leave groups"
        " out"
    )


def wrong_at_most(*, at_most: Any, values: int, what: str) -> UsageError:
    return UsageError(
        f"at_most={shown(at_most)}: must be a whole number, or k={values} of them, the {what}"
    )


def at_most_below_one(*, at_most: Any) -> UsageError:
    return UsageError(
        f"at_most={shown(at_most)}: must be at least 1 for each value. Leave out values that no"
        " item may have"
    )


def at_most_too_low(*, at_most: Any, total: int, size: int) -> UsageError:
    return UsageError(
        f"at_most={shown(at_most)}: allows {total} items in all, fewer than n={size}. Raise it"
    )


def impossible_name(*, argument: str, name: Any) -> UsageError:
    return UsageError(
        f"{argument}: the name {name!r} is not valid in CUDA. Use letters, digits and _, and"
        " begin with a letter"
    )


def parameter_named_like_argument(*, argument: str) -> UsageError:
    return UsageError(
        f"{argument}: is an argument of islands.mixed. Choose another name for the"
        f' parameter, or pass a dict: islands.mixed({{"{argument}": ...}}, ...)'
    )


def not_a_dict_of_parameters(*, given: Any) -> UsageError:
    return UsageError(
        f"islands.mixed: {shown(given)} is not a dict of parameters. Pass them by name, such"
        " as depth=islands.space.integer(1, 12)"
    )


def no_parameters() -> UsageError:
    return UsageError(
        "islands.mixed: has no parameters. Pass them by name, such as"
        " depth=islands.space.integer(1, 12)"
    )


def not_a_parameter(*, name: Any, value: Any) -> UsageError:
    return UsageError(
        f"{name}={shown(value)}: is not a parameter. Pass islands.space.real, integer,"
        " category, order or subset"
    )


def name_on_several_lines(*, name: Any) -> UsageError:
    return UsageError(
        f"islands.mixed: the name {shown(name)} must be a string on one line. Choose another name"
    )


def too_many_entries(*, count: int, most: int) -> UsageError:
    return UsageError(
        f"islands.mixed: all parameters together have {count} entries, but at most"
        f" {most} are possible. Use islands.permutation for a large order"
    )


def no_function_of_base(*, name: str) -> UsageError:
    return UsageError(
        f"{name}: calls a function base::..., but the base class has no {name}. Leave base:: out"
    )


def not_one_cost(*, function: str, given: Sequence[str]) -> UsageError:
    what = f"{' and '.join(f'{name}=' for name in given)} were given" if given else "no cost"
    return UsageError(
        f"islands.{function}: {what}. Pass one of cost= (CUDA code), batch= (a Python"
        " function of many solutions) and function= (a Python function of one)"
    )


def unused_delta(*, solution: str) -> UsageError:
    return UsageError(
        f"delta: is only used for orders and choices, but these solutions are {solution}."
        " Leave it out"
    )


def violation_in_python() -> UsageError:
    return UsageError(
        "violation: is a Python function, but cost= is CUDA code. Write both in CUDA, or"
        " pass batch= or function="
    )


def moves_that_are_corrected(*, name: str, solution: str, are_orders: bool) -> UsageError:
    instead = "pass choose=p, one number of items"
    if are_orders:
        instead = "leave before out, and state pairs in the wrong sequence as violation="
    return UsageError(
        f"{name}: cannot be used, because a solution is corrected after each move so that it"
        f" remains {solution}. Leave {name} out, or {instead}"
    )


def code_with_python_cost(*, name: str, argument: str) -> UsageError:
    return UsageError(
        f"{name}: only belongs to cost=, CUDA code, but {argument}= was given. Leave {name} out"
    )


def argument_inside_class(*, name: str, model: str, base: str) -> UsageError:
    return UsageError(
        f"class {model}: {name} has no effect inside the class. Write it after"
        f" the base class: class {model}({base}, {name}=...)"
    )


def not_code(*, argument: str, value: Any) -> UsageError:
    return UsageError(
        f"{argument}={value!r}: is of the type {type(value).__name__}. Pass the code of a"
        " CUDA function, or the Path of a file; Python functions are passed as batch= or"
        " function="
    )


def included_header(*, name: str, header: str) -> UsageError:
    return UsageError(
        f"{name}: #include{header}: headers cannot be included. Leave"
        " this line out: functions such as sqrt, min and atomicAdd are available without"
        " one"
    )


def not_a_change(*, name: str, function: str, returned: str) -> UsageError:
    return UsageError(
        f"{name}: {function} returns {returned or 'nothing'}. With"
        " violation=, it must return both changes as a Change: return {cost, violation};"
    )


def not_a_cost(*, name: str, function: str, returned: str, declaration: str) -> UsageError:
    return UsageError(
        f"{name}: {function} returns {returned or 'nothing'}. It must return"
        f" long long, for exact costs, or double: {declaration} {{ ... }}"
    )


def infinitely_good(*, instance: str, maximise: bool) -> RunError:
    best, worst = ("inf", "-inf") if maximise else ("-inf", "inf")
    return RunError(
        f"{instance}: a cost is {best}, better than"
        f" any other. Return {worst} if a solution is"
        " infeasible"
    )


def too_large_with_violation(*, argument: str, cost: Any) -> RunError:
    return RunError(
        f"{argument}= returned {cost}: integer costs with"
        " violation= must be from -2**60 to 2**60. Return real numbers, or divide costs by"
        " a common factor"
    )
