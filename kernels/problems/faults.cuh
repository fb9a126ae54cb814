// Reports of invalid values that user functions return or set. A thread that detects one writes it,
// and the run continues until the host reads the reports: islands/modelling/faults.py. Writes
// `faults`, two words per kind. No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

enum Fault {
    NOT_A_NUMBER,
    BEST_INFINITY,
    TOO_LARGE,
    NO_SUCH_ENTRY,
    WRONG_VALUE,
    REPEATED_ITEM,
    WRONG_VIOLATION
};

// Report a fault with its value, an integer or the bits of a double.
__device__ void report(int64_t* faults, Fault fault, int64_t value = 0) {
    faults[2 * fault + 1] = value;
    faults[2 * fault] = 1;
}

}  // namespace problem
