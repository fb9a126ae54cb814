// The delta of each exchange of two items, updated when items are exchanged (Taillard 1991). Reads
// the matrices and the assignment; writes its copies of the matrices and the deltas to block
// memory, and returns deltas. One matrix is kept in the order of the items' places, and asymmetric
// ones also transposed, so that rows are read contiguously. No random numbers.
#pragma once

#include "core/core.cuh"
#include "moves.cuh"
#include "problems/qap_exchange.cuh"

namespace problem {

class SwapDeltas {
  public:
    using Delta = QAP_DELTA;
    static constexpr bool EVALUATES = false;  // see improvers/swap_deltas.cuh
#if !defined(__CUDACC__) && QAP_FITS_CACHE
    using A = int;  // compilers convert bytes one by one
    using B = int;
#else
    using A = QAP_A;
    using B = QAP_B;
#endif

    __device__ static const int32_t* after(const Data& data) {
#if PROBLEM_CLASSES
        return data.after;
#else
        return nullptr;
#endif
    }

    // `kept` is memory for the deltas that outlives this object, or null.
    __device__ SwapDeltas(Scratch& scratch, const int32_t* order, int n, const Data& data,
                          const block::Triangle& triangle, Delta* kept = nullptr)
        : order_(order),
          n_(n),
          data_(data),
          triangle_(triangle),
          pitch_a_(block::row_pitch<A, PACK>(n)),
          pitch_b_(block::row_pitch<B, PACK>(n)),
          delta_(kept != nullptr ? kept : scratch.take<Delta>(triangle.entries())),
          a_(scratch.take<A>(n * pitch_a_)),
          b_(scratch.take<B>(n * pitch_b_)),
          a_across_(QAP_SYMMETRIC ? a_ : scratch.take<A>(n * pitch_a_)),
          b_across_(QAP_SYMMETRIC ? b_ : scratch.take<B>(n * pitch_b_)) {
        for (Delta*& gap : gap_) gap = scratch.take<Delta>(n + block::RUN - 1);
#ifndef __CUDACC__
        for (Delta** array : {&with_r_, &with_s_, &a_diagonal_, &b_diagonal_}) {
            *array = scratch.take<Delta>(n + block::RUN - 1);
        }
#endif
    }

    // The order is complete on entry; the deltas are visible after the next barrier. If
    // `are_kept`, they already belong to this order.
    __device__ void begin(bool are_kept = false) {
        for (int e = threadIdx.x; e < n_ * pitch_a_; e += blockDim.x) {
            const int i = e / pitch_a_, k = e % pitch_a_;
            a_[e] = k < n_ ? data_.a[i * n_ + k] : A(0);
            if constexpr (!QAP_SYMMETRIC) a_across_[e] = k < n_ ? data_.a[k * n_ + i] : A(0);
        }
        for (int e = threadIdx.x; e < n_ * pitch_b_; e += blockDim.x) {
            const int i = e / pitch_b_, k = e % pitch_b_;
            b_[e] = k < n_ ? data_.b[order_[i] * n_ + order_[k]] : B(0);
            if constexpr (!QAP_SYMMETRIC) {
                b_across_[e] = k < n_ ? data_.b[order_[k] * n_ + order_[i]] : B(0);
            }
        }
        rest();
        __syncthreads();
#ifndef __CUDACC__
        for (int i = 0; i < n_ + block::RUN - 1; ++i) {
            a_diagonal_[i] = i < n_ ? a(i, i) : 0;
            b_diagonal_[i] = i < n_ ? b(i, i) : 0;
        }
#endif
        if (are_kept) return;
        for (int run = threadIdx.x; run < triangle_.runs(); run += blockDim.x) {
            const auto [i, first] = triangle_.place(run);
            for (int k = 0; k < block::RUN; ++k) {
                const int j = first + k;
                delta_[run * block::RUN + k] = triangle_.has(i, j) ? raised(i, j) : 0;
            }
        }
    }

    // Return the stored deltas of a run of pairs. Entries that are not pairs are undefined.
    __device__ block::ReadRun<Delta> stored(int run) const {
        return reinterpret_cast<const block::Run<Delta>*>(delta_)[run];
    }

    // Update the deltas of a run of pairs for the announced exchange, and return them. Entries that
    // are not pairs are undefined.
    __device__ block::ReadRun<Delta> advance(int run, block::Triangle::Place place) {
        using Runs = block::Run<Delta>;
        Runs& stored = reinterpret_cast<Runs*>(delta_)[run];
#ifdef __CUDACC__
        Runs next = stored;
#else
        Runs& next = stored;  // a copy would be slow, see ReadRun
#endif
        for (int half = 0; half < GAPS; half += 2) {
            const Delta a = gap_[half][place.i], b = gap_[half + 1][place.i];
            block::ReadRun<Delta> as = *reinterpret_cast<const Runs*>(gap_[half] + place.j);
            block::ReadRun<Delta> bs = *reinterpret_cast<const Runs*>(gap_[half + 1] + place.j);
            block::along_run(
                [&](int k) { next.item[k] = grown(next.item[k], a - as.item[k], b - bs.item[k]); });
        }
#ifdef __CUDACC__
        stored = next;
#endif
        return next;
    }

