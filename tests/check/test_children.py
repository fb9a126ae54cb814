"""`islands check` makes children by the cross of a state, and detects invalid ones."""

from typing import Any

import pytest
from models_for_tests import sum_text

import islands
from islands.errors import RunError
from islands.modelling.model import Model

pytestmark = pytest.mark.slow

N = 12
PLACES = sum_text("i * s[i]")
STATE = """
struct State {
    int* used;
    int* calls;
    __device__ State(Memory& memory, int n, const Data&)
        : used(memory.take<int>(n)), calls(memory.take<int>(1)) {}
};
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = 0; i < n; ++i) state.used[i] = s[i];
}
__device__ long long change(const State& state, const Solution&, int, const Data&, Swap move) {
    return (long long)(move.u - move.v) * (state.used[move.v] - state.used[move.u]);
}
__device__ void apply(State& state, const Solution&, int, const Data&, Swap move) {
    const int item = state.used[move.u];
    state.used[move.u] = state.used[move.v], state.used[move.v] = item;
}
"""
# The first items of one parent, and the others in the order of the other parent.
CUT = """
__device__ void cross(State& state, Changing& child, const Solution& other, int n,
                      const Data& data, Random& random) {
    const int cut = random.below(n);
    for (int i = 0; i < n; ++i) state.used[i] = 0;
    for (int i = 0; i < cut; ++i) state.used[child[i]] = 1;
    int place = cut;
    for (int i = 0; i < n; ++i) {
        if (!state.used[other[i]]) child.set(place++, other[i]);
    }
}
"""
OF_CHOICES = """
struct State { __device__ State(Memory&, int, const Data&) {} };
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ long long change(const State&, const Solution&, int, const Data&, Exchange move) {
    return move.in - move.out;
}
__device__ void apply(State&, const Solution&, int, const Data&, Exchange) {}
__device__ void cross(State&, Changing& child, const Solution& other, int n, const Data&, Random&) {
    for (int i = 0; i < n; ++i) child.set(i, child[i] | other[i]);
}
"""


def places(*wrong: str, state: str = STATE) -> Model:
    assert not wrong or wrong[0] in CUT
    return islands.permutation(N, cost=PLACES, state=state + CUT.replace(*wrong or ("", "")))


def found(problem: Model) -> Any:
    return islands.check_problem(problem, samples=40)


def test_a_right_cross_has_no_differences() -> None:
    [row] = [row for row in found(places()).rows if row.way == "cross, CPU"]
    assert row.outcome.startswith("40 valid children, ")
    changed = int(row.outcome.split()[3])
    assert 0 < changed < 40  # a cut after the last item leaves the first parent


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("if (!state.used[other[i]]) ", "if (place < n) "), "more than once.* Correct its cross"),
        (("child.set(place++, other[i])", "child.set(place++, n)"), "set an entry to 12"),
        (
            ("const int cut = random.below(n)", "const int cut = unsigned(state.calls[0]++) % n"),
            r"CPU: the child of \[.*\] and \[.*\] is \[.*\], but \[.*\] by cross, CPU in reverse",
        ),
        (("state.used[child[i]] = 1", "state.used[child[i] + n + 1] = 1"), "in the cross of the"),
    ],
)
def test_a_wrong_cross_is_found(wrong: tuple[str, str], message: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        found(places(*wrong))
    assert "\n" not in str(caught.value)


def test_a_child_with_too_many_items_is_found() -> None:
    own = islands.subset(N, cost=PLACES, state=OF_CHOICES, choose=4)
    words = r"cross, CPU: the child .* of .* and .* is not a choice of exactly 4 items\. Correct"
    with pytest.raises(RunError, match=words):
        found(own)


def test_a_state_that_relies_on_what_cross_changes_is_found() -> None:
    twice = STATE.replace("* (state.used", "* (1 + (state.calls[0] == 77777)) * (state.used")
    own = places("int place = cut;", "int place = cut;\n    state.calls[0] = 77777;", state=twice)
    with pytest.raises(RunError, match=r"cross, CPU: after .* as cross has used the arrays of the"):
        found(own)
