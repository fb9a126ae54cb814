// A search for coverings by row weights. Reads the subset, the costs of columns, the columns of
// rows and the rows of columns; keeps weights, scores and uncovered rows. No random numbers: the
// caller passes them.

constexpr int NONE = -1;
constexpr int LOOKS = 128, TENURE = 2;  // columns to try; tabu tenure of dropped columns

// A search by row weights, which grow while rows are uncovered (Gao, Weise and Li 2015): drop the
// column with the smallest loss, then choose the column of an uncovered row with the largest gain,
// at a cost below `bound`.
struct State {
    int *count, *owner;         // per row: number of chosen columns, and the xor of their numbers
    int *chosen, *place;        // the chosen columns, and the place of each column among them
    int *open, *open_at;        // the uncovered rows, and the place of each row
    int* changed;               // the step that last chose or dropped a column
    long long *weight, *score;  // per row; per column: weight of rows that it alone covers or would
    long long cost, bound;      // of the chosen columns; of the cheapest cover of this generation
    int chosen_count, open_count, step;
    __device__ State(Memory& memory, int n, const Data& data)
        : count(memory.take<int>(data.rows)),
          owner(memory.take<int>(data.rows)),
          chosen(memory.take<int>(n)),
          place(memory.take<int>(n)),
          open(memory.take<int>(data.rows)),
          open_at(memory.take<int>(data.rows)),
          changed(memory.take<int>(n)),
          weight(memory.take<long long>(data.rows)),
          score(memory.take<long long>(n)),
          cost(0),
          bound(1ll << 62),
          chosen_count(0),
          open_count(0),
          step(0) {}
};

struct Step {
    int column;  // the one to drop if it is chosen, else to choose
};

__device__ void open_row(State& state, int row) {
    state.open_at[row] = state.open_count, state.open[state.open_count++] = row;
}
__device__ void close_row(State& state, int row) {
    const int at = state.open_at[row], last = state.open[--state.open_count];
    state.open[at] = last, state.open_at[last] = at;
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int r = threadIdx.x; r < data.rows; r += blockDim.x) {
        int count = 0, owner = 0;
        for (long long k = data.row_first[r]; k < data.row_first[r + 1]; ++k) {
            const int j = data.column[k];
            if (s[j]) ++count, owner ^= j;
        }
        state.count[r] = count, state.owner[r] = owner, state.weight[r] = 1;
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        int alone = 0;
        for (long long k = data.first[j]; k < data.first[j + 1]; ++k) {
            alone += state.count[data.row[k]] == int(s[j] != 0);
        }
        state.score[j] = alone, state.changed[j] = -LOOKS;
    }
    if (threadIdx.x != 0) return;
    for (int j = 0; j < n; ++j) {
        if (!s[j]) continue;
        state.place[j] = state.chosen_count, state.chosen[state.chosen_count++] = j;
        state.cost += data.cost[j];
    }
    for (int r = 0; r < data.rows; ++r) {
        if (state.count[r] == 0) open_row(state, r);
    }
    if (state.open_count == 0) state.bound = state.cost;
}

// Compare the gains of two columns relative to their costs: -1 if a gains less, 1 if it gains more.
__device__ int compare(const State& state, const Data& data, int a, int b) {
    const double of_a = double(state.score[a]) * double(data.cost[b]);
    const double of_b = double(state.score[b]) * double(data.cost[a]);
    return int(of_a > of_b) - int(of_a < of_b);
}

// Return whether to choose (is_better) or drop (is_worse) a rather than b; the last tie-breaker is
// the time without a change.
__device__ bool is_better(const State& state, const Data& data, int a, int b) {
    const int more = compare(state, data, a, b);
    return more != 0 ? more > 0 : state.changed[a] < state.changed[b];
}
__device__ bool is_worse(const State& state, const Data& data, int a, int b) {
    const int more = compare(state, data, a, b);
    if (more != 0) return more < 0;
    if (data.cost[a] != data.cost[b]) return data.cost[a] > data.cost[b];
    return state.changed[a] < state.changed[b];
}

