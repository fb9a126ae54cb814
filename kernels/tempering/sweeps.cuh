// Base of chains that exchange entries of an order: evaluates orders, and counts the work in rows
// of pairs. Reads orders and the problem's data; writes the best order. Random streams: PROPOSALS.
#pragma once

#include "tempering/base.cuh"

namespace tempering {

// The rows of pairs that a chain processes in a generation. Because all replicas wait for the
// slowest, an accepted exchange counts as the number of rows that take the same time. As a result,
// states that accept many exchanges are final states more often than under the Boltzmann
// distribution; the distribution is exact if exchanges are not counted.
class Rows {
  public:
    // `per_exchange`: the cost of an accepted exchange, in sweeps.
    __device__ Rows(int first, int sweeps, int rows_per_sweep, double per_exchange)
        : a_sweep_(rows_per_sweep),
          an_exchange_(int(per_exchange * rows_per_sweep + 0.5)),
          end_(first + int(min(int64_t(sweeps) * rows_per_sweep, MOST))) {}

    // Return whether row i of a sweep belongs to the generation.
    __device__ bool have(int sweep, int i) const { return sweep * a_sweep_ + i < end_; }

    // Count an accepted exchange in row i of a sweep. The row is still completed.
    __device__ void exchanged(int sweep, int i) {
        end_ = max(sweep * a_sweep_ + i + 1, end_ - an_exchange_);
    }

    __device__ int end() const { return end_; }

  private:
    static constexpr int64_t MOST = 1 << 30;  // so that row numbers fit

    const int a_sweep_, an_exchange_;
    int end_;
};

// A chain that exchanges entries of an order.
class SweepingChain : public BaseChain {
  public:
    __device__ static int64_t evaluate(Gene* order, Gene* best_order, const Scratch&,
                                       const encoding::Shape& shape, const problem::Data& data,
                                       const draw::Place&) {
        copy_row(best_order, order, shape.pitch);
        __syncthreads();
        return problem::cost(order, shape.n, data);
    }

  protected:
    // Return the random words of the proposals of a run, given the number of its first quad.
    __device__ static block::Run<uint32_t> words_from(uint32_t quad, const draw::Place& place) {
        block::Run<uint32_t> run;
        for (int k = 0; k < block::RUN; k += 4) {
            const uint4 word = place.words<draw::FEWEST_ROUNDS>(stream::PROPOSALS, quad + k / 4);
            run.item[k] = word.x, run.item[k + 1] = word.y;
            run.item[k + 2] = word.z, run.item[k + 3] = word.w;
        }
        return run;
    }
};

}  // namespace tempering
