// A program that calls the functions of a user-defined problem for one solution after another. Each
// array is far from all other memory, so that an out-of-bounds read ends the process, with an
// address that identifies the array. Only for CPUs; with AddressSanitizer if the compiler has it.
// Reads a file of 64-bit numbers and arrays written by islands/check/contained.py; writes the
// number of the current solution and step, and costs, to a mapped file. No random numbers.
#pragma once

#include <signal.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

#define CHECKS_SCRATCH
namespace checked {
inline char* begin_of_scratch = nullptr;

// Poison the memory from `first` to the next part of a user's state; return where that part begins.
inline char* fenced(char* first, char* last) {
    constexpr int BYTES = 1024;
    if (begin_of_scratch) ASAN_POISON_MEMORY_REGION(first, last + BYTES - first);
    return last + BYTES;
}
}  // namespace checked
#endif

#include "check/functions.cuh"

namespace checked {

inline FILE* input;

inline void take(void* to, int64_t bytes) {
    if (bytes > 0 && std::fread(to, bytes, 1, input) != 1) std::exit(3);
}

inline int64_t next_number() {
    int64_t value;
    take(&value, sizeof value);
    return value;
}

// Return new memory of exactly this size, with its content from the file.
inline char* allocated(int64_t bytes) {
    char* const memory = static_cast<char*>(std::malloc(bytes));
    take(memory, bytes);
    return memory;
}

// Return memory of exactly this size, if possible without readable addresses within 16 GiB, the
// range of 32-bit indices. With AddressSanitizer, both ends are exact; otherwise, the upper one.
inline char* guarded(int64_t bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
    for (int64_t reach = int64_t(1) << 34; reach >= page; reach /= 4) {
        void* const all = mmap(nullptr, inside + 2 * reach, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) continue;
        char* const first = static_cast<char*>(all) + reach;
        if (mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) std::exit(3);
#ifdef __SANITIZE_ADDRESS__
        ASAN_POISON_MEMORY_REGION(first + bytes, inside - bytes);
        return first;
#else
        return first + (inside - bytes);
#endif
    }
    std::exit(3);
}

// Print the address of an invalid access, in the format of AddressSanitizer.
inline void on_fault(int, siginfo_t* fault, void*) {
    std::fprintf(stderr, "AddressSanitizer: SEGV on unknown address %p\n", fault->si_addr);
    std::_Exit(1);
}

// Report the location of an array to the script.
inline void announce(const void* memory, int64_t bytes) {
    std::printf("%lld %lld\n", (long long)(intptr_t)memory, (long long)bytes);
}

enum Step { COST, DELTA, REPAIR, STATE, CROSS };

}  // namespace checked

int main(int, char** names) {
    using namespace checked;
    input = std::fopen(names[1], "rb");
#ifndef __SANITIZE_ADDRESS__
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
#endif
    FILE* const output = std::fopen(names[2], "r+b");
    if (input == nullptr || output == nullptr) return 3;
    const int64_t n = next_number(), count = next_number(), bytes = next_number(),
                  members = next_number();
    const int64_t moves = next_number(), steps = next_number();
    char* const offsets = allocated(8 * 2 * members);
    problem::Data data;
    const int64_t data_bytes = next_number();
    if (data_bytes != int64_t(sizeof data)) return 3;
    take(&data, data_bytes);
    for (int64_t i = 0; i < members; ++i) {
        const int64_t* const member = reinterpret_cast<int64_t*>(offsets) + 2 * i;
        char* const memory = guarded(member[1]);
        take(memory, member[1]);
        announce(memory, member[1]);
        std::memcpy(reinterpret_cast<char*>(&data) + member[0], &memory, sizeof memory);
    }
    char* const solutions = allocated(count * bytes);
    char* const changing = allocated(count * bytes);
    char* const ends = allocated(count * moves * 8);
    char* const walk = allocated(count * steps * 16);
    char* const values = allocated(count * steps * 8);
    Word* const row = reinterpret_cast<Word*>(guarded(bytes));
    int32_t* const pair = static_cast<int32_t*>(std::malloc(8));
    announce(row, bytes);
    std::fflush(stdout);
    void* const mapped =
        mmap(nullptr, 8 * (2 + count), PROT_READ | PROT_WRITE, MAP_SHARED, fileno(output), 0);
    if (mapped == MAP_FAILED) return 3;
    int64_t volatile* const progress = static_cast<int64_t*>(mapped);
    int64_t* const costs = static_cast<int64_t*>(mapped) + 2;
    blockIdx.x = 0, gridDim.x = 1;
    host::Buffers buffers;
    int64_t room_bytes[2] = {};
#ifdef CHECK_FOLLOWS
    room(n, data, room_bytes);
#endif
    if (!host::use_buffers(buffers, room_bytes[0])) return 3;
#ifdef __SANITIZE_ADDRESS__
    begin_of_scratch = host::arena;
#endif
    int64_t* const followed = static_cast<int64_t*>(std::malloc(8 * steps));
    Word* const reached = static_cast<Word*>(std::malloc(bytes * steps));
    (void)pair, (void)changing, (void)ends, (void)walk, (void)values;
    (void)followed, (void)reached;
    for (int64_t k = 0; k < count; ++k) {
        progress[1] = COST;
        progress[0] = k;
        std::memcpy(row, solutions + k * bytes, bytes);
#if COSTS_PRICED
        evaluate_violations(data, row, n, 1, costs + k);
#endif
        evaluate_solutions(data, row, n, 1, costs + k);
#ifdef CHECK_DELTAS
        progress[1] = DELTA;
        for (int64_t m = 0; m < moves; ++m) {
            int64_t deltas[3];
            std::memcpy(pair, ends + (k * moves + m) * 8, 8);
            compute_deltas(data, row, n, n, 1, 1, pair, deltas);
        }
#endif
#ifdef STATED_REPAIRS
        progress[1] = REPAIR;
        std::memcpy(row, changing + k * bytes, bytes);
        repair_solutions(data, row, n, 1);
#endif
#ifdef CHECK_FOLLOWS
        progress[1] = STATE;
        std::memcpy(row, changing + k * bytes, bytes);
        follow_moves({nullptr, uint64_t(room_bytes[0])}, data, row, n, 1, steps,
                     reinterpret_cast<int32_t*>(walk) + k * steps * 4,
                     reinterpret_cast<double*>(values) + k * steps, followed, reached, nullptr,
                     nullptr);
#endif
#ifdef STATED_CROSS
        progress[1] = CROSS;
        std::memcpy(row, changing + k * bytes, bytes);
        const uint32_t random[4] = {uint32_t(k), 1, 2, 3};
        const Word* const mate = reinterpret_cast<Word*>(changing + (k + 1) % count * bytes);
        follow_moves({nullptr, uint64_t(room_bytes[0])}, data, row, n, 1, 0, nullptr, nullptr,
                     nullptr, nullptr, mate, random);
#endif
    }
    progress[0] = count;
    return 0;
}
