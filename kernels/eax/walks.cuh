// A random walk along alternating edges of A and B by one warp. Each closed part is an AB-cycle and
// is removed from the walk (Nagata and Kobayashi 2013). Reads the graph of a pair and removes its
// edges; writes the cycles. Random streams: WALK.
#pragma once

#include "core/warp.cuh"
#include "eax/differences.cuh"

namespace eax {

constexpr int LONGEST_WALK = 512;  // steps until a walk is abandoned
static_assert(LONGEST_WALK <= 2 * MOST_EDGES, "an E-set has room for any AB-cycle");

// Random bits for one of the walks of a pair of parents.
class Coins {
  public:
    __device__ Coins(const draw::Place& place, int number)
        : place_(place), number_(uint32_t(number) << 20) {}

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
    uint32_t bits_ = 0, number_;
    int left_ = 0, next_ = 4;
};

// The cycles found by a walk: their positions, and the start and number of edges of A of each.
struct Found {
    Position* positions;
    int room;  // capacity for positions
    int32_t *begin, *edges;
};

template <class Number>
class Walker {
  public:
    // `path` has LONGEST_WALK entries.
    __device__ Walker(const Graph<Number>& graph, Number* path, Coins& coins)
        : graph_(graph), path_(path), coins_(coins), starts_(graph.count) {}

    // Find at most `most` cycles, and return their number; those that do not fit are omitted. Start
    // no cycle after `most_steps`.
    __device__ int run(const Found& found, int most, int most_steps) {
        for (int steps = 0; count_ < most && steps < most_steps && (length_ != ENDED || start());) {
            const int before = length_;
            // One lane walks until a part closes; all lanes store it.
            int is_closed = 0;
            if (warp::lane() == 0) is_closed = walk();
            warp::sync();
            is_closed = warp::first(is_closed), length_ = warp::first(length_);
            steps += length_ - before;
            const int begin = is_closed ? last_visit() : 0;
            if (is_closed) store(found, begin, length_);
            warp::sync();
            forget(begin > 0 ? begin + 1 : 0, is_closed ? length_ : length_ + 1);
            length_ = begin > 0 ? begin : ENDED;
        }
        return count_;
    }

  private:
    static constexpr int ENDED = -1;

    // Start at a random vertex with edges of A; return whether there is one.
    __device__ bool start() {
        while (starts_ > 0) {
            const int drawn = warp::first(warp::lane() ? 0 : draw::below(coins_.word(), starts_));
            for (int i = drawn; i < starts_; i += warp::SIZE) {
                const int mine = i + warp::lane();
                const int lane = warp::find(mine < starts_ && (graph_.bits[mine] & 3));
                if (lane < 0) continue;
                if (warp::lane() == 0) {
                    path_[0] = Number(i + lane);
                    graph_.bits[i + lane] |= Graph<Number>::SEEN;
                }
                length_ = 0;
                return true;
            }
            starts_ = drawn;  // no vertex from there on has edges
        }
        return false;
    }

    enum Edges { OF_A = 0, OF_B = 2 };  // by their first bit

    // A vertex of the walk, with its flags when the walk reached it, and its neighbours.
    struct Visit {
        int vertex;
        uint32_t bits;
        Adjacent<Number> adjacent;
    };

    __device__ Visit visit(int vertex) const {
        return {vertex, graph_.bits[vertex], graph_.adjacent[vertex]};
    }

    // Continue along random alternating edges of A and B, removing them; return whether the walk
    // has returned to a vertex after an even number of steps. Otherwise it is abandoned: it is too
    // long, or an abandoned walk has removed the edges of the vertex. Called by one lane.
    __device__ bool walk() {
        Visit here = visit(path_[length_]);
        bool is_closed = false;
        if (length_ % 2 && !step<OF_B>(here, is_closed)) return is_closed;
        while (length_ + 2 < LONGEST_WALK && step<OF_A>(here, is_closed) &&
               step<OF_B>(here, is_closed)) {}
        return is_closed;
    }

    // Take one step; return whether the walk can continue.
    template <Edges KIND>
    __device__ bool step(Visit& here, bool& is_closed) {
        const uint32_t ends = here.bits >> KIND & 3;
        if (ends == 0) return false;
        const int end = ends == 3 ? coins_.toss() : ends >> 1;
        Visit next =
            visit(KIND == OF_A ? graph_.neighbour(here.vertex, end) : here.adjacent.at(end));
        const bool is_first = next.bits & 4 && next.adjacent.at(0) == here.vertex;
        const int back = KIND == OF_A ? !end : !is_first;
        graph_.bits[here.vertex] = uint8_t(here.bits & ~(1u << (KIND + end)));
        path_[++length_] = Number(next.vertex);
        constexpr uint32_t SEEN = Graph<Number>::SEEN << (KIND == OF_A);
        is_closed = next.bits & SEEN;
        next.bits = (next.bits & ~(1u << (KIND + back))) | SEEN;
        graph_.bits[next.vertex] = uint8_t(next.bits);
        here = next;
        return !is_closed;
    }

    // Return the step of the previous visit to the last vertex, an even number of steps earlier.
    __device__ int last_visit() const {
        const int vertex = path_[length_];
        for (int i = length_ - 2;; i -= 2 * warp::SIZE) {
            const int mine = i - 2 * warp::lane();
            const int lane = warp::find(mine >= 0 && path_[mine] == vertex);
            if (lane >= 0) return i - 2 * lane;
        }
    }

    // Mark the vertices of these steps as unvisited. Clear even and odd steps separately, as a
    // vertex may have been visited at both.
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

    // Store the closed part of the path, starting with an edge of A.
    __device__ void store(const Found& found, int begin, int end) {
        const int positions = end - begin;
        if (used_ + positions > found.room) return;
        for (int i = warp::lane(); i < positions; i += warp::SIZE) {
            const int vertex = path_[begin + (begin & 1) + i];
            found.positions[used_ + i] = Position(graph_.position[vertex]);
        }
        if (warp::lane() == 0) found.begin[count_] = used_, found.edges[count_] = positions / 2;
        used_ += positions, ++count_;
    }

    const Graph<Number> graph_;
    Number* const path_;
    Coins& coins_;
    int starts_;          // vertices from here on have no edges
    int length_ = ENDED;  // the last step of the path
    int count_ = 0;       // cycles
    int used_ = 0;        // positions in their list
};

}  // namespace eax
