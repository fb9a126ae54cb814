// The instance of a run. Usually all islands have the same one. With ISLANDS_INSTANCES, a header
// that Python generates, each of several concurrent runs has its own: the structs that kernels
// receive point to the data of the first run, and those of the next runs follow at equal distances.
// Reads the structs; writes a copy with the addresses of a run. No random numbers.
#pragma once

#include "core/islands.cuh"

#ifdef ISLANDS_INSTANCES

namespace instance {

template <class T>
__device__ T* of_run(T* first, int64_t shift) {
    return reinterpret_cast<T*>(reinterpret_cast<uint64_t>(first) + shift);
}

// Return the distance of the data of an island's run from those of the first run.
__device__ int64_t shift_of(const Islands& all, int local) {
    return local / all.runs.islands * all.runs.stride;
}

}  // namespace instance

#include ISLANDS_INSTANCES

#endif

// The structs of the island that was chosen last.
template <class Data, class Plan, class Improving>
class Instance {
  public:
    __device__ Instance(const Islands& all, const Data& data, const Plan& plan,
                        const Improving& improving)
        : data(data),
          plan(plan),
          improving(improving)
#ifdef ISLANDS_INSTANCES
          ,
          all_(all),
          first_data_(data),
          first_plan_(plan),
          first_improving_(improving)
#endif
    {
    }

#ifdef ISLANDS_INSTANCES
    Data data;
    Plan plan;
    Improving improving;

    __device__ void choose(int local) {
        const int64_t shift = instance::shift_of(all_, local);
        instance::choose_data(data, first_data_, shift);
        instance::choose_plan(plan, first_plan_, shift);
        instance::choose_improving(improving, first_improving_, shift);
    }

  private:
    const Islands& all_;
    const Data& first_data_;
    const Plan& first_plan_;
    const Improving& first_improving_;
#else
    const Data& data;
    const Plan& plan;
    const Improving& improving;

    __device__ void choose(int) {}
#endif
};
