// The generation loop, common to all algorithms: for each slot of each island, create children,
// evaluate and improve them, and select the survivor. Reads generation g, writes g + 1. Random
// numbers are counter-based, so both variants are bit-identical: one launch or, with
// ISLANDS_OUTSIDE, two launches with the evaluation by the host between them. With ISLANDS_ROOM,
// only the required scratch memory is computed.
// Random streams: those of the included files.
#pragma once

#ifndef ISLANDS_ROOM
#ifdef ISLANDS_OUTSIDE
#include "generation/outside.cuh"
#else
#include "generation/fused.cuh"
#endif
#endif

#include "generation/room.cuh"