__device__ bool propose(const State& state, const Solution& s, int, const Data& data,
                        Random& random, Step& step) {
    step.column = NONE;
    if (state.open_count > 0) {
        const int row = state.open[random.below(state.open_count)];
        const long long first = data.row_first[row];
        const int count = int(data.row_first[row + 1] - first);
        const int looks = min(count, LOOKS), begin = random.below(count);
        for (int i = 0; i < looks; ++i) {
            const int at = begin + i, j = data.column[first + (at < count ? at : at - count)];
            if (state.cost + data.cost[j] >= state.bound) continue;
            if (state.step - state.changed[j] <= TENURE || !may_choose(s, data, j)) continue;
            if (step.column == NONE || is_better(state, data, j, step.column)) step.column = j;
        }
        if (step.column != NONE) return true;
    }
    if (state.chosen_count == 0) return false;
    const int count = state.chosen_count, looks = min(count, LOOKS), begin = random.below(count);
    for (int i = 0; i < looks; ++i) {
        const int at = begin + i, j = state.chosen[at < count ? at : at - count];
        if (state.step - state.changed[j] <= 1 && looks > 1) continue;
        if (step.column == NONE || is_worse(state, data, j, step.column)) step.column = j;
    }
    return step.column != NONE;
}

// Return 0, so that each step is accepted: the weights decide instead of the cost.
__device__ long long change(const State&, const Solution&, int, const Data&, Step) { return 0; }

// Change the scores of the columns of a row, except one.
__device__ void add(State& state, const Data& data, int row, int except, long long by) {
    for (long long k = data.row_first[row] + threadIdx.x; k < data.row_first[row + 1];
         k += blockDim.x) {
        if (data.column[k] != except) state.score[data.column[k]] += by;
    }
    __syncthreads();
}

// Add a column to its rows, or remove it. Return the change in the total price of uncovered rows.
__device__ long long follow(State& state, const Data& data, int column, int by) {
    long long prices = 0;
    for (long long i = data.first[column]; i < data.first[column + 1]; ++i) {
        const int row = data.row[i], count = state.count[row] += by;
        state.owner[row] ^= column;
        if (count == 0) open_row(state, row), prices += data.price[row];
        if (by > 0 && count == 1) close_row(state, row), prices -= data.price[row];
        const int other = by > 0 ? state.owner[row] ^ column : state.owner[row];
        if (by < 0 && count == 1) state.score[other] += state.weight[row];
        if (by > 0 && count == 2) state.score[other] -= state.weight[row];
    }
    return prices;
}

__device__ long long apply(State& state, Changing& s, int, const Data& data, Step step) {
    const int column = step.column, by = s[column] ? -1 : 1;
    __syncthreads();  // all threads have read
    long long change = 0;
    if (threadIdx.x == 0) {
        change = by * data.cost[column];
        state.cost += change;
        change += follow(state, data, column, by);
        state.changed[column] = state.step++;
        if (by < 0) {
            const int at = state.place[column], last = state.chosen[--state.chosen_count];
            state.chosen[at] = last, state.place[last] = at;
        } else {
            state.place[column] = state.chosen_count, state.chosen[state.chosen_count++] = column;
        }
        if (state.open_count == 0) state.bound = min(state.bound, state.cost);
        s.set(column, by > 0);
    }
    __syncthreads();
    // Update the scores of columns that cover a newly covered or uncovered row.
    for (long long i = data.first[column]; i < data.first[column + 1]; ++i) {
        const int row = data.row[i];
        if (state.count[row] == (by > 0)) add(state, data, row, column, -by * state.weight[row]);
    }
    for (int i = 0; by > 0 && i < state.open_count; ++i) {
        const int row = state.open[i];
        add(state, data, row, NONE, 1);
        if (threadIdx.x == 0) ++state.weight[row];
    }
    return change;
}
