// The generation loop, common to all algorithms: for each slot of each island, make children,
// evaluate and improve them, and decide about the replacement. Reads generation g, writes g + 1.
// Random numbers are counter-based, so both variants give the same bits: one launch or, with
// ISLANDS_OUTSIDE, two launches with the evaluation on the host between them. With ISLANDS_ROOM,
// compute only the required scratch memory.
// Random streams: those of the files that it includes.
#pragma once

#ifndef ISLANDS_ROOM
#ifdef ISLANDS_OUTSIDE
#include "generation/outside.cuh"
#else
#include "generation/fused.cuh"
#endif
#endif

#include "generation/room.cuh"
