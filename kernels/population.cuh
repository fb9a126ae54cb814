// The second program of a run, independent of problem and algorithm: includes the kernels that
// rank, measure and exchange individuals. No random numbers here; selection.cuh draws.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "halo.cuh"
#include "measure.cuh"
#include "migrate.cuh"
#include "rank.cuh"
#include "selection.cuh"
