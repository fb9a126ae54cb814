"""Ranks that use the same device divide its free memory among them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from islands.parallel import World
from islands.run import build
from islands.testing.ranks import on_ranks


@pytest.mark.parametrize(
    ("seen", "sharers"),
    [
        ([["a", "b"], ["a", "b"]], [1, 1]),
        ([["a"], ["a"], ["a", "b"]], [2, 2, 1]),
        ([["a"], ["b"], ["b"], ["b"]], [1, 3, 3, 3]),
    ],
)
def test_ranks_on_a_gpu_are_counted(
    seen: list[list[str]], sharers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(name: str, threads: object, gpu: int, sharers: int) -> Any:
        return SimpleNamespace(sharers=sharers)

    monkeypatch.setattr(build, "takes_gpu", lambda _: True)
    monkeypatch.setattr(build, "choose", chosen)

    monkeypatch.setattr("islands.backends.gpus.identities", lambda: ["any"])

    def taken(world: World) -> Any:
        world.local_rank, world.local_size = world.rank, world.size
        world.local_allgather = lambda _: seen  # type: ignore[assignment, method-assign]
        return build.take_device(world, "cuda", share_gpu=True).sharers  # type: ignore[attr-defined]

    assert on_ranks(len(seen), taken) == sharers
