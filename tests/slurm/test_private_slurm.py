"""The private cluster of these tests, several of which run at the same time on one machine."""

from __future__ import annotations

import subprocess
import time

from private_slurm import User


def test_processes_of_another_cluster_are_on_no_node_of_this_one(user: User) -> None:
    cluster = user.cluster
    number = user.sbatch("--nodelist=n1", "--wrap", "exec sleep 99")
    environment = {"SLURMD_NODENAME": "n1", "SLURM_CONF": "/other/slurm.conf"}
    other = subprocess.Popen(["sleep", "99"], env=environment)
    try:
        deadline = time.monotonic() + 60
        while not (own := cluster.processes("n1")):
            assert time.monotonic() < deadline, cluster.job(number)
            time.sleep(0.1)
        assert other.pid not in own
        assert not set(own) & set(cluster.processes("n2"))
    finally:
        other.kill()
        other.wait()
        cluster.call("scancel", number)
        cluster.wait(number, "CANCELLED")
