// The CPU's side: a block is one thread, and the blocks of a launch are run by a pool of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#define __device__ inline
#define __restrict__ __restrict
#define __shared__ static thread_local

struct Index {
    unsigned x;
};
static thread_local Index blockIdx, gridDim;
static constexpr Index threadIdx{0}, blockDim{1};

inline void __syncthreads() {}

// Within one block only, and a block is one thread, so nothing has to be atomic here.
inline uint32_t atomicAdd(uint32_t* counter, uint32_t value) {
    const uint32_t before = *counter;
    *counter = before + value;
    return before;
}

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

namespace host {

inline thread_local char* arena = nullptr;

// Threads that sleep between launches. It is never destroyed: its threads may outlive static objects.
class Pool {
  public:
    template <class Body>
    void run(unsigned grid, unsigned threads, uint64_t arena_bytes, const Body& body) {
        next_ = 0;
        auto work = [&] {
            std::vector<uint4> memory(arena_bytes / sizeof(uint4) + 1);
            arena = reinterpret_cast<char*>(memory.data());
            gridDim.x = grid;
            for (unsigned block; (block = next_++) < grid;) {
                blockIdx.x = block;
                body();
            }
        };
        threads = std::max(1u, std::min(threads, grid));
        if (threads == 1) return work();
        grow(threads - 1);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            call_ = [](const void* self) { (*static_cast<const decltype(work)*>(self))(); };
            self_ = &work;
            wanted_ = running_ = threads - 1;
        }
        wake_.notify_all();
        work();
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [&] { return running_ == 0; });
    }

  private:
    void grow(unsigned workers) {
        for (; size_ < workers; ++size_) std::thread([this] { serve(); }).detach();
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

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<unsigned> next_{0};
    void (*call_)(const void*) = nullptr;
    const void* self_ = nullptr;
    unsigned wanted_ = 0, running_ = 0, size_ = 0;
};

inline Pool& pool() {
    static Pool* only = new Pool;
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
void launch(void (*kernel)(T...), void** values, std::index_sequence<I...>, unsigned grid,
            unsigned threads, uint64_t arena_bytes) {
    pool().run(grid, threads, arena_bytes, [&] { kernel(*static_cast<T*>(values[I])...); });
}

template <class... T>
void launch(void (*kernel)(T...), void** values, unsigned grid, unsigned threads, uint64_t bytes) {
    launch(kernel, values, std::index_sequence_for<T...>{}, grid, threads, bytes);
}

}  // namespace host

// All but these entries is hidden: two programs in one process have functions and types of the same
// names, which must not be taken for one another.
#define EXPORT extern "C" __attribute__((visibility("default")))

#define KERNEL(name, parameters)                                                                \
    static void name parameters;                                                                \
    EXPORT const char* name##_signature() { return host::signature(name); }                     \
    EXPORT void name##_launch(void** values, unsigned grid, unsigned threads, uint64_t bytes) { \
        host::launch(name, values, grid, threads, bytes);                                       \
    }                                                                                           \
    static void name parameters

struct Arena {
    char* memory;
    uint64_t large_bytes;

    char* large() const { return host::arena; }
    char* small() const { return host::arena + large_bytes; }
};
