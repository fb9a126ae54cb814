// The second program of a run, independent of problem and algorithm: includes the kernels that
// rank, measure and exchange individuals. No random numbers here; lots.cuh draws.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "halo.cuh"
#include "lots.cuh"
#include "measure.cuh"
#include "migrate.cuh"
#include "rank.cuh"
