// Base of the mutations that change each gene with probability 1/n, and at least one gene. Reads
// and writes one row. Uses no random stream: of the caller's two random words, the first selects
// the gene that always changes, and both are the key of a generator for all other decisions.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

// Replace genes by changed(gene, words); `words` are four random words for the gene.
template <class Changed>
__device__ void change_some(Gene* row, int n, uint32_t one, uint32_t other, Changed changed) {
    constexpr uint32_t OF_GENES = 1u << 31;  // counters from here on: one per gene
    const int certain = draw::below(one, n);
    __syncthreads();
    for (int quad = threadIdx.x; 4 * quad < n; quad += blockDim.x) {
        const uint4 coins = draw::philox({uint32_t(quad), 0, 0, 0}, one, other);
        const uint32_t words[4] = {coins.x, coins.y, coins.z, coins.w};
        for (int i = 4 * quad; i < min(n, 4 * quad + 4); ++i) {
            if (i != certain && draw::below(words[i % 4], n) > 0) continue;
            row[i] = changed(row[i], draw::philox({OF_GENES + i, 0, 0, 0}, one, other));
        }
    }
}

}  // namespace mutation
