// The main program of a run: one encoding, problem, improver and algorithm, selected by macros. No
// random numbers here; the included files draw.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include ISLANDS_PROBLEM
#include ISLANDS_IMPROVER
#include ISLANDS_ALGORITHM
#ifdef ISLANDS_NEIGHBOURS
#include "tours/find_neighbours.cuh"
#endif
