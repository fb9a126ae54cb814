// The second program of a run, which depends on the encoding, the format of costs and whether
// genomes are tours: the kernels that rank, measure and exchange individuals. No random numbers
// here; selection.cuh draws.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "halo.cuh"
#include "measure.cuh"
#include "migrate.cuh"
#include "rank.cuh"
#include "runs.cuh"
#include "selection.cuh"
