// The instance of a run. Usually all islands have the same one. With ISLANDS_INSTANCES, a header
// that Python generates, each of several runs has its own: the structs that kernels
// receive point to the data of the first run, and those of the next runs follow at equal distances.
// Reads the structs and the rows of runs; writes a copy with the addresses and the numbers of a
// run. No random numbers.
#pragma once

#include "core/islands.cuh"

#ifdef ISLANDS_INSTANCES

namespace instance {

// The location of the data of a run.
struct Row {
    int64_t shift;  // distance from the data of the first run
    const char* first;

    // Return the address in this run for an address in the first run.
    template <class T>
    __device__ T* of(T* first_address) const {
        return reinterpret_cast<T*>(reinterpret_cast<uint64_t>(first_address) + shift);
    }

    // Read a number of the run.
    template <class T>
    __device__ void read(T& number, int64_t offset) const {
        number = *reinterpret_cast<const T*>(first + offset);
    }
};

// Return the row of an island's run.
__device__ Row row_of(const Islands& all, int local) {
    const int64_t shift = local / all.runs.islands * all.runs.stride;
    return {shift, all.runs.rows + shift};
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
        const instance::Row row = instance::row_of(all_, local);
        instance::choose_data(data, first_data_, row);
        instance::choose_plan(plan, first_plan_, row);
        instance::choose_improving(improving, first_improving_, row);
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
