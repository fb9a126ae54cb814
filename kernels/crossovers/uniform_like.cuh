// Uniform-like crossover of orders (Tate and Smith 1995): in random order, each place receives the
// item of a mate chosen by a random bit, or that of the other mate if that item is already used.
// The remaining places receive the remaining items in random order. A child preserves more of both
// mates than with uniform_order.cuh. Reads the mates, writes the children. Random streams: CROSS.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

struct Workspace {
    uint32_t* word;               // [n]: random; the lowest bit chooses the mate
    int32_t* order;               // [n]: places in random order
    Pair<int32_t> is_used, left;  // [2][n]: items used; remaining places

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : word(scratch.take<uint32_t>(shape.n)),
          order(scratch.take<int32_t>(shape.n)),
          is_used{scratch.take<int32_t>(2 * shape.n), shape.n},
          left{scratch.take<int32_t>(2 * shape.n), shape.n} {}
};

// Create one child in one thread. `flip` is 1 for the child with exchanged roles of the mates.
__device__ void fill_child(Gene* child, const Pair<Gene>& mates, uint32_t flip,
                           const uint32_t* word, const int32_t* order, int32_t* is_used,
                           int32_t* left, int n) {
    int count = 0;
    for (int k = 0; k < n; ++k) {
        const int i = order[k];
        const int side = (word[i] & 1u) ^ flip;
        const Gene preferred = mates[side][i], other = mates[1 - side][i];
        if (is_used[preferred] && is_used[other]) {
            left[count++] = i;
            continue;
        }
        child[i] = is_used[preferred] ? other : preferred;
        is_used[child[i]] = 1;
    }
    for (int k = 0, item = 0; k < count; ++k, ++item) {
        while (is_used[item]) ++item;
        child[left[k]] = item;
    }
}

// Create the first child, or both.
__device__ void make_children(int count, Scratch scratch, const Pair<Gene>& mates,
                              const Pair<Gene>& children, const encoding::Shape& shape,
                              const draw::Place& place) {
    const int n = shape.n;
    const auto [word, order, is_used, left] = Workspace(scratch, shape);
    for (int quad = threadIdx.x; quad < (n + 3) / 4; quad += blockDim.x) {
        const uint4 words = place.words(stream::CROSS, quad);
        const uint32_t four[4] = {words.x, words.y, words.z, words.w};
        for (int k = 0; k < 4 && 4 * quad + k < n; ++k) word[4 * quad + k] = four[k];
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = i;
    for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) is_used[0][k] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = n - 1; i > 0; --i) {
            const int j = draw::below(word[i], i + 1), kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
    }
    __syncthreads();
    for (int side = threadIdx.x; side < count; side += blockDim.x) {
        fill_child(children[side], mates, side, word, order, is_used[side], left[side], n);
    }
}

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place& place) {
    make_children(2, scratch, mates, children, shape, place);
}

}  // namespace crossover
