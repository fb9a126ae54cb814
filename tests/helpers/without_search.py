"""Commands up to the search: options, settings, files, and which ranks have which islands.

All that a command refuses, it refuses here too, with any number of ranks, on CPUs and on GPUs that
this machine does not have. Runs get a folder with their settings, so that later commands find it.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from itertools import count
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any, NoReturn, Self, TypeVar

import pytest
import tomli_w
from pages import ROOT, Started

from islands.bench.gpus_rows import TARGET
from islands.campaign.engine import Campaign
from islands.campaign.series import _Performance
from islands.campaign.tuning import Tuning
from islands.cli import COMMANDS, functions_of, job, parsed
from islands.cli.arguments import names_in
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.custom import trust
from islands.parallel import World, powers_of_two
from islands.problems import load, read
from islands.problems.base import Problem
from islands.record.folder import BEST
from islands.reproduce.experiment import ExperimentRequest
from islands.reproduce.table import Selection
from islands.run.runner import run
from islands.run.single import Output
from islands.slurm.ranks import Launcher

Value = TypeVar("Value")
_REPRODUCED = set[tuple[Any, ...]]()
"""The runs of papers that have been tried: several commands repeat all of them."""
_BLOCK_MEMORY = 227 * 1024 - 2048
"""Bytes of an H100 for a block."""
_CAPTURE = """#!/bin/sh
for word; do printf '%s\\n' "$word"; done >"$CAPTURED"
exit 2
"""
"""A launcher that writes what it would start, and fails as wrong usage does: without a restart."""


class Reached(BaseException):
    """The search would begin."""


class AllAlike(World):
    """Rank 0 of ranks that all do the same."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size = size

    def allgather(self, value: Value) -> list[Value]:
        return [value] * self.size

    gather = allgather

    def bcast(self, value: Value) -> Value:
        return value

    def barrier(self) -> None:
        """Return at once."""

    def split(self, group: int) -> Self:
        raise AssertionError("the search has begun")

    @contextmanager
    def guarded(self, *, show_traceback: bool) -> Iterator[None]:
        yield


def _stopped(*_: Any) -> NoReturn:
    raise Reached


def _series(performance: _Performance) -> NoReturn:
    for each in performance._plan.first:
        with suppress(Reached):
            performance._done(each)
    raise Reached


def _measured(request: Any, problems: Sequence[Problem], tasks: Any) -> Iterator[Any]:
    for problem in problems:
        for task in tasks[problem.instance]:
            with suppress(Reached):
                task.made(problem, 1, request)
    return iter(())


def _compared(request: Any, cases: Sequence[Any]) -> Iterator[Any]:
    for case in cases:
        for ranks in powers_of_two(request.world.size):
            _try_run(case.spec(ranks, TARGET, 1), case.problem, ranks)
    return iter(())


def _tuned(tuning: Tuning, campaign: Campaign, _output: Any) -> NoReturn:
    for task in tuning.tasks:
        _try_run(task.spec, task.problem.adjusted(task.spec.problem), 1)
    # The first configuration stands in for the best one.
    first = tuning.tasks[0]
    best = tuning.request.settings(first.configuration.values, first.spec)
    assert campaign.folder is not None
    (campaign.folder / BEST).write_text(tomli_w.dumps(best))
    raise Reached


def _reproduced(selections: Sequence[Selection], request: ExperimentRequest, *_: Any) -> NoReturn:
    for selection in selections:
        kind = selection.table
        made = request.experiment(kind.name, kind.preset, kind.generations)
        for found in selection.here:
            size = request.campaign.world.size
            run_of_table = (kind.preset, kind.name, found.name, request.backend, size)
            if run_of_table in _REPRODUCED:
                continue
            _REPRODUCED.add(run_of_table)
            problem = read(found)
            if kind(made, selection.missing, [found.name]).skip_reason(problem) is None:
                spec = resolve(layers(made._options(problem, 1, {})), problem)
                _try_run(spec, problem.adjusted(spec.problem), size)
    raise Reached


