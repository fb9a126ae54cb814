// What is done with populations whatever the problem and the algorithm: ranked, measured,
// exchanged.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "halo.cuh"
#include "lots.cuh"
#include "measure.cuh"
#include "migrate.cuh"
#include "rank.cuh"
