// The delta of each exchange of two items, for symmetric matrices of bytes on a GPU: each thread
// keeps a square tile of pairs in registers. Reads the matrices and the assignment; writes copies
// of the matrices, `b` in the order of the items' places, and the effects of an exchange, to block
// memory. No random numbers.
#pragma once

#include "core/core.cuh"
#include "core/tile.cuh"
#include "moves.cuh"

namespace problem {

class TileDeltas {
  public:
    using Tile = block::Tile<PROBLEM_TILE>;
    // Marks entries that are not pairs: larger than any delta; all deltas are exact in this type.
    static constexpr float NONE = 16777215.0f;

    __device__ TileDeltas(Scratch& scratch, const int32_t* order, int n, const Data& data)
        : order_(order),
          n_(n),
          pitch_(((n + 15) / 16 | 1) * 16),  // rows start in different banks
          data_(data),
          a_(scratch.take<uint8_t>(n * pitch_)),
          b_(scratch.take<uint8_t>(n * pitch_)),
          diagonal_(scratch.take<int32_t>(n)),
          gap_(scratch.take<Gap>(Tile::padded(n))),
          ends_(scratch.take<int32_t>(2)),
          fresh_(scratch.take<int32_t>(2 * Tile::padded(n))) {}

    // The order is complete on entry. Ends with a barrier.
    __device__ void begin() {
        for (int e = threadIdx.x; e < n_ * pitch_; e += blockDim.x) {
            const int i = e / pitch_, k = e % pitch_;
            a_[e] = k < n_ ? data_.a[i * n_ + k] : 0;
            b_[e] = k < n_ ? data_.b[order_[i] * n_ + order_[k]] : 0;
        }
        for (int i = threadIdx.x; i < Tile::padded(n_); i += blockDim.x) {
            gap_[i] = {0.0f, 0.0f};
            *fresh(false, i) = *fresh(true, i) = 0;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < n_; i += blockDim.x) diagonal_[i] = product(i, i);
        __syncthreads();
    }

    __device__ void start(const Tile& tile, float (&delta)[Tile::PAIRS]) const {
#pragma unroll
        for (float& entry : delta) entry = NONE;
#pragma unroll 1  // short code stays in the instruction cache
        for (int c = 0; c < Tile::PAIRS; ++c) {
            const int i = tile.i + c / Tile::SIDE, j = tile.j + c % Tile::SIDE;
            if (!tile.has(i, j, n_)) continue;
            const float value = raised(i, j);
            tile.each([&](int k, int, int) { delta[k] = k == c ? value : delta[k]; });
        }
    }

    // Prepare the deltas of item j with one of two items whose exchange raises the cost by `by`.
    __device__ void announce(moves::Swap swap, int by, bool of_second, int j) {
        // The item, and the one whose place it takes.
        const int f = of_second ? swap.v : swap.u, o = of_second ? swap.u : swap.v;
        const int gap_a = a(f, j) - a(o, j), gap_b = b(f, j) - b(o, j);
        if (!of_second) gap_[j] = {float(gap_a), float(gap_b)};
        if (j == f) return;
        // Sums of products in the new order are derived from those in the old one.
        const Products old = products(f, j, o);
        const int first = diagonal_a(f) - a(f, o), second = diagonal_b(o) - b(f, o);
        int raised;
        if (j == o) {
            raised = old.first + first * second;
            ends_[of_second] = raised;
            raised -= by;
        } else {
            raised = old.first + old.second - first * gap_b + second * gap_a;
            raised -= diagonal_[j] - gap_a * gap_b;
            raised += (diagonal_a(f) - a(f, j)) * (diagonal_b(j) - b(o, j));
            raised += (a(f, j) - diagonal_a(j)) * (b(o, j) - diagonal_b(o));
        }
        *fresh(of_second, j) = raised;
    }

