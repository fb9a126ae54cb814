// The effect of an exchange of items r and s on a third item j: the deltas of its exchanges with
// both (Taillard 1991). Reads rows of both matrices, one of them in the order of the items' places,
// and of the transposed ones. On a CPU, numbers may be vectors for several items. No random
// numbers.
#pragma once

#include "core/core.cuh"
#ifndef __CUDACC__
#include "core/lanes.hpp"
#endif

namespace problem {

// Rows r and s of a matrix and of its transpose, which are the same if it is symmetric.
template <class T>
struct RowsOfTwo {
    using Delta = QAP_DELTA;

    const T *r, *s, *across_r, *across_s;
    Delta rr, rs, sr, ss;  // their entries for the two items

    __device__ RowsOfTwo(const T* matrix, const T* across, int pitch, int r, int s)
        : r(matrix + r * pitch),
          s(matrix + s * pitch),
          across_r(across + r * pitch),
          across_s(across + s * pitch),
          rr(this->r[r]),
          rs(this->r[s]),
          sr(this->s[r]),
          ss(this->s[s]) {}
};

// Reads the entry of item j in a row. (NVRTC rejects generic lambdas.)
struct EntryOf {
    int j;

    template <class T>
    __device__ QAP_DELTA operator()(const T* row) const {
        return row[j];
    }
};

// The entries of item j, or of several items, in these rows.
template <class Number>
struct EntriesOfTwo {
    Number rj, sj, jr, js, jj;

    template <class T, class Read>
    __device__ EntriesOfTwo(const RowsOfTwo<T>& rows, const Number& jj, Read read)
        : rj(read(rows.r)), sj(read(rows.s)), jr(rj), js(sj), jj(jj) {
        if constexpr (!QAP_SYMMETRIC) jr = read(rows.across_r), js = read(rows.across_s);
    }

    // The difference between the entries of the cycle r, s, j and those of the opposite direction.
    template <class T>
    __device__ Number skew(const RowsOfTwo<T>& rows) const {
        return (rows.rs - rows.sr) + (sj - js) + (jr - rj);
    }
};

// The differences between the entries of an item with r and with s, in each matrix.
template <class Number>
struct Gaps {
    static constexpr int COUNT = QAP_SYMMETRIC ? 2 : 4;

    Number item[COUNT];

    __device__ Gaps(const EntriesOfTwo<Number>& a, const EntriesOfTwo<Number>& b) {
        item[0] = a.rj - a.sj, item[1] = b.rj - b.sj;
        if constexpr (!QAP_SYMMETRIC) item[2] = a.jr - a.js, item[3] = b.jr - b.js;
    }

    // Return how much the exchange increases the delta of two other items. Deltas of r and s change
    // differently, but this number is also added to them later: see renewed().
    template <class Other>
    __device__ Number growth(const Gaps<Other>& other) const {
        Number sum = (item[0] - other.item[0]) * (item[1] - other.item[1]);
        if constexpr (!QAP_SYMMETRIC) {
            sum += (item[2] - other.item[2]) * (item[3] - other.item[3]);
        }
        return sum;
    }
};

template <class A, class B>
class PairExchange {
  public:
    using Delta = QAP_DELTA;

    template <class Number>
    struct Both {
        Number with_r, with_s;
    };

    // `by` is the cost increase by the exchange.
    __device__ PairExchange(const RowsOfTwo<A>& a, const RowsOfTwo<B>& b, int r, int s, Delta by)
        : a_(a), b_(b), by_(by), gaps_r_(gaps_of(r)), gaps_s_(gaps_of(s)) {}

    // Return the delta of the reverse exchange.
    __device__ Delta back() const { return -by_ - gaps_r_.growth(gaps_s_); }

    // Return the deltas of item j with r and with s. `before` are those before the exchange; `sum`
    // is the sum over all items of the products for the exchange of r, now at the place of s, with
    // j, and of the linear terms. The growth of these pairs is subtracted, as it is added to all
    // pairs later.
    template <class Number>
    __device__ Both<Number> renewed(const EntriesOfTwo<Number>& a, const EntriesOfTwo<Number>& b,
                                    const Gaps<Number>& gaps, Number sum,
                                    const Both<Number>& before) const {
        sum += correction(a, b);
        // The sum of costs over the even permutations of three items equals that over the odd ones,
        // up to the skew.
        Number both = before.with_r + before.with_s - by_;
        if constexpr (!QAP_SYMMETRIC) both += a.skew(a_) * b.skew(b_);
        return {sum - gaps.growth(gaps_r_), both - sum - gaps.growth(gaps_s_)};
    }

    template <class Number, class Read>
    __device__ EntriesOfTwo<Number> entries_a(const Number& jj, Read read) const {
        return {a_, jj, read};
    }
    template <class Number, class Read>
    __device__ EntriesOfTwo<Number> entries_b(const Number& jj, Read read) const {
        return {b_, jj, read};
    }

  private:
    __device__ Gaps<Delta> gaps_of(int i) const {
        return {entries_a(Delta(0), EntryOf{i}), entries_b(Delta(0), EntryOf{i})};
    }

    // Return the terms that replace the products with r, s and j in the sum over all items.
    template <class Number>
    __device__ Number correction(const EntriesOfTwo<Number>& a,
                                 const EntriesOfTwo<Number>& b) const {
        // Item s is now at the former place of r.
        Number sum = (a_.rs - a.js) * ((b.jr - b_.sr) - (b.js - b_.ss));
        sum -= (a_.rr - a.jr) * (b.jr - b_.sr) + (a.rj - a.jj) * (b.jj - b.sj);
        sum += (a_.rr - a.jj) * (b.jj - b_.ss);
        if constexpr (!QAP_SYMMETRIC) {
            sum += (a_.sr - a.sj) * ((b.rj - b_.rs) - (b.sj - b_.ss));
            sum -= (a_.rr - a.rj) * (b.rj - b_.rs) + (a.jr - a.jj) * (b.jj - b.js);
            sum += (a.rj - a.jr) * (b.js - b.sj);
        }
        return sum;
    }

    const RowsOfTwo<A> a_;
    const RowsOfTwo<B> b_;
    const Delta by_;
    const Gaps<Delta> gaps_r_, gaps_s_;
};

}  // namespace problem
