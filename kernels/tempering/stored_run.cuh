// The first accepted exchange of a run of pairs, given their stored cost changes. No random numbers
// here: the caller passes random words.
#pragma once

#include "core/core.cuh"
#include "tempering/acceptance.cuh"

namespace tempering {

// Return the entry and the delta of this exchange. words() returns the random words of the run,
// pairs() the proposed entries as bits, and differs(k) whether an exchange changes anything.
template <class Delta, class Words, class Pairs, class Differs>
__device__ block::Bid<Delta> first_of_run(block::ReadRun<Delta> deltas, Words words, Pairs pairs,
                                          const Acceptance<Delta>& acceptance, Differs differs) {
#ifndef __CUDACC__
    // Half of the runs have no delta that any word accepts; of the runs of a warp, some almost
    // always have one.
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
