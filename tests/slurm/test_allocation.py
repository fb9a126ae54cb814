"""The allocation in the variables of a job, launchers, time limits and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.errors import UsageError
from islands.parallel import powers_of_two
from islands.slurm.command_line import CommandWords
from islands.slurm.ranks import Allocation, Launcher, find_launcher
from islands.slurm.submit import seconds_of, signal_before, time_limit
from islands.slurm.sweep import element_options

JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "solve"}


def allocation(**variables: str) -> Allocation:
    """Return the allocation of a job with these variables."""
    return Allocation.of(JOB | variables)


def test_tasks_of_each_node_are_read() -> None:
    assert allocation(SLURM_TASKS_PER_NODE="4(x2),1").ranks == (4, 4, 1)
    assert allocation(SLURM_TASKS_PER_NODE="2").ranks == (2,)


@pytest.mark.parametrize(
    ("variables", "gpus"),
    [
        ({"SLURM_GPUS_ON_NODE": "4"}, 4),
        ({"SLURM_GPUS_ON_NODE": "4", "CUDA_VISIBLE_DEVICES": "0"}, 4),  # --gpus-per-task
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, 2),
        ({"CUDA_VISIBLE_DEVICES": ""}, 0),
    ],
)
def test_gpus_are_counted_however_slurm_grants_them(variables: dict[str, str], gpus: int) -> None:
    assert allocation(**variables).gpus == gpus


@pytest.mark.parametrize(
    ("tasks", "gpus", "said"),
    [
        ("2", "0", "2 ranks and 0 GPUs on the first node. Request GPUs, for example with sbatch"),
        ("1", "4", "1 rank and 4 GPUs on the first node, but each rank uses one GPU"),
        ("4", "2", "--ntasks-per-node=2 with --gpus-per-node=2, or add --share-gpu to the run"),
    ],
)
def test_ranks_and_gpus_that_do_not_match_are_refused(tasks: str, gpus: str, said: str) -> None:
    job = allocation(SLURM_TASKS_PER_NODE=tasks, SLURM_GPUS_ON_NODE=gpus)
    with pytest.raises(UsageError) as refused:
        job.require_a_gpu_for_each_rank(on_cpu=False, share_gpu=False)
    assert said in str(refused.value)
    job.require_a_gpu_for_each_rank(on_cpu=True, share_gpu=False)


def test_outside_of_a_job_the_error_says_how_to_submit_one() -> None:
    with pytest.raises(UsageError, match=r"sbatch slurm/run\.sbatch INSTANCE"):
        Allocation.of({})


def test_srun_and_mpirun_place_the_ranks_of_the_first_nodes() -> None:
    srun = Launcher(("srun", "--mpi=pmi2"), {}).command((4, 4), ["islands"])
    assert srun[:6] == ["srun", "--mpi=pmi2", "--nodes=2", "-n", "8", "--kill-on-bad-exit=1"]
    mpirun = Launcher(("mpirun",), {"OMPI": "1"}).command((4, 4), ["islands"])
    assert mpirun[:5] == ["mpirun", "-n", "8", "--map-by", "ppr:4:node:oversubscribe"]
    assert Launcher((), {}).command((1,), ["islands"]) == ["islands"]


def test_a_missing_launcher_is_refused() -> None:
    with pytest.raises(UsageError, match="ISLANDS_LAUNCHER=nowhere: not found on the PATH"):
        find_launcher(2, {"ISLANDS_LAUNCHER": "nowhere"})


@pytest.mark.parametrize(
    ("text", "limit", "seconds"),
    [
        ("90s", "00:01:30", 90),
        ("1h", "01:00:00", 3600),
        ("1-12:00:00", "1-12:00:00", 129600),
        ("2-6", "2-6", 194400),
        ("5:30", "5:30", 330),
        ("2-6:30", "2-6:30", 196200),
    ],
)
def test_time_limits_are_those_of_users_or_of_slurm(text: str, limit: str, seconds: int) -> None:
    assert time_limit(text) == limit
    assert seconds_of(limit) == seconds


@pytest.mark.parametrize("text", ["", "1x", "60", "-1h", "0s", "1-", "nan"])
def test_other_time_limits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a time such as"):
        time_limit(text)


def test_options_are_found_in_words() -> None:
    words = CommandWords(["demo/tsp", "--out=a", "--backend", "cpu", "--quiet", "--seed", "2"])
    assert str(words.folder) == "a"
    assert words.without("--out") == ["demo/tsp", "--backend", "cpu", "--quiet", "--seed", "2"]
    assert words.of_resume() == ["--backend", "cpu", "--quiet"]
    assert str(CommandWords(["resume", "b"]).folder) == "b"


def test_time_limits_of_sites_give_the_notice() -> None:
    assert seconds_of("1") == 60, "a number alone means minutes"
    assert signal_before("1") == "B:USR1@15"
    assert signal_before("01:00:00") == "B:USR1@120"
    assert signal_before("UNLIMITED") is None


def test_commands_for_an_element_name_the_array() -> None:
    element = allocation(SLURM_ARRAY_JOB_ID="5", SLURM_ARRAY_TASK_ID="3")
    assert (element.job, element.array, element.element) == ("5_3", "5", 3)


def test_an_element_has_its_number_as_seed() -> None:
    assert element_options(["demo/tsp"], 3) == ["demo/tsp", "--seed", "3"]
    assert element_options(["demo/tsp"], 0)[-1] == "0"
    with pytest.raises(UsageError, match="--seed 5: each element of a sweep uses its own"):
        element_options(["demo/tsp", "--seed", "5"], 3)


def test_lists_of_options_may_have_blank_lines_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "sweep.txt"
    path.write_text("# eight islands\n\ndemo/tsp --islands 8\n  # more\n\t\ndemo/qap\n")
    assert element_options([str(path), "--quiet"], 2) == ["demo/qap", "--quiet"]
    for element in (0, 3):
        with pytest.raises(UsageError, match=f"element {element}: .* for elements 1 to 2"):
            element_options([str(path)], element)


def test_nodes_of_a_scaling_test_double() -> None:
    assert powers_of_two(1) == [1]
    assert powers_of_two(6) == [1, 2, 4, 6]
    assert powers_of_two(8) == [1, 2, 4, 8]
