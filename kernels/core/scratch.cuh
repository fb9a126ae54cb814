// Allocates the scratch memory of a block in consecutive parts, each aligned for the widest access,
// without accessing it. Classes take their parts in a constructor that does not access them, so the
// same constructor, run on a `Scratch` of a null pointer, counts the bytes. No random numbers.
#pragma once

#include "core/compiler.cuh"

class Scratch {
  public:
    __device__ explicit Scratch(char* memory) : next_(memory) {}

    template <class T>
    __device__ T* take(int64_t count) {
        T* const part = reinterpret_cast<T*>(next_);
        next_ += (count * sizeof(T) + 15) / 16 * 16;
#ifdef CHECKS_SCRATCH
        next_ = checked::fenced(reinterpret_cast<char*>(part + count), next_);
#endif
        return part;
    }

    // Return the bytes taken, for a `Scratch` of a null pointer.
    __device__ int64_t bytes() const { return reinterpret_cast<int64_t>(next_); }

  private:
    char* next_;
};

// Defaults for parts of a program. A part that takes scratch memory declares its own `Workspace`.
namespace defaults {

struct Workspace {
    template <class... Facts>
    __device__ explicit Workspace(const Facts&...) {}
};

// Whether an improver takes so long that it checks for a stop request before each search.
constexpr bool TAKES_LONG = false;

}  // namespace defaults

namespace problem {
using namespace defaults;
}
namespace improver {
using namespace defaults;
}
namespace crossover {
using namespace defaults;
}
namespace mutation {
using namespace defaults;
}
