// Explains a fatal signal caused by user code on a CPU: without it, there is only an exit status
// such as 139. Writes to standard error. No random numbers.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

namespace host {

struct Crash {
    int number;
    const char* words;
    struct sigaction before;
};

inline Crash crashes[] = {
    {SIGSEGV, "SIGSEGV, for example because of an invalid index or endless recursion", {}},
    {SIGBUS, "SIGBUS, for example because of an invalid index", {}},
    {SIGFPE, "SIGFPE, for example because of an integer division by zero", {}},
    {SIGILL, "SIGILL, for example because of a division by zero or undefined behaviour", {}},
};
inline const char* crash_place = nullptr;  // which user code is running, and the suggested fix
inline thread_local bool runs_blocks = false;

inline void say(const char* text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

// Async-signal-safe. On return, the instruction raises the signal again, now for the previous
// handler: that of another program or of the system.
inline void on_crash(int number, siginfo_t* cause, void*) {
    for (Crash& crash : crashes) {
        if (crash.number != number) continue;
        if (runs_blocks && cause->si_code > 0) {
            static bool is_said = false;  // other threads that fail at the same time wait
            while (__atomic_test_and_set(&is_said, __ATOMIC_SEQ_CST)) pause();
            say("\nislands: the process received ");
            say(crash.words);
            say(crash_place);
        }
        sigaction(number, &crash.before, nullptr);
        if (cause->si_code <= 0) raise(number);  // sent by a process: not raised again on return
    }
}

// Give the handler its own stack, as the current one may be exhausted.
inline void set_crash_stack() {
    constexpr size_t BYTES = 1 << 16;
    static thread_local bool has_stack = false;
    if (has_stack || !crash_place) return;
    has_stack = true;
    stack_t stack = {};
    if (sigaltstack(nullptr, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
    stack.ss_flags = 0;
    stack.ss_size = BYTES;
    stack.ss_sp = malloc(BYTES);  // for the lifetime of the thread
    if (stack.ss_sp) sigaltstack(&stack, nullptr);
}

// Marks this thread as running blocks during the lifetime of the object.
struct InBlocks {
    InBlocks() {
        set_crash_stack();
        runs_blocks = true;
    }
    ~InBlocks() { runs_blocks = false; }
    InBlocks(const InBlocks&) = delete;
    InBlocks& operator=(const InBlocks&) = delete;
};

inline void explain_crashes(const char* place) {
    if (crash_place) return;
    crash_place = strdup(place);
    if (!crash_place) return;
    for (Crash& crash : crashes) {
        struct sigaction action = {};
        action.sa_sigaction = on_crash;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(crash.number, &action, &crash.before);
    }
}

}  // namespace host
