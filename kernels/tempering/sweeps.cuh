// The common part of chains of exchanges: their work in rows of pairs, and the evaluation of
// orders. Reads orders and the problem's data; writes the best order. No random numbers.
#pragma once

#include "tempering/base.cuh"

namespace tempering {

// The rows of pairs that a chain processes in a generation. An accepted exchange takes as long as
// some rows, and is counted accordingly, as all replicas of a generation wait for the slowest. As a
// result, generations end more often in states that accept many exchanges than in the Boltzmann
// distribution; the distribution is exact if exchanges are not counted.
class Rows {
  public:
    // `per_exchange`: the share of a sweep that an exchange counts as.
    __device__ Rows(int first, int sweeps, int rows_a_sweep, double per_exchange)
        : a_sweep_(rows_a_sweep),
          an_exchange_(int(per_exchange * rows_a_sweep + 0.5)),
          end_(first + int(min(int64_t(sweeps) * rows_a_sweep, MOST))) {}

    // Whether row i of a sweep belongs to the generation.
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
};

}  // namespace tempering
