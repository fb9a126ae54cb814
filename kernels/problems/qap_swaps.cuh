// The delta of each exchange of two items, updated for an assignment that changes by exchanges
// (Taillard 1991). Reads the matrices and the assignment; writes its copies of the matrices and the
// deltas to block memory, and returns deltas. One matrix is kept in the order of the items' places,
// and asymmetric ones also transposed, so that rows are read contiguously. No random numbers.
#pragma once

#include "core/core.cuh"
#include "moves.cuh"

namespace problem {

class SwapDeltas {
  public:
    using Delta = QAP_DELTA;
    static constexpr bool EVALUATES = false;  // see improvers/swap_deltas.cuh
    using A = QAP_A;
    using B = QAP_B;

    __device__ static const int32_t* after(const Data& data) {
#if PROBLEM_CLASSES
        return data.after;
#else
        return nullptr;
#endif
    }

    // `kept` is memory for the deltas that outlasts this object, or null.
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
    }

    // The order is complete on entry; the deltas are visible after the next barrier. `are_kept`:
    // they are those of this order already.
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
        if (are_kept) return;
        for (int run = threadIdx.x; run < triangle_.runs(); run += blockDim.x) {
            const auto [i, first] = triangle_.place(run);
            for (int k = 0; k < block::RUN; ++k) {
                const int j = first + k;
                delta_[run * block::RUN + k] = triangle_.has(i, j) ? raised(i, j) : 0;
            }
        }
    }

    // Return the deltas of a run of pairs as they were stored last. Entries of no pair are
    // undefined.
    __device__ block::ReadRun<Delta> stored(int run) const {
        return reinterpret_cast<const block::Run<Delta>*>(delta_)[run];
    }

    // Update the deltas of a run of pairs for the announced exchange, and return them. Entries of
    // no pair are undefined.
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

    // Prepare for an exchange that raises the cost by `by`. Store deltas for the pairs that share
    // one or both items with it, so that advance() makes them right.
    __device__ void announce(moves::Swap swap, Delta by) {
        const int r = swap.u, s = swap.v;
        Delta gap_r[GAPS], gap_s[GAPS];
        find_gaps(gap_r, r, s, r);
        find_gaps(gap_s, r, s, s);
        block::sums<Delta>(
            n_, packs(), [&](int j, int k) { return products(r, s, j, k); },
            [&](int j, Delta sum) {
                Delta gap[GAPS];
                find_gaps(gap, r, s, j);
                for (int k = 0; k < GAPS; ++k) gap_[k][j] = gap[k];
                if (j == s) return;
                if (j == r) {
                    delta_[triangle_.at(r, s)] = -by - growth(gap_r, gap_s);
                    return;
                }
                // The exchange of equal items is no pair, and changes nothing.
                const bool has_r = !triangle_.are_equal(r, j), has_s = !triangle_.are_equal(s, j);
                const int at_r = triangle_.at(r, j), at_s = triangle_.at(s, j);
                const Delta of_r = has_r ? delta_[at_r] : Delta(0);
                const Delta of_s = has_s ? delta_[at_s] : Delta(0);
                sum += product(r, s, j, s, r) - product(r, s, j, s, s);
                sum += own(r, s, j) - product(r, s, j, r, r) - product(r, s, j, j, j);
                // The even permutations of three items together cost as much as the odd ones, up to
                // skew().
                const Delta both = of_r + of_s - by + skew(r, s, j);
                if (has_r) delta_[at_r] = sum - growth(gap_r, gap);
                if (has_s) delta_[at_s] = both - sum - growth(gap_s, gap);
            });
    }

    // No exchange was made, so nothing changes.
    __device__ void rest() {
        for (Delta* gap : gap_) {
            for (int i = threadIdx.x; i < n_ + block::RUN - 1; i += blockDim.x) gap[i] = 0;
        }
    }

    // Make the announced exchange.
    __device__ void follow(moves::Swap swap) {
        const int r = swap.u, s = swap.v;
        for (int j = block::from_last(); j < n_; j += blockDim.x) {
            if (j == s) continue;
            exchange_with(b_, r, s, j);
            if constexpr (!QAP_SYMMETRIC) exchange_with(b_across_, r, s, j);
        }
    }

  private:
    static constexpr int GAPS = QAP_SYMMETRIC ? 2 : 4;
    static constexpr int PACK = block::packed<A, B>();

    template <class T>
    __device__ static void exchange(T& x, T& y) {
        const T kept = x;
        x = y;
        y = kept;
    }

    // Exchange the entries of items r and s with item j, which is not s.
    __device__ void exchange_with(B* b, int r, int s, int j) const {
        if (j == r) {
            exchange(b[r * pitch_b_ + r], b[s * pitch_b_ + s]);
            exchange(b[r * pitch_b_ + s], b[s * pitch_b_ + r]);
        } else {
            exchange(b[r * pitch_b_ + j], b[s * pitch_b_ + j]);
            exchange(b[j * pitch_b_ + r], b[j * pitch_b_ + s]);
        }
    }

    // Entries of no pair may overflow the type, which is only defined for unsigned numbers.
    __device__ static int grown(int delta, int a, int b) {
        return int(uint32_t(delta) + uint32_t(a) * uint32_t(b));
    }
    __device__ static long long grown(long long delta, long long a, long long b) {
        return (long long)(uint64_t(delta) + uint64_t(a) * uint64_t(b));
    }

    // Return how much the exchange raises the delta of two other items, or would, if it moves one
    // of them.
    __device__ static Delta growth(const Delta* x, const Delta* y) {
        Delta sum = 0;
        for (int k = 0; k < GAPS; k += 2) sum += (x[k] - y[k]) * (x[k + 1] - y[k + 1]);
        return sum;
    }

    __device__ Delta a(int i, int j) const { return a_[i * pitch_a_ + j]; }
    __device__ Delta b(int i, int j) const { return b_[i * pitch_b_ + j]; }
    // Row i differs between threads. Symmetric matrices are read across instead: neighbouring
    // threads then read neighbouring entries.
    __device__ Delta across_a(int i, int j) const { return QAP_SYMMETRIC ? a(j, i) : a(i, j); }
    __device__ Delta across_b(int i, int j) const { return QAP_SYMMETRIC ? b(j, i) : b(i, j); }

    // Compute how the entries of item j with r and with s differ, and those of their places.
    __device__ void find_gaps(Delta* gap, int r, int s, int j) const {
        gap[0] = a(r, j) - a(s, j);
        gap[1] = b(r, j) - b(s, j);
        if constexpr (!QAP_SYMMETRIC) {
            gap[2] = Delta(a_across_[r * pitch_a_ + j]) - Delta(a_across_[s * pitch_a_ + j]);
            gap[3] = Delta(b_across_[r * pitch_b_ + j]) - Delta(b_across_[s * pitch_b_ + j]);
        }
    }

    // Return the extra cost of the pairs with item k, at place l, if item i, at place p, is
    // exchanged with j.
    __device__ Delta product(int i, int p, int j, int k, int l) const {
        Delta raised = (a(i, k) - across_a(j, k)) * (across_b(j, l) - b(p, l));
        if constexpr (!QAP_SYMMETRIC) raised += (a(k, i) - a(k, j)) * (b(l, j) - b(l, p));
        return raised;
    }

    // The same for pack k of items, each at its own place.
    __device__ int packs() const { return (n_ + PACK - 1) / PACK; }
    __device__ Delta products(int i, int p, int j, int k) const {
        Delta raised = products(a_, b_, i, p, j, k);
        if constexpr (!QAP_SYMMETRIC) raised += products(a_across_, b_across_, i, p, j, k);
        return raised;
    }
    __device__ Delta products(const A* a, const B* b, int i, int p, int j, int k) const {
        return block::difference_products<Delta>(a + i * pitch_a_, a + j * pitch_a_,
                                                 b + j * pitch_b_, b + p * pitch_b_, k);
    }

    // The same for the two items themselves.
    __device__ Delta own(int i, int p, int j) const {
        Delta raised = (a(i, i) - a(j, j)) * (b(j, j) - b(p, p));
        if constexpr (!QAP_SYMMETRIC) raised += (a(i, j) - a(j, i)) * (b(j, p) - b(p, j));
        if constexpr (HAS_LINEAR)
            raised += moved(i, order_[p], order_[j]) + moved(j, order_[j], order_[p]);
        return raised;
    }

    // Return how much the linear term of an item rises between two places.
    __device__ Delta moved(int i, int from, int to) const {
        return linear(data_, n_, i, to) - linear(data_, n_, i, from);
    }

    __device__ Delta raised(int i, int j) const {
        Delta sum = own(i, i, j) - product(i, i, j, i, i) - product(i, i, j, j, j);
        for (int k = 0; k < packs(); ++k) sum += products(i, i, j, k);
        return sum;
    }

    // Return how much more the even permutations of three items cost than the odd ones.
    __device__ Delta skew(int r, int s, int j) const {
        if constexpr (QAP_SYMMETRIC) return 0;
        return (a(r, s) + a(s, j) + a(j, r) - a(s, r) - a(j, s) - a(r, j)) *
               (b(r, s) + b(s, j) + b(j, r) - b(s, r) - b(j, s) - b(r, j));
    }

    const int32_t* const order_;
    const int n_;
    const Data& data_;
    const block::Triangle triangle_;
    const int pitch_a_, pitch_b_;
    Delta* const delta_;
    A* const a_;
    B* const b_;
    A* const a_across_;  // the transposed matrices, if they are asymmetric
    B* const b_across_;
    Delta* gap_[GAPS];
};

}  // namespace problem