    // Prepare for an exchange that raises the cost by `by`. For pairs that share an item with it,
    // store deltas that advance() corrects.
    __device__ void announce(moves::Swap swap, Delta by) {
        const int r = swap.u, s = swap.v;
        const PairExchange<A, B> exchange(RowsOfTwo<A>(a_, a_across_, pitch_a_, r, s),
                                          RowsOfTwo<B>(b_, b_across_, pitch_b_, r, s), r, s, by);
#ifdef __CUDACC__
        block::sums<Delta>(
            n_, packs(), [&](int j, int k) { return products(r, s, j, k); },
            [&](int j, Delta sum) {
                const auto a_j = exchange.entries_a(a(j, j), EntryOf{j});
                const auto b_j = exchange.entries_b(b(j, j), EntryOf{j});
                const Gaps<Delta> gaps(a_j, b_j);
                for (int k = 0; k < GAPS; ++k) gap_[k][j] = gaps.item[k];
                if (j == s) return;
                if (j == r) {
                    delta_[triangle_.at(r, s)] = exchange.back();
                    return;
                }
                // The exchange of equal items is not a pair, and changes nothing.
                const bool has_r = !triangle_.are_equal(r, j), has_s = !triangle_.are_equal(s, j);
                const int at_r = triangle_.at(r, j), at_s = triangle_.at(s, j);
                const Delta of_r = has_r ? delta_[at_r] : 0, of_s = has_s ? delta_[at_s] : 0;
                sum += linear_of(r, s, j);
                const auto both = exchange.renewed<Delta>(a_j, b_j, gaps, sum, {of_r, of_s});
                if (has_r) delta_[at_r] = both.with_r;
                if (has_s) delta_[at_s] = both.with_s;
            });
#else
        const int n = n_;
        for (int j = 0; j < n; j += LANES) {
            lanes::store<Delta>(with_r_ + j, Numbers{});
            lanes::store<Delta>(with_s_ + j, Numbers{});
        }
        triangle_.each_pair(delta_, r, [&](int j, Delta delta) { return with_r_[j] = delta; });
        triangle_.each_pair(delta_, s, [&](int j, Delta delta) { return with_s_[j] = delta; });
        for (int j = 0; j < n; j += LANES) {
            const auto read = [j](const auto* row) { return lanes::load<Delta>(row + j); };
            const auto a_j = exchange.entries_a(read(a_diagonal_), read);
            const auto b_j = exchange.entries_b(read(b_diagonal_), read);
            const Gaps<Numbers> gaps(a_j, b_j);
            for (int k = 0; k < GAPS; ++k) lanes::store(gap_[k] + j, gaps.item[k]);
            const auto both = exchange.renewed<Numbers>(a_j, b_j, gaps, sums(r, s, j),
                                                        {read(with_r_), read(with_s_)});
            lanes::store(with_r_ + j, both.with_r);
            lanes::store(with_s_ + j, both.with_s);
        }
        triangle_.each_pair(delta_, r, [&](int j, Delta) { return with_r_[j]; });
        triangle_.each_pair(delta_, s, [&](int j, Delta) { return with_s_[j]; });
        delta_[triangle_.at(r, s)] = exchange.back();
#endif
    }

    // Announce that no exchange is applied: advance() then changes nothing.
    __device__ void rest() {
        for (Delta* gap : gap_) {
            for (int i = threadIdx.x; i < n_ + block::RUN - 1; i += blockDim.x) gap[i] = 0;
        }
    }

    // Apply the announced exchange.
    __device__ void follow(moves::Swap swap) {
        exchange_items(b_, swap.u, swap.v);
        if constexpr (!QAP_SYMMETRIC) exchange_items(b_across_, swap.u, swap.v);
#ifndef __CUDACC__
        block::exchange(b_diagonal_[swap.u], b_diagonal_[swap.v]);
#endif
    }

  private:
    static constexpr int GAPS = Gaps<Delta>::COUNT;
    static constexpr int PACK = block::packed<A, B>();
#ifndef __CUDACC__
    using Numbers = lanes::Of<Delta>;
    static constexpr int LANES = lanes::COUNT<Delta>;
    static_assert(PACK % LANES == 0 && PACK % block::RUN == 0, "rows end with a whole run");
#endif

    // Exchange rows and columns r and s.
    __device__ void exchange_items(B* b, int r, int s) const {
        const int n = n_, pitch = pitch_b_;
        B *const row_r = b + r * pitch, *const row_s = b + s * pitch;
#ifdef __CUDACC__
        // Each thread exchanges the entries with an item j.
        for (int j = block::from_last(); j < n; j += blockDim.x) {
            if (j == s) continue;
            if (j == r) {
                block::exchange(row_r[r], row_s[s]);
                block::exchange(row_r[s], row_s[r]);
            } else {
                block::exchange(row_r[j], row_s[j]);
                block::exchange(b[j * pitch + r], b[j * pitch + s]);
            }
        }
#else
        for (int first = 0; first < n; first += block::RUN) {
            block::along_run([&](int k) { block::exchange(row_r[first + k], row_s[first + k]); });
        }
        for (int j = 0; j < n; ++j) block::exchange(b[j * pitch + r], b[j * pitch + s]);
#endif
    }