def _try_run(spec: RunSpec, problem: Problem, ranks: int) -> None:
    with suppress(Reached):
        run(spec, problem, AllAlike(ranks), Output())


@contextmanager
def without_search(ranks: int, *, has_gpus: bool) -> Iterator[None]:
    """Let commands end where they would begin to search, on a machine with or without GPUs."""
    found = ("cuda", f"{ranks} GPUs found") if has_gpus else ("cpu", "no GPU found")
    device = SimpleNamespace(
        name=found[0],
        device="a device",
        block_memory=_BLOCK_MEMORY if has_gpus else None,
        compiling=SimpleNamespace(),
        kept_as=None,
        begin_run=lambda: None,
        synchronise=lambda: None,
        another_stream=lambda: None,
        stopping_if=lambda _: nullcontext(),
    )
    replaced: dict[str, Any] = {
        "islands.backends.automatic": lambda: found,
        "islands.backends.gpus.devices": lambda: ranks if has_gpus else 0,
        "islands.backends.gpus.block_memory": lambda _: _BLOCK_MEMORY,
        "islands.run.runner.take_device": lambda *_, **__: device,
        "islands.run.runner.make_archipelago": lambda *_, **__: None,
        "islands.run.runner.Machine": SimpleNamespace(of=lambda *_: None),
        "islands.run.runner.perform": _stopped,
        "islands.run.build.take_device": lambda *_, **__: device,
        "islands.campaign.tuning.take_device": lambda *_, **__: device,
        "islands.campaign.workers.take_device": lambda *_, **__: device,
        # Instances that would share launches are tried one by one.
        "islands.run.preparing.Preparing.waiting": lambda *_: None,
        "islands.campaign.tune._results": _tuned,
        "islands.campaign.series._Performance.perform": _series,
        "islands.reproduce.perform.perform": _reproduced,
        "islands.bench.quality._measured": _measured,
        "islands.bench.gpus._measured": _compared,
        "islands.cli.bench._print": lambda *_: None,
        # Programs of others need not be installed here.
        "islands.cli.bench.require_installed": lambda _: None,
        "islands.bench.quality.require_fitting": lambda *_: None,
        **{
            f"islands.cli.{name}.world": lambda **_: AllAlike(ranks)
            for name in ("run", "bench", "reproduce", "tune")
        },
    }
    for name in replaced:
        resolve_name(name)  # a module that is imported later would keep what replaces a function
    with pytest.MonkeyPatch.context() as patches:
        for name, value in replaced.items():
            patches.setattr(name, value)
        # Defaults ask the launcher for the number of ranks.
        patches.setenv("OMPI_COMM_WORLD_RANK", "0")
        patches.setenv("OMPI_COMM_WORLD_SIZE", str(ranks))
        yield


_NUMBERS = count(1000)
"""The numbers of jobs."""
_TRIED = ("run", "resume", "tune", "reproduce", "bench")
"""The commands that are followed up to the search, as is `submit`, with the job that it writes."""


def tried(command: Started, *, has_gpus: bool, captured: Path) -> str:
    """Do all that a command does before it searches; return what it prints.

    `captured` is a file for what `islands-supervise` would launch.
    """
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        if command.supervised:
            launched = _supervised(command.words, captured)
            ranks = int(launched[launched.index("-n") + 1])
            _try(launched[launched.index("islands") + 1 :], ranks, has_gpus=has_gpus)
        elif command.job:
            _try_job(command, has_gpus=has_gpus)
        elif command.words[0] == "submit":
            _try_submit(command.words, has_gpus=has_gpus)
        else:
            _try(command.words, command.ranks, has_gpus=has_gpus)
    return printed.getvalue()


