// The CPU's side: a block is one thread, and the blocks of a launch are run by a pool of threads.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#define __device__ inline
#define __shared__ static thread_local

struct Index {
    unsigned x;
};
static thread_local Index blockIdx, gridDim;
static constexpr Index threadIdx{0}, blockDim{1};

inline void __syncthreads() {}

inline int next_job(int job) { return job + gridDim.x; }

// Within one block only, and a block is one thread, so nothing has to be atomic here.
inline uint32_t atomicAdd(uint32_t* counter, uint32_t value) {
    const uint32_t before = *counter;
    *counter = before + value;
    return before;
}

constexpr bool LOOKS_ARE_CHEAP = true;

inline void add(int64_t* number, int64_t more) { *number += more; }

struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
using std::min;

inline uint32_t __umulhi(uint32_t a, uint32_t b) { return uint64_t(a) * b >> 32; }

inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __ffs(uint32_t bits) { return __builtin_ffs(int(bits)); }
inline int __clz(uint32_t bits) { return bits ? __builtin_clz(bits) : 32; }

inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
    return uint64_t((unsigned __int128)a * b >> 64);
}

inline uint32_t __float_as_uint(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float __uint_as_float(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

namespace host {

inline thread_local char* arena = nullptr;
inline thread_local uint64_t arena_bytes = 0;  // that the launch has asked for

// Makes this thread's arena at least so large; it is kept for the launches to come.
inline bool make_arena(uint64_t bytes) {
    static thread_local std::unique_ptr<uint4[]> memory;
    static thread_local uint64_t size = 0;
    if (size < bytes) {
        memory.reset(new (std::nothrow) uint4[bytes / sizeof(uint4) + 1]);
        size = memory ? bytes : 0;
    }
    arena = reinterpret_cast<char*>(memory.get());
    arena_bytes = bytes;
    return size >= bytes;
}

// Threads that sleep between launches. A launch that comes while another runs waits for its turn.
class Pool {
  public:
    // Returns whether all blocks were run: not, where there was no memory for arenas.
    template <class Body>
    bool run(unsigned grid, unsigned threads, uint64_t arena_bytes, const Body& body) {
        std::lock_guard<std::mutex> turn(turn_);
        next_ = 0;
        std::atomic<unsigned> done{0};
        auto work = [&] {
            if (!make_arena(arena_bytes)) return;
            gridDim.x = grid;
            for (unsigned block; (block = next_++) < grid; ++done) {
                blockIdx.x = block;
                body();
            }
        };
        const unsigned helpers = grow(std::min(threads, grid) - 1);
        if (helpers > 0) {
            std::lock_guard<std::mutex> lock(mutex_);
            call_ = [](const void* self) { (*static_cast<const decltype(work)*>(self))(); };
            self_ = &work;
            wanted_ = running_ = helpers;
        }
        wake_.notify_all();
        work();
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [&] { return running_ == 0; });
        return done == grid;
    }

  private:
    // Returns how many of so many helpers there are; a system may refuse more threads.
    unsigned grow(unsigned helpers) {
        try {
            for (; size_ < helpers; ++size_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {}
        return std::min(size_, helpers);
    }

    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return wanted_ > 0; });
            --wanted_;
            const auto call = call_;
            const void* self = self_;
            lock.unlock();
            call(self);
            lock.lock();
            if (--running_ == 0) done_.notify_one();
        }
    }

    std::mutex turn_, mutex_;
    std::condition_variable wake_, done_;
    std::atomic<unsigned> next_{0};
    void (*call_)(const void*) = nullptr;
    const void* self_ = nullptr;
    unsigned wanted_ = 0, running_ = 0, size_ = 0;
};

// The pool of this process. It is never destroyed, as its threads may outlive static objects; a
// forked child, in which they do not live on, takes a new one.
inline Pool& pool() {
    static Pool* only = nullptr;
    static pid_t owner = 0;
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    if (owner != getpid()) {
        only = new Pool;
        owner = getpid();
    }
    return *only;
}

// A letter and a size a parameter, so that Python can see that it passes what the kernel takes.
template <class T>
std::string kind() {
    const char letter = std::is_pointer_v<T>          ? 'P'
                        : std::is_class_v<T>          ? 'S'
                        : std::is_floating_point_v<T> ? 'f'
                                                      : 'i';
    return letter + std::to_string(sizeof(T)) + ' ';
}

template <class... T>
const char* signature(void (*)(T...)) {
    static const std::string kinds = (kind<T>() + ...);
    return kinds.c_str();
}

template <class... T, size_t... I>
bool launch(void (*kernel)(T...), void** values, std::index_sequence<I...>, unsigned grid,
            unsigned threads, uint64_t arena_bytes) {
    return pool().run(grid, threads, arena_bytes, [&] { kernel(*static_cast<T*>(values[I])...); });
}

template <class... T>
bool launch(void (*kernel)(T...), void** values, unsigned grid, unsigned threads, uint64_t bytes) {
    return launch(kernel, values, std::index_sequence_for<T...>{}, grid, threads, bytes);
}

}  // namespace host

// All but these entries is hidden: two programs in one process have functions and types of the same
// names, which must not be taken for one another.
#define EXPORT extern "C" __attribute__((visibility("default")))

#define KERNEL(name, parameters)                                                                \
    static void name parameters;                                                                \
    EXPORT const char* name##_signature() { return host::signature(name); }                     \
    EXPORT bool name##_launch(void** values, unsigned grid, unsigned threads, uint64_t bytes) { \
        return host::launch(name, values, grid, threads, bytes);                                \
    }                                                                                           \
    static void name parameters

struct Arena {
    char* memory;
    uint64_t large_bytes;

    char* large() const { return host::arena; }
    char* small() const { return host::arena + large_bytes; }
};
