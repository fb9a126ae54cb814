// Replaces kernels/core/scratch.cuh on the CPU: a Scratch that checks its bounds. A guard, which
// must stay unchanged, follows each part. Taking a part again removes the guards after it. Writes
// and reads the guards only. No random numbers.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/compiler.cuh"

class Scratch {
  public:
    explicit Scratch(char* memory) : next_(memory), counts_(memory == nullptr) {
        if (memory == host::arena) check();
    }

    template <class T>
    T* take(int64_t count) {
        T* const part = reinterpret_cast<T*>(next_);
        next_ += (count * sizeof(T) + 15) / 16 * 16;
        const auto guard = next_;
        next_ += GUARD;
        if (counts_) return part;
        if (next_ > host::arena + host::arena_bytes) fail("more taken than requested");
        check();
        while (!guards().empty() && guards().back() >= reinterpret_cast<char*>(part)) {
            guards().pop_back();
        }
        std::memset(guard, MARK, GUARD);
        guards().push_back(guard);
        return part;
    }

    int64_t bytes() const { return reinterpret_cast<int64_t>(next_); }

  private:
    static constexpr int GUARD = 64, MARK = 0xa5;

    static std::vector<char*>& guards() {
        static thread_local std::vector<char*> all;
        return all;
    }

    static void check() {
        static thread_local char* arena = nullptr;
        static thread_local auto most = host::arena_bytes;
        // Another arena; a larger one may begin at the same address.
        if (arena != host::arena || host::arena_bytes > most) {
            guards().clear();
            arena = host::arena, most = host::arena_bytes;
        }
        for (const char* guard : guards()) {
            for (int i = 0; i < GUARD; ++i) {
                if ((unsigned char)guard[i] != MARK) fail("written past the end of a part");
            }
        }
    }

    static void fail(const char* what) {
        std::fprintf(stderr, "checked scratch memory: %s\n", what);
        std::_Exit(9);
    }

    char* next_;
    bool counts_;  // only the bytes, of which it has none
};