def _try(words: Sequence[str], ranks: int, *, has_gpus: bool) -> None:
    if "--help" in words:
        with suppress(SystemExit):
            parsed([*words])
        return
    args = parsed([*words])
    if words[0] in _TRIED:
        _, perform = functions_of(words[0])
        with (
            trust.command(names_in(args)),
            without_search(ranks, has_gpus=has_gpus),
            suppress(Reached),
        ):
            perform(args)
    elif words[0] in ("verify", "check") and not Path(args.instance).is_dir():
        load(args.instance)


def _supervised(words: Sequence[str], captured: Path) -> list[str]:
    """Return the command that `islands-supervise` launches."""
    launcher = captured.absolute().with_name("launcher")
    launcher.write_text(_CAPTURE)
    launcher.chmod(0o755)
    variables = {"ISLANDS_MPIRUN": str(launcher), "PYTHON": sys.executable}
    script = [ROOT / "launch" / "supervise", *words]
    done = subprocess.run(
        script,
        env={**os.environ, **variables, "CAPTURED": str(captured)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert captured.exists(), done.stderr
    return captured.read_text().splitlines()


def _try_submit(words: Sequence[str], *, has_gpus: bool) -> None:
    """Submit a job, and do what its script does."""
    args = parsed([*words])
    with without_search(1, has_gpus=has_gpus):
        job.submit(args)
    if args.dry_run:
        return
    (script,) = sorted(Path().glob("**/slurm/job.sbatch"), key=_age)[:1]
    text = script.read_text()
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=(.*)$", text, re.MULTILINE))
    (own,) = re.findall(r"^set -- (.*)$", text, re.MULTILINE)
    (kind,) = re.findall(r"islands\.cli\.job (\w+)", text)
    each = int(options["ntasks-per-node"])
    ranks = int(options["nodes"]) * each
    own_words = tuple(shlex.split(own))
    _try_job(Started(own_words, ranks, kind, each), has_gpus="gpus-per-node" in options)


def _age(path: Path) -> float:
    return -path.stat().st_mtime


def _try_job(command: Started, *, has_gpus: bool) -> None:
    """Do what a batch script does in a job of as many nodes as the command asks for."""
    nodes = command.ranks // command.ranks_a_node
    each = powers_of_two(nodes) if command.job == "scaling" else [nodes]
    for number in each:
        for element in (1, 2) if command.job == "sweep" else (None,):
            variables = _of_job(number, command.ranks_a_node, element, has_gpus=has_gpus)
            _try_in_job(command, variables, number * command.ranks_a_node, has_gpus=has_gpus)


def _of_job(
    nodes: int, ranks_a_node: int, element: int | None, *, has_gpus: bool
) -> dict[str, str]:
    gpus = ranks_a_node if has_gpus else 0
    variables = {"SLURM_JOB_ID": str(next(_NUMBERS)), "SLURM_JOB_NAME": f"job-on-{nodes}"}
    variables |= {"SLURM_TASKS_PER_NODE": f"{ranks_a_node}(x{nodes})"}
    variables |= {"SLURM_GPUS_ON_NODE": str(gpus), "ISLANDS_SITE": "a site"}
    if element is not None:
        array = str(next(_NUMBERS))
        variables |= {"SLURM_ARRAY_TASK_ID": str(element), "SLURM_ARRAY_JOB_ID": array}
    return variables


def _try_in_job(
    command: Started, variables: Mapping[str, str], ranks: int, *, has_gpus: bool
) -> None:
    begun = list[str]()

    def launched(_signals: Any, line: Sequence[str], _variables: Any) -> int:
        begun[:] = line[line.index("islands") + 1 :]
        return 2  # as wrong usage, which is not tried again

    with pytest.MonkeyPatch.context() as patches:
        for name, value in variables.items():
            patches.setenv(name, value)
        patches.setattr("islands.slurm.run_job.find_launcher", lambda _: Launcher((), {}))
        patches.setattr("islands.slurm.processes.Signals.run", launched)
        with without_search(ranks, has_gpus=has_gpus):
            assert job._run([command.job, *command.words]) == 2
    assert begun[0] in COMMANDS
    _try(begun, ranks, has_gpus=has_gpus)
