// The common base on a CPU: a block is one thread, and a pool of threads runs the blocks of a
// launch. No random numbers.
#pragma once

// Includes only a few small headers, as every program is compiled with them: the C++ headers for
// threads, strings and memory take longer to compile than many kernels. Nothing here needs the C++
// library (operator new, exceptions, destructors of threads), which Zig would build first.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <utility>

#include "core/crash.hpp"
#include "core/functions.hpp"

#define __device__ inline
#define __shared__ static thread_local

struct Index {
    unsigned x;
};
inline thread_local Index blockIdx, gridDim;
inline constexpr Index threadIdx{0}, blockDim{1};

inline void __syncthreads() {}

inline int next_job(int job) { return job + gridDim.x; }

constexpr bool POLLING_IS_CHEAP = true;
constexpr int READS_AT_ONCE = 1;
constexpr bool SHARED_MEMORY_IS_FASTER = false;

inline void add(int64_t* number, int64_t more) { *number += more; }

namespace host {

// Memory that grows and is reused by later launches. Never freed: threads of a pool never end, and
// a forked child abandons its parent's memory.
class Buffer {
  public:
    // Return null if out of memory.
    char* at_least(uint64_t bytes) {
        if (size_ < bytes) {
            free(memory_);
            memory_ = static_cast<char*>(malloc(bytes));
            size_ = memory_ ? bytes : 0;
        }
        return memory_;
    }

