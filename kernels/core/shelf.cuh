// Hands out a block's working memory, one part after another, each aligned for the widest access.
// What takes some says so in its constructor alone, which does nothing with it: so a shelf that
// lies nowhere counts the bytes.
#pragma once

class Shelf {
  public:
    __device__ explicit Shelf(char* memory) : next_(memory) {}

    template <class T>
    __device__ T* take(int64_t count) {
        T* const part = reinterpret_cast<T*>(next_);
        next_ += (count * sizeof(T) + 15) / 16 * 16;
        return part;
    }

    // What was taken of a shelf that lies nowhere.
    __device__ int64_t bytes() const { return reinterpret_cast<int64_t>(next_); }

  private:
    char* next_;
};

// The working memory of a part that takes none. Those that do bring a `Desk` of their own.
namespace without_desk {

struct Desk {
    template <class... Facts>
    __device__ explicit Desk(const Facts&...) {}
};

}  // namespace without_desk

namespace problem {
using namespace without_desk;
}
namespace improver {
using namespace without_desk;
}
namespace crossover {
using namespace without_desk;
}
namespace mutation {
using namespace without_desk;
}