    // Apply the announced exchange, after a barrier.
    __device__ void follow(moves::Swap swap) {
        const int r = swap.u, s = swap.v;
        for (int j = block::from_last(); j < n_; j += blockDim.x) {
            if (j == s) {
                diagonal_[s] = ends_[1];
            } else if (j == r) {
                diagonal_[r] = ends_[0];
                block::exchange(b_[r * pitch_ + r], b_[s * pitch_ + s]);
                block::exchange(b_[r * pitch_ + s], b_[s * pitch_ + r]);
            } else {
                diagonal_[j] -= int(gap_[j].a * gap_[j].b);
                block::exchange(b_[r * pitch_ + j], b_[s * pitch_ + j]);
                block::exchange(b_[j * pitch_ + r], b_[j * pitch_ + s]);
            }
        }
    }

    // Update the deltas of a tile for the announced exchange, after a barrier.
    __device__ void advance(const Tile& tile, moves::Swap swap, float (&delta)[Tile::PAIRS]) const {
        if (!tile.exists()) return;
        Gap row[Tile::SIDE], column[Tile::SIDE];
#pragma unroll
        for (int k = 0; k < Tile::SIDE; ++k) {
            row[k] = gap_[tile.i + k];
            column[k] = gap_[tile.j + k];
        }
        tile.each([&](int c, int, int) {
            const Gap x = row[c / Tile::SIDE], y = column[c % Tile::SIDE];
            delta[c] = fmaf(x.a - y.a, x.b - y.b, delta[c]);
        });
        const auto replace = [&](int item, bool is_second) {
            const int32_t* const raised = fresh(is_second, 0);
            const int32_t end = ends_[is_second];
            tile.set(delta, item, [&](int other) { return float(raised[other] - end); });
        };
        replace(swap.u, false);
        replace(swap.v, true);
        if (!tile.is_whole(n_)) {
            tile.each(
                [&](int c, int i, int j) { delta[c] = tile.has(i, j, n_) ? delta[c] : NONE; });
        }
    }

  private:
    // Differences between the entries of an item with the two exchanged items.
    struct alignas(8) Gap {
        float a, b;
    };
    struct Products {
        int first, second;
    };

    __device__ int32_t* fresh(bool of_second, int j) const {
        return fresh_ + (of_second ? Tile::padded(n_) : 0) + j;
    }
    __device__ int a(int i, int j) const { return a_[i * pitch_ + j]; }
    __device__ int b(int i, int j) const { return b_[i * pitch_ + j]; }
    __device__ int diagonal_a(int i) const { return PROBLEM_TILE_DIAGONAL ? a(i, i) : 0; }
    __device__ int diagonal_b(int i) const { return PROBLEM_TILE_DIAGONAL ? b(i, i) : 0; }

    // Return the sums of the products of row f of `a` and row j of `b`, and of rows j and o.
    __device__ Products products(int f, int j, int o) const {
        const auto* const a_f = reinterpret_cast<const uint4*>(a_ + f * pitch_);
        const auto* const a_j = reinterpret_cast<const uint4*>(a_ + j * pitch_);
        const auto* const b_j = reinterpret_cast<const uint4*>(b_ + j * pitch_);
        const auto* const b_o = reinterpret_cast<const uint4*>(b_ + o * pitch_);
        uint32_t first = 0, second = 0;
#pragma unroll 2
        for (int k = 0; k < (n_ + 15) / 16; ++k) {
            first = block::dot(a_f[k], b_j[k], first);
            second = block::dot(a_j[k], b_o[k], second);
        }
        return {int(first), int(second)};
    }
    __device__ int product(int i, int j) const { return products(i, j, j).first; }

    __device__ int raised(int i, int j) const {
        const Products sums = products(i, j, i);
        return sums.first + sums.second - diagonal_[i] - diagonal_[j] +
               (diagonal_a(i) - a(i, j)) * (diagonal_b(j) - b(i, j)) +
               (a(i, j) - diagonal_a(j)) * (b(i, j) - diagonal_b(i));
    }

    const int32_t* const order_;
    const int n_, pitch_;
    const Data& data_;
    uint8_t* const a_;
    uint8_t* const b_;
    int32_t* const diagonal_;  // [n]: the sum of the products of row i of both matrices
    Gap* const gap_;           // [n]
    int32_t* const ends_;      // [2]: the new entries of the exchanged items in diagonal_
    int32_t* const fresh_;     // [2][n]: their new deltas with each item, plus the entry in ends_
};

}  // namespace problem
