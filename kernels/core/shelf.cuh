// Hands out a block's working memory, one part after another, each aligned for the widest access.
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

  private:
    char* next_;
};
