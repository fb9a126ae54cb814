// A generation, whatever the algorithm: for each slot of each island children are made, judged and
// improved, and it is settled who takes the place. All that is drawn is counted, so that the two
// ways to do it give the same bits: in one launch or, where ISLANDS_OUTSIDE, in two, between which
// somebody else judges the children. Where ISLANDS_ROOM, only the working memory is asked for.
#pragma once

#ifndef ISLANDS_ROOM
#ifdef ISLANDS_OUTSIDE
#include "generation/outside.cuh"
#else
#include "generation/fused.cuh"
#endif
#endif

#include "generation/room.cuh"
