// The threads of an emulated block, which take turns on one thread of the CPU. Each runs until it
// waits for others. The environment variable EMULATED_ORDER tells whose turn it is: ascending (the
// default), descending or random. Defines threads and barriers. No random numbers of a run.
// A program has these variables once: it is compiled in one piece.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/host.hpp"

namespace emulated {

constexpr int WARP = 32, MOST_THREADS = 1024;
constexpr size_t STACK_BYTES = 128 << 10;

enum State { READY, AT_BARRIER, AT_WARP_STEP, ENDED };

// A line of the kernels.
struct Site {
    const char* file;
    int line;

    static Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
    bool operator==(const Site& other) const {
        return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
    }
};

// The values that a thread gives to others: the last one, and the one before, which they may still
// read.
struct Values {
    unsigned given = 0;
    uint64_t last[2] = {};
};

struct Thread {
    jmp_buf place;  // where it continues
    std::unique_ptr<char[]> stack;
    State state;
    Site site;  // where it waits
    Values of_warp, of_block;
};

static Thread threads[MOST_THREADS];
static Index thread{0}, size{1};
static jmp_buf scheduler;
static host::Body body;
static void** arguments;
static uint64_t turns;  // of the generator of random orders

static Thread& self() { return threads[thread.x]; }

inline void wait(State state, Site site) {
    Thread& mine = self();
    mine.state = state, mine.site = site;
    // Unlike swapcontext, these jumps ask nothing of the operating system.
    if (_setjmp(mine.place) == 0) _longjmp(scheduler, 1);
}

// Run one block after another: after a block, `place` is where the next one begins.
inline void begin() {
    for (;;) {
        if (_setjmp(self().place) == 0) _longjmp(scheduler, 1);
        body(arguments);
        self().state = ENDED;
    }
}

// Make a thread ready. It keeps its stack, as a new one has to ask the operating system.
inline void start(Thread& each) {
    each.state = READY, each.of_warp = each.of_block = {};
    if (each.stack) return;
    each.stack.reset(new char[STACK_BYTES]);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = each.stack.get();
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = nullptr;
    makecontext(&context, begin, 0);
    if (_setjmp(scheduler) == 0) setcontext(&context);
}

[[noreturn]] inline void fail(const char* reason, const Thread& one, const Thread& other) {
    std::fprintf(stderr, "emulated GPU: block %u: %s\n", blockIdx.x, reason);
    for (const Thread* it : {&one, &other}) {
        std::fprintf(stderr, "    thread %d at %s:%d\n", int(it - threads), it->site.file,
                     it->site.line);
    }
    std::abort();
}

// Release the threads that wait in one state, if none is elsewhere; return whether it did.
inline bool release(unsigned first, unsigned end, State state) {
    const Thread* other = nullptr;
    for (unsigned i = first; i < end; ++i) {
        Thread& each = threads[i];
        if (each.state == ENDED && state == AT_BARRIER) continue;
        if (each.state != state) return false;
        if (other && !(each.site == other->site)) fail("threads wait at two places", each, *other);
        other = &each;
    }
    for (unsigned i = first; i < end; ++i) {
        if (threads[i].state == state) threads[i].state = READY;
    }
    return other;
}

// Release the warps, or else the block, that can go on; return whether there are any.
inline bool release_some() {
    bool is_released = false;
    for (unsigned first = 0; first < size.x; first += WARP) {
        is_released |= release(first, std::min(first + WARP, size.x), AT_WARP_STEP);
    }
    if (is_released || release(0, size.x, AT_BARRIER)) return true;
    for (unsigned i = 0; i < size.x; ++i) {
        const unsigned first = i / WARP * WARP;
        for (unsigned k = first; k < first + WARP && threads[i].state == AT_WARP_STEP; ++k) {
            if (threads[k].state != AT_WARP_STEP)
                fail("a warp waits for a thread that is elsewhere or has ended", threads[i],
                     threads[k]);
        }
    }
    return false;
}

// Return a number below `end`.
inline unsigned random_below(unsigned end) {
    turns = turns * 6364136223846793005u + 1442695040888963407u;
    return unsigned(turns >> 33) % end;
}

// Give all threads that can run a turn, in the order. Until they wait, no other thread can run.
inline void take_turns(char order) {
    static unsigned numbers[MOST_THREADS];
    unsigned count = 0;
    for (unsigned i = 0; i < size.x; ++i) {
        const unsigned k = order == 'd' ? size.x - 1 - i : i;
        if (threads[k].state == READY) numbers[count++] = k;
    }
    for (unsigned i = 0; i < count; ++i) {
        if (order == 'r') std::swap(numbers[i], numbers[i + random_below(count - i)]);
        thread.x = numbers[i];
        if (_setjmp(scheduler) == 0) _longjmp(self().place, 1);
    }
}

inline void run_block(char order) {
    for (thread.x = 0; thread.x < size.x; ++thread.x) start(self());
    do {
        take_turns(order);
    } while (release_some());
}

// Run a launch; working memory begins with values that no kernel may read.
inline bool launch(host::Body kernel, void** values, unsigned grid, unsigned count,
                   uint64_t bytes) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    host::Lock turn(mutex);
    static host::Buffers buffers;
    if (!host::use_buffers(buffers, bytes)) return false;
    const char* const named = std::getenv("EMULATED_ORDER");
    const char order = named ? named[0] : 'a';
    body = kernel, arguments = values, gridDim.x = grid, size.x = count;
    for (unsigned i = 0; i < grid; ++i) {
        blockIdx.x = order == 'd' ? grid - 1 - i : i;
        std::memset(host::arena, 0xa5, bytes);
        run_block(order);
    }
    return true;
}

}  // namespace emulated
