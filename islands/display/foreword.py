"""What a run says before it has a folder with a log, which takes it in later."""

from __future__ import annotations

from typing import TextIO

import islands
from islands.display.screen import Screen, opening
from islands.parallel import World, deal
from islands.problems.base import Problem
from islands.spec.spec import RunSpec


class Foreword:
    """Says what runs at once, before anything is compiled, and keeps it for the log."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Say something before the run."""
        self.said.append(text)
        self._screen.say(text)


def open_run(
    spec: RunSpec, problem: Problem, world: World, stream: TextIO | None, *, quiet: bool
) -> Foreword:
    """Say what runs, before what may take long: a device, and programs to compile; collective."""
    world.agreed(lambda: deal(spec.general.islands, world.size, world.rank))
    foreword = Foreword(Screen(stream if world.rank == 0 else None, None, quiet=quiet))
    foreword.say(opening(islands.__version__, spec, problem, world.size))
    return foreword
