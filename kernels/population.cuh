// The second program of a run, independent of problem and algorithm: ranks, measures and exchanges
// individuals.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "halo.cuh"
#include "lots.cuh"
#include "measure.cuh"
#include "migrate.cuh"
#include "rank.cuh"
