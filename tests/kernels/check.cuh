// Entry points through which the tests call the functions of core/ and of the encodings. Read their
// arguments; write to `out`, or to `value` in place.
// Random streams: the one that a test names.
#include "core/core.cuh"
#include "core/group.cuh"
#define KEYS_DECODING 0
#define ENCODING_ASSIGNS 0
#include "encodings/keys.cuh"

KERNEL(check_philox, (int32_t n, const uint4* counter, uint64_t seed, uint4* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = draw::philox(counter[i], uint32_t(seed), uint32_t(seed >> 32));
    }
}

KERNEL(check_short_philox, (int32_t n, const uint4* counter, uint64_t seed, uint4* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] =
            draw::philox<draw::FEWEST_ROUNDS>(counter[i], uint32_t(seed), uint32_t(seed >> 32));
    }
}

KERNEL(check_words, (int32_t n, uint32_t stream, uint64_t seed, int32_t island, int64_t generation,
                     int32_t individual, uint4* out)) {
    const draw::Place place{seed, uint32_t(island), generation, uint32_t(individual)};
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = place.words(stream, i);
}

KERNEL(check_uniform, (int32_t n, const uint32_t* word, float* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = draw::uniform(word[i]);
}

KERNEL(check_below, (int32_t n, const uint32_t* word, const uint32_t* bound, uint32_t* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = draw::below(word[i], bound[i]);
}

// Count the visits of each pair i < j, in row i and column j.
KERNEL(check_pairs, (int32_t n, int32_t* visits)) {
    block::pairs(n, [&](int i, int j) { visits[i * n + j] += 1; });
}

// Block b processes row b of `value`. Sum twice to test that a second call does not disturb the
// first.
KERNEL(check_sum, (int32_t n, const int64_t* value, int64_t* out)) {
    int64_t mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += value[blockIdx.x * n + i];
    const int64_t once = block::sum(mine), twice = block::sum(2 * mine);
    out[2 * (blockIdx.x * blockDim.x + threadIdx.x)] = once;
    out[2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1] = twice;
}

// Each group of threads sums the numbers of its threads in 32 and in 64 bits.
KERNEL(check_groups, (int32_t items, int64_t* out)) {
    const block::Groups groups(items);
    const int64_t mine = (int64_t(1) << 40) * (threadIdx.x % 5);
    int64_t* const to = out + 6 * threadIdx.x;
    to[0] = groups.count();
    to[1] = groups.index();
    to[2] = groups.threads();
    to[3] = groups.thread();
    to[4] = groups.sum(int32_t(threadIdx.x) - 7);
    to[5] = groups.sum(mine);
}

KERNEL(check_argmin, (int32_t n, const int64_t* value, int64_t* out)) {
    block::Ranked mine{0x7fffffffffffffffll, 0xffffffffu};
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const block::Ranked other{value[blockIdx.x * n + i], uint32_t(i)};
        if (other.before(mine)) mine = other;
    }
    const block::Ranked best = block::argmin(mine);
    if (threadIdx.x == 0) out[2 * blockIdx.x] = best.value, out[2 * blockIdx.x + 1] = best.index;
}

KERNEL(check_scan, (int32_t n, uint32_t* value)) { block::scan(value + blockIdx.x * n, n); }

// Rows are `room` entries apart, a power of two.
KERNEL(check_sort, (int32_t n, int32_t room, int64_t* value, uint32_t* index)) {
    block::sort(value + blockIdx.x * room, index + blockIdx.x * room, n);
}

KERNEL(check_sort_few, (int32_t n, uint32_t* value)) {
    if (threadIdx.x == 0) block::sort_few(value + blockIdx.x * n, n);
}

KERNEL(room, (encoding::Shape shape, int64_t* bytes)) {
    Scratch scratch(nullptr), small(nullptr);
    const encoding::Decoder decoder(scratch, small, shape);
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = small.bytes();
}

KERNEL(check_order,
       (Arena arena, int32_t rows, encoding::Shape shape, const float* keys, int32_t* out)) {
    Scratch scratch(arena.large()), small(arena.small());
    encoding::Decoder decoder(scratch, small, shape);
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* const mine = keys + int64_t(row) * shape.pitch;
        decoder.begin();
        encoding::count(decoder, mine, shape.n);
        const auto order = decoder.finish(mine);
        for (int i = threadIdx.x; i < shape.n; i += blockDim.x) {
            out[int64_t(row) * shape.n + i] = order[i];
        }
    }
}
