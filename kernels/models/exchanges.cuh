// Exchanges of items of a subset of data.size items, shared by the states of several models. Reads
// and writes the lists of chosen and other items; data.price is the price of a surplus or missing
// item. No random numbers: the caller passes them.

constexpr int NONE = -1;

// Drops an item, chooses another one, or both.
struct Step {
    int out, in;
};

// The items of a subset, chosen ones first.
struct Choice {
    int *item, *place;
    int chosen;
    __device__ Choice(Memory& memory, int n)
        : item(memory.take<int>(n)), place(memory.take<int>(n)), chosen(0) {}

    __device__ void fill(const Solution& s, int n) {
        int end = n;
        chosen = 0;
        for (int i = 0; i < n; ++i) {
            const int at = s[i] ? chosen++ : --end;
            item[at] = i, place[i] = at;
        }
    }

    // Draw an exchange, or a single change if the number of items is wrong.
    __device__ bool draw(int n, const Data& data, Random& random, Step& step) const {
        step.out = chosen >= data.size && chosen > 0 ? item[random.below(chosen)] : NONE;
        step.in = NONE;
        if (chosen <= data.size && chosen < n) step.in = item[chosen + random.below(n - chosen)];
        return (step.out != NONE && step.in != NONE) || chosen != data.size;
    }

    // Return how much a step lowers the price of surplus or missing items.
    __device__ auto price(const Data& data, const Step& step) const {
        const auto missing = [&](long long count) {
            return count < data.size ? data.size - count : count - data.size;
        };
        const int after = chosen + (step.in != NONE) - (step.out != NONE);
        return data.price * (missing(chosen) - missing(after));
    }

    __device__ void move(int i, int to) {
        const int from = place[i], other = item[to];
        item[from] = other, place[other] = from;
        item[to] = i, place[i] = to;
    }

    template <class Entries>
    __device__ void make(Entries& s, const Step& step) {
        if (step.out != NONE) move(step.out, --chosen), s.set(step.out, 0);
        if (step.in != NONE) move(step.in, chosen++), s.set(step.in, 1);
    }
};
