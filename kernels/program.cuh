// A program: one encoding, one problem, one improver, one algorithm, put together by the compiler.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include ISLANDS_PROBLEM
#include ISLANDS_IMPROVER
#include ISLANDS_ALGORITHM

// Python says how long what it gives is: of others, kernels would read what is not there.
#ifdef ISLANDS_DATA_BYTES
static_assert(sizeof(problem::Data) == ISLANDS_DATA_BYTES,
              "problem::Data is not as long as the arrays() of the problem in Python say");
static_assert(sizeof(improver::Plan) == ISLANDS_IMPROVING_BYTES,
              "improver::Plan is not as long as what plan() of the improver in Python returns");
static_assert(sizeof(algorithm::Plan) == ISLANDS_PLAN_BYTES,
              "algorithm::Plan is not as long as what plan() of the algorithm in Python returns");
#endif
