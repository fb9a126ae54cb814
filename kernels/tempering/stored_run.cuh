// The first accepted exchange in a run of proposed pairs, whose cost changes are stored. No random
// numbers: the caller passes random words.
#pragma once

#include "core/core.cuh"
#include "tempering/acceptance.cuh"

namespace tempering {

// Return the index in the run and the delta of the first accepted exchange, or an empty bid.
// words() returns the random words of the run, pairs() a bit mask of its proposed entries, and
// differs(k) whether exchange k changes the solution.
template <class Delta, class Words, class Pairs, class Differs>
__device__ block::Bid<Delta> first_of_run(block::ReadRun<Delta> deltas, Words words, Pairs pairs,
                                          const Acceptance<Delta>& acceptance, Differs differs) {
#ifndef __CUDACC__
    // Return early if no delta is accepted with any random word, as in half of the runs. On a GPU,
    // this would not help: almost every warp has a run with such a delta.
    bool ever = false;
    block::along_run([&](int k) { ever |= acceptance.may_ever_accept(deltas.item[k]); });
    if (!ever) return {};
#endif
    const block::Run<uint32_t> word = words();
    uint32_t may = 0;
    block::along_run(
        [&](int k) { may |= uint32_t(acceptance.may_accept(deltas.item[k], word.item[k])) << k; });
    if (may != 0) may &= pairs();
    for (int k = 0; may != 0 && k < block::RUN; ++k) {
        if (!(may >> k & 1) || !acceptance.accepts(deltas.item[k], word.item[k])) continue;
        if (differs(k)) return {uint32_t(k), deltas.item[k]};
    }
    return {};
}

}  // namespace tempering
