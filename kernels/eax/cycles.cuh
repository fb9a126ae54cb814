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
    __device__ Walks(const Graph<Number>& graph, int32_t* path, Coins& coins)
        : graph_(graph), path_(path), coins_(coins), starts_(graph.count) {}

    // Find at most `most` cycles of at most MOST_EDGES edges of A; longer ones are left out.
    __device__ void run(Cycles& found, int most) {
        if (warp::lane() == 0) found.first[0] = 0;
        while (found.count < most && (length_ != ENDED || start())) {
            // One lane walks until a part closes; all lanes store it.
            int is_closed = 0;
            if (warp::lane() == 0) is_closed = walk();
            warp::sync();
            is_closed = warp::first(is_closed), length_ = warp::first(length_);
            const int begin = is_closed ? last_visit() : 0;
            if (is_closed) store(found, begin, length_);
            warp::sync();
            forget(begin > 0 ? begin + 1 : 0, is_closed ? length_ : length_ + 1);
            length_ = begin > 0 ? begin : ENDED;
        }
    }

  private:
    static constexpr int ENDED = -1;

    // Begin at a random vertex with edges of A; return whether there is one.
    __device__ bool start() {
        while (starts_ > 0) {
            const int drawn = warp::first(warp::lane() ? 0 : draw::below(coins_.word(), starts_));
            for (int i = drawn; i < starts_; i += warp::SIZE) {
                const int mine = i + warp::lane();
                const int lane = warp::find(mine < starts_ && (graph_.bits[mine] & 3));
                if (lane < 0) continue;
                if (warp::lane() == 0) {
                    path_[0] = i + lane;
                    graph_.bits[i + lane] |= Graph<Number>::SEEN;
                }
                length_ = 0;
                return true;
            }
            starts_ = drawn;  // none of the others has edges
        }
        return false;
    }

    // Walk on by random edges of A and B in turn, which are removed; return whether the walk has
    // come to a vertex again after an even number of steps. Otherwise it is given up, also if it
    // comes to a vertex whose edges were those of a walk that was given up. One lane.
    __device__ bool walk() {
        int here = path_[length_];
        uint32_t bits = graph_.bits[here];
        Mates<Number> mates = graph_.mates[here];
        while (length_ + 1 < LONGEST_WALK) {
            const int kind = 2 * (length_ & 1);  // 0: an edge of A, 2: of B
            const uint32_t ends = bits >> kind & 3;
            if (ends == 0) return false;
            const int end = ends == 3 ? coins_.toss() : ends == 2;
            const int next = kind ? mates.at[end] : graph_.beside(here, end);
            uint32_t others = graph_.bits[next];
            const Mates<Number> after = graph_.mates[next];
            const int back = kind ? !(others & 4 && after.at[0] == here) : !end;
            graph_.bits[here] = uint8_t(bits & ~(1u << (kind + end)));
            path_[++length_] = next;
            const uint32_t seen = uint32_t(Graph<Number>::SEEN) << (length_ & 1);
            const bool is_closed = others & seen;
            others = (others & ~(1u << (kind + back))) | seen;
            graph_.bits[next] = uint8_t(others);
            if (is_closed) return true;
            here = next, bits = others, mates = after;
        }
        return false;
    }

    // Return the step at which the walk came to its last vertex before, after an even number of
    // steps.
    __device__ int last_visit() const {
        const int vertex = path_[length_];
        for (int i = length_ - 2;; i -= 2 * warp::SIZE) {
            const int mine = i - 2 * warp::lane();
            const int lane = warp::find(mine >= 0 && path_[mine] == vertex);
            if (lane >= 0) return i - 2 * lane;
        }
    }

    // Forget that the walk has come to the vertices of steps. A vertex may be one of an even and of
    // an odd step, so that these take turns.
    __device__ void forget(int begin, int end) {
        for (int parity = 0; parity < 2; ++parity) {
            const uint32_t seen = uint32_t(Graph<Number>::SEEN) << parity;
            const int first = begin + ((begin ^ parity) & 1);
            for (int i = first + 2 * warp::lane(); i < end; i += 2 * warp::SIZE) {
                graph_.bits[path_[i]] &= uint8_t(~seen);
            }
            warp::sync();
        }
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

    const Graph<Number> graph_;
    int32_t* const path_;
    Coins& coins_;
    int starts_;          // vertices from here on have no edges
    int length_ = ENDED;  // the last step of the path
    int used_ = 0;        // positions in the list of cycles
};

}  // namespace eax
