"""`islands check` compares the costs that a state follows with those of the solutions."""

import pytest
from moving_problems import CHOICE, CHOICE_STATE, TABLE, N, problem

import islands
from islands.errors import RunError


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["state of choice", "state of places", "state of vectors"])
def test_a_correct_state_has_no_differences(kind: str) -> None:
    checked = str(islands.check_problem(problem(kind)[0], samples=50))
    assert "state, CPU" in checked
    assert "400 of 400 moves agree with costs" in checked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("? -state.field[move.item] : ", "? state.field[move.item] : "), "a flip of the solution"),
        (("if (j != move.out) state", "if (j < move.out) state"), "after 2 moves and a flip"),
        (("state.field[i] = data.t", "state.field[i] = 1 + data.t"), "after 0 moves and a flip"),
    ],
)
def test_a_wrong_state_is_found(wrong: tuple[str, str], message: str) -> None:
    assert wrong[0] in CHOICE_STATE
    own = islands.subset(
        N, cost=CHOICE, state=CHOICE_STATE.replace(*wrong), data={"t": TABLE}, name="choice"
    )
    with pytest.raises(RunError, match=rf"state, CPU.*{message}.*Correct prepare, change or apply"):
        islands.check_problem(own, samples=50)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        # After the end of the array of the state, and of an array of the data.
        (("j != move.in) state.field[j] +=", "j != move.in) state.field[j + n] +="), "State"),
        (("state.field[move.in] - ", "state.field[move.in + n] - "), "beyond an array of St"),
        (("data.t[i * n + j] + ", "data.t[i * n * n + j] + "), r"data.t\[\d+\], but its length"),
        (("{state.chosen += by;", "{state.chosen /= n - 11;"), "division by zero"),
    ],
)
def test_a_fault_of_a_state_names_its_line(wrong: tuple[str, str], message: str) -> None:
    text = CHOICE_STATE.replace("    state.chosen += by;\n", "    {state.chosen += by;}\n")
    assert wrong[0] in text
    own = islands.subset(N, cost=CHOICE, state=text.replace(*wrong), data={"t": TABLE}, name="own")
    with pytest.raises(RunError, match=rf"state.cu, line \d+.*{message}.*in the state of the sol"):
        islands.check_problem(own, samples=20)
