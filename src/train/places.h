/*
 * Places: where in one piece of memory everything lies that a step holds for a while: what layers
 * put out, save, and work with, and the gradients on their way back.
 *
 * How long each is held follows from the program, as in program/memory; what is not held at the
 * same time may lie in the same place. Made once, before the first step.
 */
#ifndef YK_TRAIN_PLACES_H
#define YK_TRAIN_PLACES_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/layer.h"
#include "program/program.h"

#include <stddef.h>
#include <stdint.h>

/* Of one layer and micro-batch: offsets from the start of the memory. */
struct yk_place {
    size_t output;        /* of a head: not used */
    size_t gradient;      /* of the output */
    size_t saved;         /* from forward, or from recomputation, to backward */
    size_t forward_saved; /* the same in forward; elsewhere where it is recomputed */
    size_t forward_work;
    size_t recompute_work;
    size_t backward_work;
};

struct yk_places {
    struct yk_place *of; /* (L, M) */
    size_t bytes;        /* of the memory */
};

/* For a rank of a program that has no other; lives in `arena`. */
yk_status yk_places_find(const struct yk_program *program, int32_t rank, const struct yk_net *net,
                         struct yk_arena *arena, struct yk_places *out) YK_MUST_USE;

#endif
