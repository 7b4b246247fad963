/*
 * Position tables: tables of rotary or sinusoidal positions, in device memory that belongs to the
 * caller. The tables do not change after they have been filled.
 */
#ifndef YK_NN_LAYERS_POSITION_TABLES_H
#define YK_NN_LAYERS_POSITION_TABLES_H

#include "base/status.h"
#include "nn/bump_allocator.h"
#include "nn/store/parameter_store.h"

#include <stdint.h>

struct yk_position_tables {
    /* (T, head_size / 2, 2) pairs of a cosine and a sine; NULL means: positions are not rotary. */
    float *rotary;
    void *sinusoidal; /* (T, C) in the precision of the embedding table; NULL means: positions are
                         not sinusoidal */
};

/* Allocates the tables that the net needs, for sequences of up to `longest` tokens. */
void yk_position_tables_allocate(const struct yk_net *net, int64_t longest,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_position_tables *out);

/* Fills the tables and waits for the device. */
yk_status yk_position_tables_fill(const struct yk_parameter_store *store, int64_t longest,
                                  const struct yk_position_tables *position_tables) YK_MUST_USE;

/* Computes the rotary table on the host, for `longest` positions. */
void yk_position_tables_compute_rotary(const struct yk_model_config *config, int64_t longest,
                                       float *out);
/* Computes the sinusoidal table on the host, for `longest` positions. The first half of each row
 * has sines, the second half has cosines, as in Marian. */
void yk_position_tables_compute_sinusoidal(const struct yk_model_config *config, int64_t longest,
                                           float *out);

#endif
