"""A user's algorithm: threshold accepting on tours, by swaps of a city and a near one.

It uses all features of algorithms: its own kernels, three launches per generation, a table shared
by all islands, positions of cities (derived), a threshold that travels with its individual, and
proposals (scratch).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import islands

TEXT = r"""
#include "core/islands.cuh"
#include "individual.cuh"

namespace algorithm {

struct Plan {
    int32_t near, cooling;
    const int32_t* neighbours;  // [city][near]
    int32_t* position;          // [islands][population][pitch]: the position of each city
    int64_t* threshold;         // [islands][population]
    int32_t* proposal;          // [islands][population][2]: positions to swap
    int64_t* delta;             // [islands][population]
};

}  // namespace algorithm

#define OWN_KERNEL(name)                                                                    \
    KERNEL(name, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,   \
                  improver::Plan))

OWN_KERNEL(threshold_start) {
    Scratch scratch(arena.large()), small(arena.small());
    encoding::Decoder decoder(scratch, small, all.shape);
    for (int job = blockIdx.x; job < all.islands * all.population; job = next_job(job)) {
        const auto [local, slot] = all.individual(job);
        const int32_t row = all.row(0, local, slot);
        encoding::Gene* const genes = all.genes_of(row);
        const draw::Place place = all.place(local, 0, slot);
        if (slot >= all.given[local]) encoding::fill(genes, all.shape, place, stream::START);
        const int64_t cost = individual::cost_of(decoder, scratch, all, data, decoder.decode(genes),
                                                 genes, place);
        if (threadIdx.x == 0) all.cost[row] = cost, plan.threshold[job] = cost / 16;
        all.count(local, slot, 1);
    }
}

// Computes the positions of new individuals.
OWN_KERNEL(threshold_locate) {
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        if (!all.changed[job]) continue;
        const auto [local, slot] = all.individual(job);
        const int64_t generation = all.island[local].generation;
        const encoding::Gene* const genes = all.genes_of(all.row(generation, local, slot));
        int32_t* const position = plan.position + int64_t(job) * all.shape.pitch;
        for (int i = threadIdx.x; i < all.shape.n; i += blockDim.x) position[genes[i]] = i;
    }
}

OWN_KERNEL(threshold_propose) {
    const int job = blockIdx.x;
    const auto [local, slot] = all.individual(job);
    const int64_t generation = all.island[local].generation;
    const encoding::Gene* const genes = all.genes_of(all.row(generation, local, slot));
    const int32_t* const position = plan.position + int64_t(job) * all.shape.pitch;
    const uint4 word = all.place(local, generation + 1, slot).words(stream::OTHERS, 0);
    const int city = draw::below(word.x, all.shape.n);
    const int other = plan.neighbours[city * plan.near + draw::below(word.y, plan.near)];
    const int u = min(position[city], position[other]), v = position[city] + position[other] - u;
    if (threadIdx.x > 0) return;
    plan.proposal[2 * job] = u, plan.proposal[2 * job + 1] = v;
    plan.delta[job] = problem::delta(genes, all.shape.n, data, moves::Swap{u, v});
}

OWN_KERNEL(threshold_accept) {
    const int job = blockIdx.x;
    const auto [local, slot] = all.individual(job);
    const int64_t generation = all.island[local].generation;
    const int32_t from = all.row(generation, local, slot);
    const int32_t to = all.row(generation + 1, local, slot);
    const encoding::Gene* const genes = all.genes_of(from);
    encoding::Gene* const next = all.genes_of(to);
    int32_t* const position = plan.position + int64_t(job) * all.shape.pitch;
    const int u = plan.proposal[2 * job], v = plan.proposal[2 * job + 1];
    const bool accepts = plan.delta[job] <= plan.threshold[job];
    copy_row(next, genes, all.shape.pitch);
    __syncthreads();
    all.count(local, slot, 1);
    if (threadIdx.x > 0) return;
    all.cost[to] = all.cost[from] + (accepts ? plan.delta[job] : 0);
    if (!accepts) return;
    next[u] = genes[v], next[v] = genes[u];
    position[genes[v]] = u, position[genes[u]] = v;
}

// One block per island.
OWN_KERNEL(threshold_cool) {
    int64_t* const mine = plan.threshold + int64_t(blockIdx.x) * all.population;
    for (int i = threadIdx.x; i < all.population; i += blockDim.x) {
        mine[i] -= mine[i] / plan.cooling;
    }
}
"""


@dataclass(frozen=True)
class ThresholdSettings(islands.Settings):
    near: int = islands.setting(5, "nearest neighbours of each city", low=1, high=100)
    cooling: int = islands.setting(16, "each generation lowers a threshold by its 1/cooling", low=1)


class Threshold(islands.Algorithm):
    """Threshold accepting (Dueck and Scheuer 1990)."""

    name: ClassVar[str] = "threshold"
    header: ClassVar[islands.Header] = islands.Header("threshold.cuh", TEXT)
    encodings: ClassVar[tuple[str, ...]] = ("permutation",)
    Settings: ClassVar[type[islands.Settings]] = ThresholdSettings
    loses_best = True

    def fields(self, shape: islands.Shape) -> dict[str, islands.Field]:
        size = shape.population
        return {
            "threshold": islands.Field((size,), np.int64, travels=True),
            "position": islands.Field((size, shape.pitch), np.int32, kind="derived"),
            "proposal": islands.Field((size, 2), np.int32, kind="scratch"),
            "delta": islands.Field((size,), np.int64, kind="scratch"),
        }

    def tables(self, problem: islands.Problem) -> dict[str, NDArray[Any]]:
        return {"neighbours": neighbours(problem, self.settings.near)}

    def schedule(self, shape: islands.Shape, *, outside: bool) -> islands.Schedule:
        size = shape.individuals
        return islands.Schedule(
            start=(islands.Launch("threshold_start", size, room=4 * shape.pitch),),
            generation=(
                islands.Launch("threshold_propose", size),
                islands.Launch("threshold_accept", size),
                islands.Launch("threshold_cool", shape.islands),
            ),
            adopt=(islands.Launch("threshold_locate", size),),
        )

    def plan(self, arrays: Mapping[str, Any]) -> islands.Struct:
        return islands.Struct(
            near=np.int32(self.settings.near),
            cooling=np.int32(self.settings.cooling),
            neighbours=arrays["neighbours"],
            position=arrays["position"],
            threshold=arrays["threshold"],
            proposal=arrays["proposal"],
            delta=arrays["delta"],
        )


def neighbours(problem: islands.Problem, near: int) -> NDArray[np.int32]:
    """Return the nearest cities of each city, ordered by squared distance and number."""
    points = np.asarray(problem.arrays()[0], float).reshape(problem.size, 2)
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return np.argsort(squares, axis=1, kind="stable")[:, :near].astype(np.int32)
