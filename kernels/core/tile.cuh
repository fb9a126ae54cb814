// Square tiles of the pairs i < j of n items, one per thread. Tiles on the diagonal and in the last
// column have places without a pair; they belong to the first threads, so that few warps handle
// them. Returns numbers of tiles and items; accesses no memory. No random numbers.
#pragma once

#include "core/compiler.cuh"

namespace block {

template <int EDGE>
struct Tile {
    static constexpr int SIDE = EDGE, PAIRS = EDGE * EDGE;

    int i = -1, j = -1;  // of the first pair, or -1

    // Return the number of tiles, and the number of items covered by a row of tiles.
    __device__ static int count(int n) {
        const int across = (n + SIDE - 1) / SIDE;
        return across * (across + 1) / 2;
    }
    __device__ static int padded(int n) { return (n + SIDE - 1) / SIDE * SIDE; }

    // Return the tile of a thread.
    __device__ static Tile of(int number, int n) {
        const int across = (n + SIDE - 1) / SIDE, inner = across - 2;
        if (number < across) return {number * SIDE, number * SIDE};
        if (number < 2 * across - 1) return {(number - across) * SIDE, (across - 1) * SIDE};
        int row = 0, left = number - (2 * across - 1);
        while (row < inner && left >= inner - row) left -= inner - row++;
        return row < inner ? Tile{row * SIDE, (row + 1 + left) * SIDE} : Tile{};
    }

    // Return the number of the tile of a pair.
    __device__ static int number(int first, int second, int n) {
        const int across = (n + SIDE - 1) / SIDE, inner = across - 2;
        const int row = first / SIDE, column = second / SIDE;
        if (row == column) return row;
        if (column == across - 1) return across + row;
        return 2 * across - 1 + row * inner - row * (row - 1) / 2 + column - row - 1;
    }

    __device__ bool exists() const { return i >= 0; }
    __device__ bool is_whole(int n) const { return i < j && j + SIDE <= n; }
    __device__ bool has(int first, int second, int n) const {
        return exists() && first < second && second < n;
    }

    // Call visit(c, i, j) for each pair, where c is its number in the tile.
    template <class Visit>
    __device__ void each(Visit visit) const {
#pragma unroll
        for (int c = 0; c < PAIRS; ++c) visit(c, i + c / SIDE, j + c % SIDE);
    }

    // Set the value of each pair that contains an item to value(the other item).
    template <class T, class Value>
    __device__ void set(T (&values)[PAIRS], int item, Value value) const {
        const int row = item - i, column = item - j;
        T fresh[SIDE];
        if (uint32_t(row) < SIDE) {
#pragma unroll
            for (int k = 0; k < SIDE; ++k) fresh[k] = value(j + k);
#pragma unroll
            for (int c = 0; c < PAIRS; ++c) {
                values[c] = row == c / SIDE ? fresh[c % SIDE] : values[c];
            }
        }
        if (uint32_t(column) < SIDE) {
#pragma unroll
            for (int k = 0; k < SIDE; ++k) fresh[k] = value(i + k);
#pragma unroll
            for (int c = 0; c < PAIRS; ++c) {
                values[c] = column == c % SIDE ? fresh[c / SIDE] : values[c];
            }
        }
    }
};

}  // namespace block
