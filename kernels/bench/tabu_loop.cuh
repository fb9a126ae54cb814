// Textbook robust tabu search, a plain loop in one thread, as the baseline of the benchmark. Reads
// `start`; writes `orders` and `costs`. Only for symmetric matrices with small entries.
// Random streams: TENURE.
#include "core/core.cuh"
#include "improvers/base.cuh"

namespace loop {

struct Data {
    const QAP_A* a;
    const QAP_B* b;
};

struct Search {
    int n;
    const QAP_A* a;
    const QAP_B* b;
    int *p, *delta, *tabu;

    int cost() const {
        int sum = 0;
        for (int i = 0; i < n; ++i) {
            for (int j = i; j < n; ++j) sum += a[i * n + j] * b[p[i] * n + p[j]];
        }
        return sum;
    }

    int exchange_delta(int i, int j) const {
        const int pi = p[i], pj = p[j];
        int sum = (a[i * n + i] - a[j * n + j]) * (b[pj * n + pj] - b[pi * n + pi]);
        for (int k = 0; k < n; ++k) {
            if (k == i || k == j) continue;
            sum += (a[i * n + k] - a[j * n + k]) * (b[pj * n + p[k]] - b[pi * n + p[k]]);
        }
        return sum;
    }

    // The delta of i and j after the exchange of r and s.
    int updated_delta(int i, int j, int r, int s) const {
        const int pi = p[i], pj = p[j], pr = p[r], ps = p[s];
        return delta[i * n + j] +
               (a[r * n + i] - a[r * n + j] + a[s * n + j] - a[s * n + i]) *
                   (b[ps * n + pi] - b[ps * n + pj] + b[pr * n + pj] - b[pr * n + pi]);
    }
};

int64_t run(Search& at, int32_t* best_order, const improver::Plan& plan, const draw::Place& place) {
    const int n = at.n;
    int current = at.cost(), best = current;
    for (int i = 0; i < n; ++i) best_order[i] = at.p[i];
    for (int e = 0; e < n * n; ++e) at.tabu[e] = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) at.delta[i * n + j] = at.exchange_delta(i, j);
    }
    for (int now = 0; now < plan.steps; ++now) {
        int r = -1, s = -1, least = 0x7fffffff;
        for (int i = 0; i < n; ++i) {
            for (int j = i + 1; j < n; ++j) {
                const int delta = at.delta[i * n + j];
                if (delta >= least) continue;
                const bool allowed = at.tabu[i * n + at.p[j]] <= now ||
                                     at.tabu[j * n + at.p[i]] <= now || current + delta < best;
                if (allowed) least = delta, r = i, s = j;
            }
        }
        if (r < 0) continue;
        const uint4 word = place.words(stream::TENURE, now / 2);
        const uint32_t tenures = plan.tenure_high - plan.tenure_low + 1;
        at.tabu[r * n + at.p[r]] =
            now + plan.tenure_low + draw::below(now % 2 ? word.z : word.x, tenures);
        at.tabu[s * n + at.p[s]] =
            now + plan.tenure_low + draw::below(now % 2 ? word.w : word.y, tenures);
        std::swap(at.p[r], at.p[s]);
        current += least;
        if (current < best) {
            best = current;
            for (int i = 0; i < n; ++i) best_order[i] = at.p[i];
        }
        for (int i = 0; i < n; ++i) {
            for (int j = i + 1; j < n; ++j) {
                const bool touched = i == r || i == s || j == r || j == s;
                at.delta[i * n + j] =
                    touched ? at.exchange_delta(i, j) : at.updated_delta(i, j, r, s);
            }
        }
    }
    return best;
}

}  // namespace loop

KERNEL(tabu_loop, (Arena arena, loop::Data data, improver::Plan plan, uint64_t seed, int32_t count,
                   int32_t n, const int32_t* start, int32_t* orders, int64_t* costs)) {
    Scratch scratch(arena.large());
    int* const p = scratch.take<int>(n);
    loop::Search search{n, data.a, data.b, p, scratch.take<int>(n * n), scratch.take<int>(n * n)};
    for (int individual = blockIdx.x; individual < count; individual += gridDim.x) {
        for (int i = 0; i < n; ++i) p[i] = start[individual * n + i];
        const draw::Place place{seed, 0, 0, uint32_t(individual)};
        costs[individual] = loop::run(search, orders + int64_t(individual) * n, plan, place);
    }
}
