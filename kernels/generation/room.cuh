// How much working memory a block takes: the same layouts, of shelves that lie nowhere.
#pragma once

#include "algorithms/base.cuh"

namespace generation {

__device__ void reach(int64_t& most, const Scratch& scratch) {
    if (scratch.bytes() > most) most = scratch.bytes();
}

}  // namespace generation

// Writes the bytes of the large part of a block's arena, and those of the small one. What is taken
// one after another lies in the same place.
KERNEL(room, (Archipelago all, problem::Data data, algorithm::Plan plan, improver::Plan improving,
              int64_t* bytes)) {
    Scratch scratch(nullptr), small(nullptr);
    const encoding::Decoder decoder(scratch, small, all.shape);
    const algorithm::Mover mover(all, plan, scratch);
    int64_t most = mover.room(scratch);
    const int items = genes::items(all.shape);
    Scratch judging = scratch, working = scratch;
    const problem::Workspace judge(judging, items, data);
    generation::reach(most, judging);
    const improver::Workspace improver(working, improving, nullptr, items, data);
    generation::reach(most, working);
    if (threadIdx.x == 0) bytes[0] = most, bytes[1] = small.bytes();
}
