// How much working memory a block takes: the same layouts, of shelves that lie nowhere.
#pragma once

#include "algorithms/base.cuh"

namespace generation {

__device__ void reach(int64_t& most, const Shelf& shelf) {
    if (shelf.bytes() > most) most = shelf.bytes();
}

}  // namespace generation

// Writes the bytes of the large part of a block's arena, and those of the small one. What is taken
// one after another lies in the same place.
KERNEL(room, (Archipelago all, problem::Data data, algorithm::Plan plan, improver::Plan improving,
              int64_t* bytes)) {
    Shelf shelf(nullptr), small(nullptr);
    const encoding::Decoder decoder(shelf, small, all.shape);
    const algorithm::Mover mover(all, plan, shelf);
    int64_t most = mover.room(shelf);
    const int items = genes::items(all.shape);
    Shelf judging = shelf, working = shelf;
    const problem::Desk judge(judging, items, data);
    generation::reach(most, judging);
    const improver::Desk improver(working, improving, nullptr, items, data);
    generation::reach(most, working);
    if (threadIdx.x == 0) bytes[0] = most, bytes[1] = small.bytes();
}
