"""Ranks: their number from the launcher, collectives, and errors and interrupts on one of them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from jobs import ran

from islands.errors import InputError, RunError, UsageError
from islands.parallel import World, launched, world
from islands.parallel.failure import common


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (0, 1)),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, (2, 4)),
        ({"PMI_RANK": "1", "PMI_SIZE": "3"}, (1, 3)),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6"}, (5, 6)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "6"}, (0, 1)),
    ],
)
def test_rank_and_size_come_from_the_launcher(
    environment: dict[str, str], expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "MV2_", "SLURM_")):
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert launched() == expected


@pytest.mark.parametrize(("rank", "size"), [("x", "2"), ("0", "-2"), ("2", "2")])
def test_invalid_variables_of_a_launcher_are_rejected(
    rank: str, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", rank)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", size)
    with pytest.raises(UsageError, match="OMPI_COMM_WORLD"):
        launched()


def alone(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new Python process, with only the launcher's variables in `environment`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "PRTE_"))}
    return ran(sys.executable, "-c", code, env={**kept, **environment})


def test_one_rank_needs_no_mpi() -> None:
    code = (
        "import sys; sys.modules['mpi4py'] = None\n"
        "from islands.parallel import world\n"
        "w = world(); print(w.rank, w.size, w.local_rank, w.allgather(7), w.bcast(8), w.any(True))"
    )
    assert alone(code).stdout.split("\n")[0] == "0 1 0 [7] 8 True"


def test_several_ranks_without_mpi4py_print_what_to_install() -> None:
    code = "import sys; sys.modules['mpi4py'] = None\nfrom islands.cli import main\n"
    done = alone(
        code + "sys.exit(main(['run']))", OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2"
    )
    assert done.returncode == 2
    assert "pip install 'islands[mpi]'" in done.stderr
    assert done.stderr.count("\n") == 1


def fails() -> None:
    raise InputError("no such file")


def test_one_rank_raises_its_own_error() -> None:
    with pytest.raises(InputError, match=r"^no such file$"):
        World().run_on_all(fails)
    with pytest.raises(KeyError), World().guarded(show_traceback=False):
        raise KeyError("k")
    assert World().run_on_all(lambda: 5) == 5


def test_the_common_error_names_its_rank_unless_all_have_it() -> None:
    alike = [RunError("no device"), RunError("no device")]
    assert common(alike) is alike[0]
    for errors, text in (
        ([None, UsageError("no device"), None], "[rank 1 of 3] no device"),
        ([UsageError("no device"), RunError("no file")], "[rank 0 of 2] no device"),
    ):
        error = common(errors)
        assert (type(error), str(error)) == (UsageError, text)


@pytest.mark.mpi(min_size=2)
def test_collectives_return_the_values_of_all_ranks() -> None:
    ranks = world()
    assert ranks.allgather(ranks.rank**2) == [rank**2 for rank in range(ranks.size)]
    assert ranks.bcast(("first", ranks.rank)) == ("first", 0)
    gathered = ranks.gather(ranks.rank)
    assert gathered == (list(range(ranks.size)) if ranks.rank == 0 else [])
    assert ranks.any(ranks.rank == ranks.size - 1)
    assert not ranks.any(False)
    assert 0 <= ranks.local_rank < ranks.size


@pytest.mark.mpi(min_size=2)
def test_all_ranks_get_the_numbers_of_each() -> None:
    ranks = world()
    numbers = np.array([ranks.rank, -(2**62), 7 * ranks.rank])
    assert ranks.allgather_numbers(numbers[::-1]).tolist() == [
        [7 * rank, -(2**62), rank] for rank in range(ranks.size)
    ]


@pytest.mark.mpi(min_size=2)
def test_messages_are_sent_in_both_directions_at_once() -> None:
    ranks = world()
    others = [rank for rank in range(ranks.size) if rank != ranks.rank]
    arrived = {rank: np.zeros(1 << 20, np.uint8) for rank in others}
    pending = ranks.post(
        [(rank, np.full(1 << 20, 10 * ranks.rank + rank, np.uint8)) for rank in others],
        list(arrived.items()),
    )
    pending.wait()
    for rank in others:
        assert set(arrived[rank]) == {10 * rank + ranks.rank}


@pytest.mark.mpi(min_size=2)
def test_part_returns_a_world_of_the_first_ranks() -> None:
    ranks = world()
    part = ranks.part(2)
    assert (part is not None) == (ranks.rank < 2)
    if part is not None:
        assert (part.rank, part.size) == (ranks.rank, 2)
        assert part.allgather(ranks.rank) == [0, 1]


@pytest.mark.mpi(min_size=2)
def test_an_error_on_one_rank_is_raised_on_all() -> None:
    ranks = world()

    def work() -> None:
        if ranks.rank == 1:
            raise RunError("disk full")

    with pytest.raises(RunError, match=rf"^\[rank 1 of {ranks.size}\] disk full$"):
        ranks.run_on_all(work)
    assert ranks.allgather(1) == [1] * ranks.size


FAILURE_ON_ONE_RANK = """
from islands.parallel import world
ranks = world()
with ranks.guarded(show_traceback=False):
    if ranks.rank == 1:
        raise {error}
    ranks.barrier()
"""


@pytest.mark.parametrize(
    ("error", "message", "status"),
    [
        ("ZeroDivisionError('by zero')", "unexpected ZeroDivisionError: by zero", 1),
        ("__import__('islands').IslandsError('no transport')", "no transport", 2),
        # Another rank may have died: islands-supervise restarts the job.
        ("__import__('mpi4py').MPI.Exception(16)", "unexpected Exception: MPI_ERR_OTHER", 69),
    ],
)
def test_an_error_on_one_rank_ends_all_and_is_printed_once(
    mpirun: list[str], error: str, message: str, status: int
) -> None:
    code = FAILURE_ON_ONE_RANK.format(error=error)
    done = ran(*mpirun, "3", sys.executable, "-c", code)
    assert done.returncode == status
    assert done.stderr.count("islands: [rank 1 of 3, ") == 1
    assert done.stderr.count(message) == 1


@pytest.mark.mpi(min_size=2)
def test_ranks_that_are_divided_again_in_the_same_way_get_the_same_world() -> None:
    ranks = world()
    first = ranks.split(ranks.rank % 2)
    assert first.size == len(range(ranks.rank % 2, ranks.size, 2))
    assert first.allgather(ranks.rank) == [*range(ranks.rank % 2, ranks.size, 2)]
    assert ranks.split(ranks.rank % 2) is first
    every = ranks.split(0)
    assert every is not first
    assert every.allgather(ranks.rank) == [*range(ranks.size)]
    assert ranks.split(0) is every


ONE_IS_INTERRUPTED = """
import os, signal, time
import islands.cli, islands.cli.run

def interrupted():
    ranks = islands.parallel.world()
    if ranks.rank == 1:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return ranks

islands.cli.run.world = interrupted
islands.cli.main()
"""


@pytest.mark.slow
def test_an_interrupt_of_one_rank_during_the_start_ends_all(mpirun: list[str]) -> None:
    line = ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--stop", "seconds=1"]
    done = ran(*mpirun, "2", sys.executable, "-c", ONE_IS_INTERRUPTED, *line)
    assert done.returncode == 130
