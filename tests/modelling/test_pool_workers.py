"""Costs in Python inside a worker of a `multiprocessing.Pool`, which may not start processes."""

import sys
from pathlib import Path

from jobs import ran

SCRIPT = """
import multiprocessing
import islands


def cost(order):
    return int(order[0]) * 7 + int(order[1])


def digest(threads):
    problem = islands.permutation(6, function=cost)
    options = {"algorithm": "ga", "population": 16, "generations": 3, "backend": "cpu"}
    return islands.solve(problem, threads=threads, **options).digest


if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool:
        print(pool.apply(digest, (2,)) == digest(1))
"""


def test_a_worker_of_a_pool_calls_the_function_itself(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = ran(sys.executable, script)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
