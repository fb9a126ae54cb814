"""The assignment of GPUs to the ranks of one host."""

from __future__ import annotations

import pytest

from islands.backends.base import Backend
from islands.backends.gpus import assigned, devices, identities
from islands.doctor import nvidia
from islands.errors import UsageError


@pytest.mark.parametrize(
    ("visible", "numbers"),
    [
        ([["a"]], [0]),
        ([["a", "b"], ["a", "b"]], [0, 1]),
        # As with Slurm or launch/bind: each rank sees only its own.
        ([["a"], ["b"], ["c"]], [0, 0, 0]),
        ([["a", "b"], ["a", "b"], ["c", "d"], ["c", "d"]], [0, 1, 0, 1]),
        ([["b", "a"], ["a", "b"]], [0, 0]),
        ([["a", "b"], ["a"]], [1, 0]),
    ],
)
def test_each_rank_gets_its_own_gpu(visible: list[list[str]], numbers: list[int]) -> None:
    assert assigned(visible, "n01", share=False) == numbers
    assert assigned(visible, "n01", share=True) == numbers


@pytest.mark.parametrize(
    ("visible", "fault"),
    [
        ([["a", "b"]] * 4, "2 GPUs for 4 ranks"),
        ([["a"], ["a"]], "1 GPU for 2 ranks"),
        ([["a"], ["a"], ["b", "c"]], "one rank sees only"),
        ([["a"], []], "sees no GPU"),
    ],
)
def test_ranks_without_a_gpu_of_their_own_are_refused(visible: list[list[str]], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        assigned(visible, "n01", share=False)
    if all(visible):
        assert assigned([["a", "b"]] * 4, "n01", share=True) == [0, 1, 0, 1]


def test_the_driver_and_nvidia_smi_agree_about_gpus(backend: Backend) -> None:
    if backend.name == "cpu":
        pytest.skip("needs a GPU")
    known = [each.identity for each in nvidia.gpus()]
    if not known:
        pytest.skip("nvidia-smi does not list GPUs")
    found = identities()
    assert backend.identity == found[0]
    assert len(set(found)) == len(found) == devices()
    assert {*found} <= {*known}
