// Assignment problems with a sparse matrix: items have neighbours, with which they exchange flows;
// the other matrix has the distances between places. Reads these and the places of items; returns
// cost changes, in time proportional to the neighbours of two items.
// No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

struct Network {
    using Number = NETWORK_NUMBER;  // represents any sum of the products of an item

    const int32_t* first;      // [n + 1]: the neighbours of item u are those from first[u] to
    const int32_t* neighbour;  // first[u + 1], by decreasing flow
    const Number* flow;
    const Number* distances;  // [n][pitch], rows padded with zeros
    int32_t pitch;            // number of places, rounded up for vectors
    int32_t turned;           // whether items are the places of the problem

    // Return the distances from a place.
    __device__ const Number* from(int place) const { return distances + int64_t(place) * pitch; }

    // Return the cost increase by the exchange of two items, given the places of all items.
    template <class Place>
    __device__ Number raised(const Place* places, int item, int other) const {
        const Number *const here = from(places[item]), *const there = from(places[other]);
        return moved(places, item, here, there, other) + moved(places, other, there, here, item);
    }

  private:
    // Return the cost increase if an item moves; its flow to `partner` is unaffected.
    template <class Place>
    __device__ Number moved(const Place* places, int item, const Number* before,
                            const Number* after, int partner) const {
        Number sum = 0;
        for (int e = first[item]; e < first[item + 1]; ++e) {
            const int other = neighbour[e], at = places[other];
            if (other != partner) sum += flow[e] * (after[at] - before[at]);
        }
        return sum;
    }
};

}  // namespace problem
