// Hands out a block's working memory, one part after another, each aligned for the widest access.
// What takes some says so in its constructor alone, which does nothing with it: so a scratch that
// lies nowhere counts the bytes.
#pragma once

class Scratch {
  public:
    __device__ explicit Scratch(char* memory) : next_(memory) {}

    template <class T>
    __device__ T* take(int64_t count) {
        T* const part = reinterpret_cast<T*>(next_);
        next_ += (count * sizeof(T) + 15) / 16 * 16;
        return part;
    }

    // What was taken of a scratch that lies nowhere.
    __device__ int64_t bytes() const { return reinterpret_cast<int64_t>(next_); }

  private:
    char* next_;
};

// What holds of a part that says nothing else. One that takes working memory brings a `Workspace`.
namespace defaults {

struct Workspace {
    template <class... Facts>
    __device__ explicit Workspace(const Facts&...) {}
};

// Whether an improver takes so long that it is asked before each search whether it is to end.
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
