// Simulated binary crossover (Deb and Agrawal 1995) with distribution index 15, bounded as in
// NSGA-II: children are drawn around the mates, symmetrically where the bounds allow it. Half of
// the genes are crossed, and half of those are exchanged. Reads the mates, writes the children.
// Random streams: CROSS.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

constexpr double LEAST_DISTANCE = 1e-14;  // closer genes are not crossed

__device__ double sixteenth_power(double value) {
    const double second = value * value, fourth = second * second, eighth = fourth * fourth;
    return eighth * eighth;
}

__device__ double sixteenth_root(double value) { return sqrt(sqrt(sqrt(sqrt(value)))); }

// Return the distance of a child from the midpoint of its mates, relative to that of the mates.
// `room` is the distance from the nearer mate to the bound on the child's side.
__device__ double spread(double room, double distance, double share) {
    const double range = 2.0 - 1.0 / sixteenth_power(1.0 + 2.0 * room / distance);
    const double scaled = share * range;
    return sixteenth_root(scaled <= 1.0 ? scaled : 1.0 / (2.0 - scaled));
}

__device__ void cross(Scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place& place) {
    for (int i = threadIdx.x; i < shape.n; i += blockDim.x) {
        const uint4 words = place.words(stream::CROSS, i / 2);
        const uint32_t drawn = i % 2 ? words.z : words.x, coins = i % 2 ? words.w : words.y;
        const Gene one = mates[0][i], other = mates[1][i];
        const double low = one < other ? one : other, high = one < other ? other : one;
        const double distance = high - low, share = draw::inner_fraction(drawn);
        if (coins >> 31 || distance < LEAST_DISTANCE) {
            children[0][i] = one;
            children[1][i] = other;
            continue;
        }
        const double top = genes::highest(one), middle = 0.5 * (low + high);
        const double below = 0.5 * distance * spread(low, distance, share);
        const double above = 0.5 * distance * spread(top - high, distance, share);
        const int lower = coins >> 30 & 1;
        children[lower][i] = genes::clipped(Gene(middle - below));
        children[1 - lower][i] = genes::clipped(Gene(middle + above));
    }
}

}  // namespace crossover
