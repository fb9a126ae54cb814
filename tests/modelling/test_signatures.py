"""Which parameters the functions of a user may have."""

from __future__ import annotations

import pytest

from islands.errors import UsageError
from islands.modelling.header import COST, DELTA, REPAIR, Signature


@pytest.mark.parametrize(
    ("signature", "parameters"),
    [
        (COST, "const Solution& s, int n, const Data& data"),
        (COST, "const auto& s, auto n, const auto& data"),
        (COST, "Solution s, const int items, Data"),
        (DELTA, "const auto& s, int n, const Data& data, Swap move"),
        (DELTA, "const Solution& s, int n, const Data& data, auto move"),
        (REPAIR, "auto& s, int n, const Data& data"),
    ],
)
def test_types_may_be_deduced(signature: Signature, parameters: str) -> None:
    signature.require("cost.cuh", [parameters])
    signature.require("cost.cuh", ["float x", parameters])  # another function of this name


@pytest.mark.parametrize(
    ("signature", "parameters"),
    [
        (COST, "const int* s, int n, const Data& data"),
        (COST, "const Solution& s, int n"),
        (COST, "const Solution& s, int n, const Data& data, int more"),
        (COST, "int n, const Solution& s, const Data& data"),
        (DELTA, "const Solution& s, int n, const Data& data"),
        (REPAIR, "const Solution& s, int n, const Data& data"),
    ],
)
def test_other_parameters_are_refused(signature: Signature, parameters: str) -> None:
    with pytest.raises(UsageError, match=f"{signature.function} has the parameters"):
        signature.require("cost.cuh", [parameters])


def test_a_missing_function_is_refused() -> None:
    with pytest.raises(UsageError, match=r"does not define cost\. Write __device__ long"):
        COST.require("cost.cuh", [])
