// Uniform crossover of orders: each place, in ascending order, receives the item of a mate chosen
// by a random bit, unless that item is already used. The remaining places receive the remaining
// items in random order. Reads the mates, writes the children. Random streams: CROSS.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

constexpr uint32_t NO_LOT = ~0u;

struct Workspace {
    Places places;
    uint32_t *coin, *lot, *rank;
    Gene* left;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : places(scratch, shape.n),
          coin(scratch.take<uint32_t>((shape.n + 31) / 32)),
          lot(scratch.take<uint32_t>(shape.n)),
          rank(scratch.take<uint32_t>(shape.n)),
          left(scratch.take<Gene>(shape.n)) {}
};

// Create one child. `coin` has a bit per place: 1 if the giver's item is preferred. `lot` and
// `rank` have room for n words, `left` for n items.
__device__ void by_coin(Gene* child, const Gene* giver, const Gene* other,
                        const int32_t* place_in_giver, const int32_t* place_in_other,
                        const uint32_t* coin, int n, const draw::Place& place, uint32_t first_quad,
                        uint32_t* lot, uint32_t* rank, Gene* left) {
    const auto prefers_giver = [&](int i) { return coin[i / 32] >> (i % 32) & 1; };
    // Whether a place receives its preferred item, which only an earlier place can have taken.
    const auto gets_preferred = [&](int i) {
        const bool by_giver = prefers_giver(i);
        const int rival = by_giver ? place_in_other[giver[i]] : place_in_giver[other[i]];
        return rival >= i || prefers_giver(rival) == by_giver;
    };
    const auto is_taken = [&](Gene item) {
        const int here = place_in_giver[item], there = place_in_other[item];
        return prefers_giver(here) || !prefers_giver(there);
    };
    for (int item = threadIdx.x; item < n; item += blockDim.x) rank[item] = !is_taken(item);
    __syncthreads();
    block::scan(rank, n);
    for (int item = threadIdx.x; item < n; item += blockDim.x) {
        if (!is_taken(item)) left[rank[item]] = item;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const uint4 four = place.words(stream::CROSS, first_quad + i / 4);
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
        lot[i] = gets_preferred(i) ? NO_LOT : words[i % 4] >> 1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (lot[i] == NO_LOT) {
            child[i] = prefers_giver(i) ? giver[i] : other[i];
            continue;
        }
        int before = 0;
        for (int j = 0; j < n; ++j) {
            before += lot[j] < lot[i] || (lot[j] == lot[i] && j < i);
        }
        child[i] = left[before];
    }
    __syncthreads();  // `lot`, `rank` and `left` have been read
}

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place& place) {
    const int n = shape.n, words = (n + 31) / 32;
    const auto [places, coin, lot, rank, left] = Workspace(scratch, shape);
    places.find(mates);
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        const uint4 coins = place.words(stream::CROSS, w / 4);
        const uint32_t four[4] = {coins.x, coins.y, coins.z, coins.w};
        coin[w] = four[w % 4];
    }
    __syncthreads();
    for (int side = 0; side < 2; ++side) {
        by_coin(children[side], mates[side], mates[1 - side], places[side], places[1 - side], coin,
                n, place, (1u + side) << 28, lot, rank, left);
    }
}

}  // namespace crossover
