"""Ranks on two hosts, which are network namespaces connected by TCP."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from two_hosts import CannotMakeHostsError, TwoHosts

import islands


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    try:
        with TwoHosts(tmp_path_factory.mktemp("hosts")) as both:
            yield both
    except CannotMakeHostsError as error:
        pytest.skip(f"this machine cannot simulate two hosts: {error}")


RUN = [sys.executable, "-m", "islands", "run", "demo/tsp", "--json", "--backend", "cpu"]
RUN += ["--threads", "1", "--islands", "8", "--population", "16", "--migration", "elite"]
RUN += ["--interval", "5", "--migrants", "1", "--stop", "generations=50", "--improver", "none"]
MIGRATIONS, ISLANDS_A_HOST = 10, 4
WHERE = """
import platform
from islands.parallel import world
ranks = world()
places = ranks.allgather([platform.node(), ranks.local_rank, ranks.local_size])
if ranks.rank == 0:
    print(places)
"""


def result(done: tuple[int, str, str]) -> Any:
    status, out, error = done
    assert status == 0, out + error
    return json.loads(out)


def test_each_rank_knows_its_local_rank(hosts: TwoHosts, mpirun: list[str]) -> None:
    status, out, error = hosts.launch(mpirun[0], sys.executable, "-c", WHERE)
    places = [[name, place, 2] for name in hosts.names for place in (0, 1)]
    assert (status, out) == (0, f"{places}\n"), error


def test_two_hosts_give_the_same_bits_as_one_rank(
    hosts: TwoHosts, mpirun: list[str], tmp_path: Path
) -> None:
    before = hosts.carried()
    spread = result(hosts.launch(mpirun[0], *RUN, "--out", str(tmp_path / "four")))
    after = hosts.carried()
    line = [*RUN, "--out", str(tmp_path / "one")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    alone = json.loads(done.stdout)
    assert (spread["ranks"], alone["ranks"]) == (4, 1)
    assert spread["digest"] == alone["digest"]
    # In every migration, the best individual of each island, a float per city, reaches the other
    # host.
    least = MIGRATIONS * ISLANDS_A_HOST * 4 * len(alone["solution"])
    for was, now in zip(before, after, strict=True):
        assert now - was > least, "migrants have not used the network"


def test_the_doctor_sees_both_hosts(hosts: TwoHosts, mpirun: list[str]) -> None:
    told = result(hosts.launch(mpirun[0], sys.executable, "-m", "islands", "doctor", "--json"))
    places = [(each["host"], each["local_rank"]) for each in told["ranks"]]
    assert places == [(name, place) for name in hosts.names for place in (0, 1)]
    assert [each["trouble"] for each in told["transports"]] == [""] * len(told["transports"])
    assert told["works"] is True


SUPERVISE = Path(islands.__file__).parents[1] / "launch/supervise"
LONG_RUN = ["demo/tsp", "--json", "--backend", "cpu", "--threads", "1", "--islands", "8"]
LONG_RUN += ["--population", "128", "--interval", "10", "--stop", "generations=600"]
LONG_RUN += ["--set", "checkpoint.every=0.1s", "--algorithm", "brkga", "--improver", "none"]


def test_a_lost_host_does_not_change_the_result(
    hosts: TwoHosts, mpirun: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "lost"
    running = hosts.start(
        *(str(SUPERVISE), "-H", str(hosts.hostfile), "4", *LONG_RUN, "--out", str(folder)),
        PATH=f"{Path(mpirun[0]).parent}{os.pathsep}{os.environ['PATH']}",
        PYTHON=sys.executable,
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob("checkpoints/*/manifest.json")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    hosts.lose(hosts.names[1])
    out, error = running.communicate(timeout=120)
    assert running.returncode == 0, error
    assert "restart 1 of 3: mpirun -n 2 islands resume" in error
    result = json.loads(out)
    assert result["ranks"] == 2
    line = [sys.executable, "-m", "islands", "run", *LONG_RUN, "--out", str(tmp_path / "alone")]
    alone = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    assert result["digest"] == json.loads(alone.stdout)["digest"]
