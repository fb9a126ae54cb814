// A program: one encoding, one problem, one improver, one algorithm, put together by the compiler.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include ISLANDS_PROBLEM
#include ISLANDS_IMPROVER
#include ISLANDS_ALGORITHM