    // Entries that are not pairs may overflow, which is only defined for unsigned numbers.
    __device__ static int grown(int delta, int a, int b) {
        return int(uint32_t(delta) + uint32_t(a) * uint32_t(b));
    }
    __device__ static long long grown(long long delta, long long a, long long b) {
        return (long long)(uint64_t(delta) + uint64_t(a) * uint64_t(b));
    }

    __device__ Delta a(int i, int j) const { return a_[i * pitch_a_ + j]; }
    __device__ Delta b(int i, int j) const { return b_[i * pitch_b_ + j]; }
    __device__ int packs() const { return (n_ + PACK - 1) / PACK; }
    // Return the additional cost of the pairs with pack k of items, each at its own place, if item
    // i, at place p, is exchanged with j.
    __device__ Delta products(int i, int p, int j, int k) const {
        Delta raised = products(a_, b_, i, p, j, k);
        if constexpr (!QAP_SYMMETRIC) raised += products(a_across_, b_across_, i, p, j, k);
        return raised;
    }
    __device__ Delta products(const A* a, const B* b, int i, int p, int j, int k) const {
        return block::difference_products<Delta>(a + i * pitch_a_, a + j * pitch_a_,
                                                 b + j * pitch_b_, b + p * pitch_b_, k);
    }
    // The same for all items.
    __device__ Delta products(int i, int p, int j) const {
        Delta sum = 0;
        for (int k = 0; k < packs(); ++k) sum += products(i, p, j, k);
        return sum;
    }

    // The same for item k, if i is at its own place.
    __device__ Delta product(int i, int j, int k) const {
        Delta raised = (a(i, k) - a(j, k)) * (b(j, k) - b(i, k));
        if constexpr (!QAP_SYMMETRIC) raised += (a(k, i) - a(k, j)) * (b(k, j) - b(k, i));
        return raised;
    }

    // The same for the two items themselves.
    __device__ Delta between(int i, int j) const {
        Delta raised = (a(i, i) - a(j, j)) * (b(j, j) - b(i, i));
        if constexpr (!QAP_SYMMETRIC) raised += (a(i, j) - a(j, i)) * (b(j, i) - b(i, j));
        return raised;
    }

    // Return the increase of the linear terms if item i, at place p, is exchanged with j.
    __device__ Delta linear_of(int i, int p, int j) const {
        if constexpr (!HAS_LINEAR) return 0;
        return moved(i, order_[p], order_[j]) + moved(j, order_[j], order_[p]);
    }
    // Return the increase of the linear term of an item between two places.
    __device__ Delta moved(int i, int from, int to) const {
        return linear(data_, n_, i, to) - linear(data_, n_, i, from);
    }

    __device__ Delta raised(int i, int j) const {
        return products(i, i, j) + between(i, j) - product(i, j, i) - product(i, j, j) +
               linear_of(i, i, j);
    }

#ifndef __CUDACC__
    // Return the sums of all products(r, s, j, k), and of the linear terms, for consecutive items
    // from j.
    Numbers sums(int r, int s, int j) const {
        Numbers sum{};
        if constexpr (QAP_FITS_CACHE && sizeof(Delta) == sizeof(A)) {
            add_products(sum, a_ + r * pitch_a_, a_across_ + j, b_across_ + j, b_ + s * pitch_b_);
            if constexpr (!QAP_SYMMETRIC) {
                add_products(sum, a_across_ + r * pitch_a_, a_ + j, b_ + j,
                             b_across_ + s * pitch_b_);
            }
        } else {
            // Row by row, as 32-bit copies would not fit into the cache, and 64-bit products are
            // only fast for 32-bit factors.
            for (int k = 0; k < LANES && j + k < n_; ++k) sum[k] = products(r, s, j + k);
        }
        if constexpr (HAS_LINEAR) {
            for (int k = 0; k < LANES && j + k < n_; ++k) sum[k] += linear_of(r, s, j + k);
        }
        return sum;
    }
    void add_products(Numbers& sum, const A* a_r, const A* a_j, const B* b_j, const B* b_s) const {
        for (int k = 0; k < n_; ++k, a_j += pitch_a_, b_j += pitch_b_) {
            sum += (a_r[k] - lanes::load<Delta>(a_j)) * (lanes::load<Delta>(b_j) - b_s[k]);
        }
    }
#endif

    const int32_t* const order_;
    const int n_;
    const Data& data_;
    const block::Triangle triangle_;
    const int pitch_a_, pitch_b_;
    Delta* const delta_;
    A* const a_;
    B* const b_;
    A* const a_across_;  // the transposed matrices, if asymmetric
    B* const b_across_;
    Delta* gap_[GAPS];
#ifndef __CUDACC__
    Delta *with_r_, *with_s_;  // the deltas of each item with the exchanged ones
    Delta *a_diagonal_, *b_diagonal_;
#endif
};

}  // namespace problem
