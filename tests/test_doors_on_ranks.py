"""The interfaces of other projects on two ranks: all have the same answers, whatever the seeds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("dimod")
pytest.importorskip("networkx")

SCRIPT = """
import json
import dimod
import networkx as nx
import numpy as np
import islands
from islands.dimod import Sampler

found = []
pairs = {(k, k + 1): -1.0 for k in range(59)} | {(k, k + 7): 0.5 for k in range(50)}
model = dimod.BinaryQuadraticModel.from_ising({k: k / 10 for k in range(60)}, pairs)
states = dimod.SampleSet.from_samples_bqm([1] * 60, model)
with Sampler(backend="cpu", threads=1) as sampler:
    begun = {"initial_states": states, "num_reads": 2, "seed": None}
    for given in ({}, {"seed": None}, {"num_reads": 3}, begun):
        samples = sampler.sample(model, time_limit=0.3, **given)
        found.append([samples.info["seed"], samples.info["digest"], samples.first.energy])
graph = nx.gnm_random_graph(60, 300, seed=1)
value, sides = nx.approximation.one_exchange(graph, time_limit=0.3, backend="islands")
found.append([value, sorted(sides[0]), nx.cut_size(graph, *sides)])
colours = nx.greedy_color(graph, time_limit=0.3, backend="islands")
found.append([colours[node] for node in graph])
a, b = np.random.default_rng(1).integers(0, 9, (2, 15, 15))
options = {"time_limit": 0.3, "rng": None}
match = islands.scipy.quadratic_assignment(a, b, options=options)
found.append([match.seed, match.digest, match.col_ind.tolist()])
print(json.dumps(found), flush=True)
"""


@pytest.mark.slow
def test_all_ranks_have_the_same_answers(mpirun: list[str]) -> None:
    done = subprocess.run(
        [*mpirun, "2", sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines() if line[:1] == "[")
    assert first == second
    assert first[4][0] == first[4][2]
