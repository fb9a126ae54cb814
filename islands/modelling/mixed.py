"""Problems of named parameters: the function `mixed`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from islands.calls import explained
from islands.errors import UsageError
from islands.modelling import messages
from islands.modelling.functions import Function
from islands.modelling.members import checked_name
from islands.modelling.model import Model
from islands.modelling.statement import Code, Price, Statement
from islands.modelling.texts import Text
from islands.problems.mixed import MixedKind
from islands.space.parameters import (
    MOST_ITEMS,
    Category,
    Integer,
    Order,
    Parameter,
    Real,
)

_OF_MOVES = ("delta", "state", "repair", "cooperative")
"""Arguments that `mixed` does not take, as they access the entries of a solution by index."""


@explained
def mixed(
    parameters: Mapping[str, Parameter] | None = None,
    /,
    *,
    cost: Code | None = None,
    batch: Function | None = None,
    function: Function | None = None,
    data: Mapping[str, Any] | None = None,
    violation: Code | Function | None = None,
    price: Price = "adaptive",
    reference: Function | None = None,
    maximise: bool = False,
    name: str | None = None,
    best_known: float | None = None,
    plot: Function | None = None,
    **named: Parameter,
) -> Model:
    """Return a problem whose solutions assign values to named parameters of `islands.space`.

    Pass the parameters as keyword arguments, or as a dict if their names are not valid in Python.
    With `cost=`, names must be valid in CUDA.

    Define the cost of a solution by one of:

    - `function`: a Python function from a dict of values by name to a cost.
    - `batch`: a Python function from a dict with an array of values for each name, one per
      solution, to an array of costs; values of a category are indices of its choices.
    - `cost`: CUDA code as for `permutation`; `s.NAME` is a value: a `double`, a `long long`, the
      `int` index of a choice, or the array of an order or a subset.

    `Result.solution` is a dict, as for `function`. The other arguments are those of `permutation`.

    >>> from islands import space
    >>> problem = islands.mixed(
    ...     depth=space.integer(1, 12),
    ...     kind=space.category("a", "b"),
    ...     function=lambda s: s["depth"] + (s["kind"] == "a"),
    ... )
    >>> islands.solve(problem, generations=20, population=32).solution
    {'depth': 1, 'kind': 'b'}
    """
    statement = Statement(
        cost=cost,
        batch=batch,
        function=function,
        data=data,
        violation=violation,
        price=price,
        reference=reference,
        maximise=maximise,
        name=name,
        best_known=best_known,
        plot=plot,
    )
    _reject_taken(statement)
    checked = _checked(parameters, named, in_cuda=cost is not None)
    if cost is not None:
        statement = replace(statement, cost=_with_struct(cost, checked))
    return Model(MixedKind(_entries(checked), parameters=checked), statement)


def _reject_taken(statement: Statement) -> None:
    """Reject a parameter that has the name of an argument."""
    for argument, value in vars(statement).items():
        if isinstance(value, Parameter):
            raise messages.parameter_named_like_argument(argument=argument)


def _checked(given: Any, named: Mapping[str, Any], *, in_cuda: bool) -> dict[str, Parameter]:
    """Return the parameters of a dict and the named ones; reject other values."""
    if given is not None and not isinstance(given, Mapping):
        raise messages.not_a_dict_of_parameters(given=given)
    first: Mapping[Any, Any] = given or {}
    both: dict[str, Any] = {**first, **named}
    if not both:
        raise messages.no_parameters()
    if twice := [name for name in named if name in first]:
        raise UsageError(
            f"islands.mixed: {twice[0]} is given in the dict and by name. Leave one out"
        )
    for name, value in both.items():
        if not isinstance(value, Parameter) and name in _OF_MOVES:
            raise UsageError(f"islands.mixed does not take {name}=. Leave it out")
        if not isinstance(value, Parameter):
            raise messages.not_a_parameter(name=name, value=value)
        if in_cuda and checked_name("islands.mixed", name) == "Solution":
            raise UsageError("islands.mixed: the name 'Solution' is reserved. Choose another name")
        if not (isinstance(name, str) and name and name.isprintable()):
            raise messages.name_on_several_lines(name=name)
    return both


def _entries(parameters: Mapping[str, Parameter]) -> int:
    """Return the number of entries of a solution; reject too many."""
    count: int = sum(parameter.count for parameter in parameters.values())
    if count > MOST_ITEMS:
        raise messages.too_many_entries(count=count, most=MOST_ITEMS)
    return count


def _with_struct(cost: Code, parameters: Mapping[str, Parameter]) -> Text:
    """Return the code of the cost, preceded by the type of the solution."""
    text = Text.of("cost", cost)
    return replace(text, before=(Text("mixed.cu", _struct(parameters)), *text.before))


def _struct(parameters: Mapping[str, Parameter]) -> str:
    """Return the CUDA type of the solution in the user's functions."""
    members, values, place = [], [], 0
    for name, parameter in parameters.items():
        member, value = _member(name, parameter, place)
        members.append(f"    {member};\n")
        values.append(f"        {value};\n")
        place += parameter.count
    return (
        f"struct Solution {{\n{''.join(members)}\n"
        "    template <class Coordinates>\n"
        "    __device__ Solution(const Coordinates& coordinates_) {\n"
        "        const mixed::Reader<Coordinates> from_(coordinates_);\n"
        f"{''.join(values)}    }}\n}};\n"
    )


def _member(name: str, parameter: Parameter, place: int) -> tuple[str, str]:
    """Return the declaration of a member and the statement that sets it."""
    member = f"this->{name}"
    if isinstance(parameter, Real | Integer):
        read = f"log_{parameter.kind}" if parameter.log else parameter.kind
        kind = "double" if isinstance(parameter, Real) else "long long"
        bounds = f"{float(parameter.low).hex()}, {float(parameter.high).hex()}"
        return f"{kind} {name}", f"{member} = from_.{read}({place}, {bounds})"
    if isinstance(parameter, Category):
        last = f"{len(parameter.choices) - 1}.0"
        return f"int {name}", f"{member} = int(from_.integer({place}, 0.0, {last}))"
    kind = "int" if isinstance(parameter, Order) else "bool"
    call = f"from_.{parameter.kind}({place}, {parameter.count}, {member})"
    return f"{kind} {name}[{parameter.count}]", call