  private:
    char* memory_ = nullptr;
    uint64_t size_ = 0;
};

struct Buffers {
    Buffer arena, sorting;
};

// Buffers of the launch that this thread takes part in.
inline thread_local Buffers* buffers = nullptr;
inline thread_local char* arena = nullptr;
inline thread_local uint64_t arena_bytes = 0;  // requested by the launch

// Set the buffers and the arena size of this thread; return false if out of memory.
inline bool use_buffers(Buffers& of_thread, uint64_t bytes) {
    buffers = &of_thread;
    arena_bytes = bytes;
    arena = of_thread.arena.at_least(bytes);
    return arena || bytes == 0;
}

// Return memory for sorting, in addition to the arena.
inline char* sorting_memory(uint64_t bytes) {
    char* const memory = buffers->sorting.at_least(bytes);
    if (!memory && bytes > 0) {
        constexpr char words[] = "islands: out of memory. Lower --threads or --population\n";
        (void)!write(STDERR_FILENO, words, sizeof words - 1);
        abort();
    }
    return memory;
}

class Lock {
  public:
    explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
    ~Lock() { pthread_mutex_unlock(&mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    pthread_mutex_t& mutex_;
};

// A function that runs a block of a kernel; `values` points to the kernel's arguments.
using Body = void (*)(void** values);

// Threads that sleep between launches. Concurrent launches run one after another, except those that
// need only their own thread.
class Pool {
  public:
    // Return whether all blocks were run; false if there was no memory for the arenas.
    bool run(Body body, void** values, unsigned grid, unsigned threads, uint64_t arena_bytes) {
        if (threads == 1 || grid <= 1) return run_alone(body, values, grid, arena_bytes);
        Lock turn(turn_);
        next_ = done_ = 0;
        body_ = body, values_ = values, grid_ = grid, arena_bytes_ = arena_bytes;
        const unsigned helpers = grow(std::min(threads, grid) - 1);
        if (helpers > 0) {
            Lock lock(mutex_);
            wanted_ = running_ = helpers;
        }
        pthread_cond_broadcast(&wake_);
        work(buffers_);
        Lock lock(mutex_);
        while (running_ > 0) pthread_cond_wait(&ended_, &mutex_);
        return done_ == grid;
    }

  private:
    struct Spare {
        Buffers buffers;
        Spare* next = nullptr;
    };

    bool run_alone(Body body, void** values, unsigned grid, uint64_t arena_bytes) {
        Spare* const spare = take_spare();
        if (!spare) return false;
        const bool has_memory = use_buffers(spare->buffers, arena_bytes);
        const InBlocks explained;
        gridDim.x = grid;
        for (unsigned block = 0; has_memory && block < grid; ++block) {
            blockIdx.x = block;
            body(values);
        }
        Lock lock(spares_);
        spare->next = first_spare_;
        first_spare_ = spare;
        return has_memory;
    }

    Spare* take_spare() {
        Lock lock(spares_);
        Spare* const spare = first_spare_;
        if (!spare) return static_cast<Spare*>(calloc(1, sizeof(Spare)));
        first_spare_ = spare->next;
        return spare;
    }

    void work(Buffers& of_thread) {
        if (!use_buffers(of_thread, arena_bytes_)) return;
        const InBlocks explained;
        const auto body = body_;
        const auto values = values_;
        const auto grid = gridDim.x = grid_;
        for (unsigned block; (block = next_++) < grid; ++done_) {
            blockIdx.x = block;
            body(values);
        }
    }

    // Start threads until there are `helpers`; return their number, as the system may reject some.
    unsigned grow(unsigned helpers) {
        for (pthread_t thread; size_ < helpers; ++size_) {
            if (pthread_create(&thread, nullptr, serve, this) != 0) break;
            pthread_detach(thread);
        }
        return std::min(size_, helpers);
    }

    static void* serve(void* self) {
        Pool& pool = *static_cast<Pool*>(self);
        Buffers of_thread;
        for (;;) {
            {
                Lock lock(pool.mutex_);
                while (pool.wanted_ == 0) pthread_cond_wait(&pool.wake_, &pool.mutex_);
                --pool.wanted_;
            }
            pool.work(of_thread);
            Lock lock(pool.mutex_);
            if (--pool.running_ == 0) pthread_cond_signal(&pool.ended_);
        }
    }

    pthread_mutex_t turn_ = PTHREAD_MUTEX_INITIALIZER, mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t spares_ = PTHREAD_MUTEX_INITIALIZER;
    Spare* first_spare_ = nullptr;  // buffers that no launch uses
    pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER, ended_ = PTHREAD_COND_INITIALIZER;
    std::atomic<unsigned> next_{0}, done_{0};
    Body body_ = nullptr;
    void** values_ = nullptr;
    Buffers buffers_;  // of the threads that launch, one at a time
    uint64_t arena_bytes_ = 0;
    unsigned grid_ = 0, wanted_ = 0, running_ = 0, size_ = 0;
};

// The pool of this process. It is never destroyed, as its threads may outlive static objects; a
// forked child, which does not inherit the threads, creates a new one.
inline Pool& pool() {
    alignas(Pool) static char place[sizeof(Pool)];
    static Pool* only = nullptr;
    static pid_t owner = 0;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    Lock lock(mutex);
    if (owner != getpid()) {
        only = new (place) Pool;
        owner = getpid();
    }
    return *only;
}

// A letter and a size per parameter, with which Python checks the arguments of a kernel.
template <class... T>
class Kinds {
  public:
    constexpr Kinds() { (add(letter<T>(), sizeof(T)), ...); }

    constexpr const char* text() const { return text_; }

  private:
    template <class One>
    static constexpr char letter() {
        return std::is_pointer_v<One>          ? 'P'
               : std::is_class_v<One>          ? 'S'
               : std::is_floating_point_v<One> ? 'f'
                                               : 'i';
    }

    constexpr void add(char letter, size_t bytes) {
        text_[length_++] = letter;
        size_t unit = 1;
        while (bytes / unit > 9) unit *= 10;
        for (; unit > 0; unit /= 10) text_[length_++] = char('0' + bytes / unit % 10);
        text_[length_++] = ' ';
    }

    static constexpr int LONGEST = 12;  // characters per parameter: sizes are below 10^9 bytes
    char text_[sizeof...(T) * LONGEST + 1] = {};
    int length_ = 0;
};

template <class... T>
const char* signature(void (*)(T...)) {
    static constexpr Kinds<T...> kinds;
    return kinds.text();
}

template <class... T, size_t... I>
void call(void (*kernel)(T...), void** values, std::index_sequence<I...>) {
    kernel(*static_cast<T*>(values[I])...);
}

template <class... T>
void call(void (*kernel)(T...), void** values) {
    call(kernel, values, std::index_sequence_for<T...>{});
}

}  // namespace host

// Everything except these entries is hidden, as two programs in one process have functions and
// types with the same names.
#define EXPORT extern "C" __attribute__((visibility("default")))

// Every piece of a program contains this function.
EXPORT inline __attribute__((used)) void islands_explain_crashes(const char* place) {
    host::explain_crashes(place);
}

// The number of threads only matters on GPUs.
#define KERNEL_OF(threads, blocks, name, parameters) KERNEL(name, parameters)

#define WITH_KERNEL(name, parameters)                                                           \
    static void name parameters;                                                                \
    EXPORT const char* name##_signature() { return host::signature(name); }                     \
    EXPORT bool name##_launch(void** values, unsigned grid, unsigned threads, uint64_t bytes) { \
        const host::Body body = [](void** values) { host::call(name, values); };                \
        return host::pool().run(body, values, grid, threads, bytes);                            \
    }                                                                                           \
    static void name parameters
#define WITHOUT_KERNEL(name, parameters) \
    template <int>                       \
    void name parameters
#define KERNEL(name, parameters) KERNEL_IN_PIECE(name)(name, parameters)

struct Arena {
    char* memory;
    uint64_t large_bytes;

    char* large() const { return host::arena; }
    char* small() const { return host::arena + large_bytes; }
};
