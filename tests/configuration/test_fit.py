"""Parts of a run that fit each other, and names that no file can have."""

from dataclasses import replace

import pytest
from fakes import FakeProblem
from problems_for_tests import cities

import islands
from islands.archipelago.parts import ProgramParts
from islands.backends.cpu import CpuBackend
from islands.configuration.fit import require_shared_memory
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.errors import UsageError


class Unpriced(FakeProblem):
    name = "unpriced"
    moves = ("reversal",)


def test_improver_without_delta_of_its_moves_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(CpuBackend, "compile", lambda *request: compiled.append(request))
    for name in ("swap", "tabu"):
        with pytest.raises(UsageError, match=f"improver {name} needs the delta of the move swap"):
            islands.Solver(Unpriced(), improver=name, backend="cpu")
    resolve(Request.of({"improver": "two_opt", "algorithm": "brkga"}), Unpriced())
    assert not compiled


EAX = {"algorithm": "eax", "population": 8, "islands": 1}


@pytest.mark.parametrize(
    "colonies", [None, ["islands=1 algorithm=brkga", "islands=1 algorithm=eax"]]
)
def test_launches_that_no_block_has_memory_for_are_rejected(colonies: list[str] | None) -> None:
    problem = cities(900)
    resolved = resolve(Request.of({"colonies": colonies} if colonies else dict(EAX)), problem)
    spec = resolved.spec
    parts = ProgramParts.of(replace(spec.all_colonies[-1], population=8), problem, None)
    launches = [*parts.schedule.launches()]
    largest = max(launch.room or 0 for launch in launches if launch.threads is not None)
    for enough in (None, 2 * largest):
        require_shared_memory(resolved, lambda enough=enough: enough)
    with pytest.raises(UsageError) as caught:
        require_shared_memory(resolved, lambda: largest // 2)
    assert str(caught.value).startswith("colony 1: eax_" if colonies else "eax_")
