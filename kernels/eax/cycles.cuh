// AB-cycles: closed walks that take edges of A and of B in turn, found by one warp. A walk takes
// random edges and leaves out each part that closes, as an AB-cycle (Nagata and Kobayashi 2013).
// Reads the graph of a pair and removes its edges; writes the cycles. Random streams: WALK.
#pragma once

#include "core/warp.cuh"
#include "eax/differences.cuh"

namespace eax {

constexpr int LONGEST_WALK = 2048;  // steps until a walk is given up

// Random bits of a pair of parents.
class Coins {
  public:
    __device__ explicit Coins(const draw::Place& place) : place_(place) {}

    __device__ bool toss() {
        if (left_ == 0) bits_ = word(), left_ = 32;
        const bool side = bits_ & 1;
        bits_ >>= 1, --left_;
        return side;
    }
    __device__ uint32_t word() {
        if (next_ == 4) words_ = place_.words(stream::WALK, number_++), next_ = 0;
        const uint32_t first = words_.x;
        words_ = {words_.y, words_.z, words_.w, 0};
        ++next_;
        return first;
    }

  private:
    const draw::Place place_;
    uint4 words_{};
    uint32_t bits_ = 0, number_ = 0;
    int left_ = 0, next_ = 4;
};

// The AB-cycles of a pair. Each is a list of positions, of which the first and second, third and
// fourth, ... are joined by edges of A, and the others, and the last and first, by those of B.
struct Cycles {
    Position* positions;
    int32_t* first;  // [count + 1]: of each cycle, its first position in the list
    int count;

    __device__ int edges(int cycle) const { return (first[cycle + 1] - first[cycle]) / 2; }
    __device__ const Position* of(int cycle) const { return positions + first[cycle]; }

    // Write the cycle of each edge of A, at its first position. One warp.
    __device__ void mark(uint16_t* owner, int n) const {
        for (int i = 0; i < count; ++i) {
            for (int k = first[i] + 2 * warp::lane(); k < first[i + 1]; k += 2 * warp::SIZE) {
                const int one = positions[k], other = positions[k + 1];
                owner[wrapped(one + 1, n) == other ? one : other] = uint16_t(i);
            }
        }
    }
};

template <class Number>
class Walks {
  public:
    // `path` has LONGEST_WALK numbers.
    __device__ Walks(Graph<Number>& graph, int32_t* path, Coins& coins)
        : graph_(graph), path_(path), coins_(coins) {}

    // Find at most `most` cycles of at most MOST_EDGES edges of A; longer ones are left out.
    __device__ void run(Cycles& found, int most) {
        if (warp::lane() == 0) found.first[0] = 0;
        starts_ = graph_.count;
        while (found.count < most) {
            // One lane walks until a part closes; all lanes store it.
            int closed = 0;
            if (warp::lane() == 0) closed = walk();
            warp::sync();
            closed = warp::first(closed);
            if (closed == NO_EDGES) return;
            const int length = warp::first(length_);
            if (closed >= 0) store(found, closed, length);
            // Forget what was seen since, and all of a walk that has ended.
            const int kept = closed > 0 ? closed + 1 : 0;
            for (int i = kept + warp::lane(); i <= length; i += warp::SIZE) {
                if (i < length || closed < 0) graph_.seen(i & 1, path_[i]) = Graph<Number>::NONE;
            }
            length_ = closed > 0 ? closed : ENDED;
            warp::sync();
        }
    }

  private:
    static constexpr int NO_EDGES = -2, GIVEN_UP = -1, ENDED = -1;

    // Walk on, or from a new start, until a part of the path closes. Return the step at which the
    // closed part begins, GIVEN_UP, or NO_EDGES if there is no start. One lane.
    __device__ int walk() {
        if (length_ == ENDED) {
            const int start = find_start();
            if (start < 0) return NO_EDGES;
            length_ = 0, path_[0] = here_ = start;
            graph_.seen(0, start) = 0;
        }
        while (length_ + 1 < LONGEST_WALK) {
            const int next = take_edge(here_, length_ & 1);
            if (next < 0) break;
            path_[++length_] = here_ = next;
            Number& seen = graph_.seen(length_ & 1, next);
            if (seen != Graph<Number>::NONE) return seen;
            seen = Number(length_);
        }
        return GIVEN_UP;
    }

    // Return a random vertex with edges of A, or -1 if there is none.
    __device__ int find_start() {
        while (starts_ > 0) {
            const int drawn = draw::below(coins_.word(), starts_);
            for (int i = drawn; i < starts_; ++i) {
                if (graph_.left[i] & 3) return i;
            }
            starts_ = drawn;  // none of the others has edges
        }
        return -1;
    }

    // Leave a vertex by a random edge of A (kind 0) or B (kind 1), and remove this edge. Return the
    // next vertex, or -1 if there is no edge, which only happens after a walk was given up.
    __device__ int take_edge(int vertex, int kind) {
        const uint32_t left = graph_.left[vertex], ends = left >> (2 * kind) & 3;
        if (ends == 0) return -1;
        const int end = ends == 3 ? coins_.toss() : ends == 2;
        int next = 0, other = 0;
        if (kind == 0) {
            next = end ? vertex - 1 : vertex + 1;
            if (next < 0) next = graph_.count - 1;
            if (next == graph_.count) next = 0;
            other = !end;
        } else {
            next = graph_.mate(end, vertex);
            other = 2 + !((graph_.left[next] & 4) && graph_.mate(0, next) == vertex);
        }
        graph_.left[vertex] = uint8_t(left & ~(1u << (2 * kind + end)));
        graph_.left[next] &= uint8_t(~(1u << other));
        return next;
    }

    // Store the part of the path that has closed, from an edge of A on.
    __device__ void store(Cycles& found, int begin, int end) {
        const int positions = end - begin;
        if (positions > 2 * MOST_EDGES) return;
        const int first = used_;
        for (int i = warp::lane(); i < positions; i += warp::SIZE) {
            found.positions[first + i] = Position(graph_.position[path_[begin + (begin & 1) + i]]);
        }
        used_ += positions;
        ++found.count;
        if (warp::lane() == 0) found.first[found.count] = used_;
    }

    Graph<Number>& graph_;
    int32_t* const path_;
    Coins& coins_;
    int starts_ = 0;                 // vertices from here on have no edges
    int length_ = ENDED, here_ = 0;  // the last step of the path, and its vertex
    int used_ = 0;                   // positions in the list of cycles
};

}  // namespace eax
