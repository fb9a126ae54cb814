"""Tune a program: search for the best values of 20 parameters, running the program for each call.

python tune_program.py [CALLS] [FOLDER]
"""

import json
import subprocess
import sys
from typing import Any

import numpy as np

import islands
from islands import space

# An example of a program that reads settings and prints a cost. It schedules jobs on machines, with
# setups between families, by a dispatching rule and simulated annealing.
PROGRAM = """
import json, math, random, sys

s, data, jobs = json.load(sys.stdin), random.Random(7), range(40)
time, due, weight = ([data.randint(1, 20) for _ in jobs] for _ in range(3))
family, speed = [data.randrange(6) for _ in jobs], [1.0, 0.8, 1.3, 0.6]
due = [4 * day for day in due]
noise = random.Random(1)

def priority(j, now):
    slack = max(due[j] * s["due_factor"] - time[j] - now, 0)
    ratio = weight[j] ** s["weight_power"] / time[j] ** s["time_power"]
    rules = {"due": -due[j], "ratio": ratio, "slack": ratio * math.exp(-slack / (10 * s["look"]))}
    return rules[s["rule"]] + s["noise"] * noise.random()

def sequence():
    left, order, now, last, row = set(jobs), [], 0.0, -1, 0
    while left:
        same = [j for j in left if family[j] == last] if s["grouped"][last] else []
        among = sorted(same if same and row < s["in_a_row"] else left)
        j = max(among, key=lambda j: priority(j, now) + s["stay"] * (family[j] == last))
        row = row + 1 if family[j] == last else 1
        now, last = now + time[j] / 4, family[j]
        order.append(j)
        left.remove(j)
    return order

def tardiness(order):
    free, before, total = [0.0] * 4, [-1] * 4, 0.0
    for j in order:
        ends = [free[m] + (s["setup"] * (before[m] != family[j])) for m in s["machines"]]
        m = s["machines"][ends.index(min(ends))]
        free[m] += 3 * (before[m] != family[j]) + time[j] / speed[m]
        before[m] = family[j]
        total += weight[j] * max(0, free[m] - due[j])
    return total

def annealed(order):
    now = best = tardiness(order)
    for step in range(s["steps"]):
        heat = s["hot"] * (s["cold"] * 1e-3) ** ((step / s["steps"]) ** s["curve"])
        other, u = order[:], noise.randrange(40)
        v = min(39, u + noise.randint(1, s["reach"]))
        if s["move"] == "swap" or (s["move"] == "both" and noise.random() < s["share"]):
            other[u], other[v] = other[v], other[u]
        else:
            other.insert(v, other.pop(u))
        cost = tardiness(other)
        limit = heat if s["threshold"] else -heat * math.log(1 - noise.random())
        if cost - now <= limit:
            order, now = other, cost
        best = min(best, now)
    return best

print(min(annealed(sequence()) for _ in range(s["restarts"])) + 0.1 * s["steps"] * s["restarts"])
"""

PARAMETERS = {
    "rule": space.category("due", "ratio", "slack"),
    "look": space.real(0.1, 100, log=True),
    "due_factor": space.real(0, 2),
    "weight_power": space.real(0, 2),
    "time_power": space.real(0, 2),
    "noise": space.real(1e-4, 1, log=True),
    "stay": space.real(0, 20),
    "grouped": space.subset(6),
    "in_a_row": space.integer(1, 10),
    "machines": space.order(4),
    "setup": space.real(0, 10),
    "steps": space.integer(10, 300, log=True),
    "restarts": space.integer(1, 2),
    "hot": space.real(0.1, 1000, log=True),
    "cold": space.real(1e-3, 1, log=True),
    "curve": space.real(0.3, 3),
    "move": space.category("swap", "insert", "both"),
    "share": space.real(0, 1),
    "reach": space.integer(1, 39, log=True),
    "threshold": space.category(False, True),
}


def cost_of(settings: dict[str, Any]) -> float:
    """Run the program with these settings; return its cost, or infinity if it fails."""
    text = json.dumps(settings, default=np.ndarray.tolist)
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(command, input=text, capture_output=True, text=True)
    return float(ended.stdout) if ended.returncode == 0 else float("inf")


def main(calls: float, folder: str | None = None) -> None:
    """Search for good parameters in at most `calls` calls; save the run in `folder`, if given."""
    problem = islands.mixed(PARAMETERS, function=cost_of, name="program")
    # A small population, because the number of calls is small.
    result = islands.solve(problem, population=10, evaluations=calls, out=folder, verbose=True)
    for name, value in result.solution.items():
        print(f"{name:14}{value}")


if __name__ == "__main__":
    main(float([*sys.argv, "300"][1]), *sys.argv[2:3])
