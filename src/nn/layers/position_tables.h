/*
 * Position tables: tables of rotary or sinusoidal positions, in device memory that belongs to the
 * caller. The tables do not change after they have been filled.
 *
 * A model may have several rotary tables. Blocks with a sliding window have frequencies of their
 * own if the config has a `local_rope`. Some scalings have other frequencies for long sequences:
 * those of more than `positions` tokens of struct yk_rope.
 */
#ifndef YK_NN_LAYERS_POSITION_TABLES_H
#define YK_NN_LAYERS_POSITION_TABLES_H

#include "base/status.h"
#include "nn/bump_allocator.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_ROTARY_TABLES = 4
};

struct yk_position_tables {
    /* (T, rotary_size / 2, 2) pairs of a cosine and a sine. The index of a table is
     * yk_position_tables_rotary_index(). NULL means: the model does not have the table. */
    float *rotary[YK_ROTARY_TABLES];
    void *sinusoidal; /* (T, C) in the precision of the embedding table; NULL means: positions are
                         not sinusoidal */
};

/* Returns the index of a rotary table. `local`: the table of blocks with a window, if they have one
 * of their own. `extended`: the table of long sequences, if they have one of their own. */
static inline int32_t yk_position_tables_rotary_index(bool local, bool extended)
{
    return (local ? 2 : 0) + (extended ? 1 : 0);
}

/* Returns whether the scaling has a table of its own for sequences of this length. */
static inline bool yk_position_tables_is_extended(const struct yk_rope *rope, int64_t sequence)
{
    return (rope->scaling == YK_ROPE_DYNAMIC || rope->scaling == YK_ROPE_LONGROPE) &&
           sequence > rope->positions;
}

/* Returns the rotary table of a pass of `sequence` tokens through a block with these flags, see
 * YK_BLOCK_WINDOW. Returns NULL if the block has no rotary positions. */
const float *yk_position_tables_find_rotary(const struct yk_position_tables *position_tables,
                                            const struct yk_model_config *config, unsigned flags,
                                            int64_t sequence);

/* Allocates the tables that the net needs, for sequences of up to `longest` tokens. */
void yk_position_tables_allocate(const struct yk_net *net, int64_t longest,
                                 struct yk_bump_allocator *allocator,
                                 struct yk_position_tables *out);

/* Fills the tables and waits for the device. */
yk_status yk_position_tables_fill(const struct yk_parameter_store *store, int64_t longest,
                                  const struct yk_position_tables *position_tables) YK_MUST_USE;

/* Computes a rotary table on the host, for `longest` positions. `extended`: the frequencies of long
 * sequences. Those of YK_ROPE_DYNAMIC are for sequences of `longest` tokens. */
void yk_position_tables_compute_rotary(const struct yk_rope *rope, int64_t rotary_size,
                                       int64_t longest, bool extended, float *out);
/* Computes the sinusoidal table on the host, for `longest` positions. The first half of each row
 * has sines, the second half has cosines, as in Marian. */
void yk_position_tables_compute_sinusoidal(const struct yk_model_config *config, int64_t longest,
                                           float *out);

#endif
