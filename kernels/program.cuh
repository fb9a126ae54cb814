// The main program of a run: includes one encoding, problem, improver and algorithm, selected by
// macros. No random numbers here; the included files draw.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include ISLANDS_PROBLEM
#include ISLANDS_IMPROVER
#include ISLANDS_ALGORITHM
#ifdef ISLANDS_NEIGHBOURS
#include "tours/find_neighbours.cuh"
#endif

// Python gives the sizes of its structs: if they differed, kernels would read invalid memory.
#ifdef ISLANDS_DATA_BYTES
static_assert(sizeof(problem::Data) == ISLANDS_DATA_BYTES,
              "problem::Data is not as long as the arrays() of the problem in Python say");
static_assert(sizeof(improver::Plan) == ISLANDS_IMPROVING_BYTES,
              "improver::Plan is not as long as what plan() of the improver in Python returns");
static_assert(sizeof(algorithm::Plan) == ISLANDS_PLAN_BYTES,
              "algorithm::Plan is not as long as what plan() of the algorithm in Python returns");
#endif
