// Several runs, which begin and end at different times: writes the initial data of a new run, and
// reads the results of a run. A row of `rows` belongs to a run, and contains its part of each
// array. Writes generation 0, and reads the last generation. No random numbers.
#pragma once

#include "core/islands.cuh"

#ifdef ISLANDS_RUNS

// The part of an array that belongs to a run.
struct RunPart {
    char* array;     // of the first run
    int64_t bytes;   // per run
    int64_t stride;  // between runs
    int64_t half;    // between the halves of the array; 0: it has no halves
    int64_t offset;  // in a row; -1: zeros
};

// The runs of a launch.
struct Chosen {
    int32_t count;
    int32_t runs[1];  // [count]
};

namespace runs {

// Copy bytes, or write zeros if `from` is null.
template <class Unit>
__device__ void copy(char* to, const char* from, int64_t bytes) {
    for (int64_t i = threadIdx.x; i < bytes / int64_t(sizeof(Unit)); i += blockDim.x) {
        reinterpret_cast<Unit*>(to)[i] = from ? reinterpret_cast<const Unit*>(from)[i] : Unit(0);
    }
}

__device__ void copy_part(const RunPart& part, char* to, const char* from) {
    const bool are_words = (part.bytes | part.stride | part.half) % 4 == 0;
    if (are_words) {
        copy<uint32_t>(to, from, part.bytes);
    } else {
        copy<char>(to, from, part.bytes);
    }
}

}  // namespace runs

KERNEL(write_runs, (const RunPart* parts, int32_t part_count, const Chosen* chosen,
                    const char* rows, int64_t row_bytes)) {
    for (int job = blockIdx.x; job < part_count * chosen->count; job += gridDim.x) {
        const int row = job / part_count;
        const RunPart& part = parts[job - row * part_count];
        const char* const from = part.offset < 0 ? nullptr : rows + row * row_bytes + part.offset;
        runs::copy_part(part, part.array + chosen->runs[row] * part.stride, from);
    }
}

KERNEL(read_runs, (Islands all, const RunPart* parts, int32_t part_count, const Chosen* chosen,
                   char* rows, int64_t row_bytes)) {
    for (int job = blockIdx.x; job < part_count * chosen->count; job += gridDim.x) {
        const int row = job / part_count, run = chosen->runs[row];
        const RunPart& part = parts[job - row * part_count];
        const int64_t half = all.island[run * all.runs.islands].generation & 1;
        runs::copy_part(part, rows + row * row_bytes + part.offset,
                        part.array + run * part.stride + half * part.half);
    }
}

// Makes the islands of runs idle until the next run begins there.
KERNEL(rest_runs, (Islands all, const Chosen* chosen)) {
    const int islands = all.runs.islands, count = chosen->count * islands;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        all.runs.begins[chosen->runs[i / islands] * islands + i % islands] = -1;
    }
}

// Marks all islands as begun, and their individuals as unchanged.
KERNEL(end_beginning, (Islands all)) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = first; i < all.islands; i += step) {
        if (all.runs.begins[i] > 0) all.runs.begins[i] = 0;
    }
    for (int i = first; all.changed != nullptr && i < all.islands * all.population; i += step) {
        all.changed[i] = 0;
    }
}

#endif
