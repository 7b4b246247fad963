/* Position tables: of rotary or sinusoidal positions, on the device. Pointers into memory that
 * the caller carves and owns; nothing changes them once filled. */
#ifndef YK_NN_LAYERS_POSITION_TABLES_H
#define YK_NN_LAYERS_POSITION_TABLES_H

#include "base/status.h"
#include "nn/carve.h"
#include "nn/store/store.h"

#include <stdint.h>

struct yk_position_tables {
    float *rotary;    /* (T, head_size / 2, 2): cosines and sines; NULL: positions are not rotary */
    void *sinusoidal; /* (T, C) in the precision of the embedding's table; NULL: positions are not
                    sinusoidal */
};

/* For sequences of up to `longest` tokens. */
void yk_position_tables_carve(const struct yk_net *net, int64_t longest, struct yk_carver *carver,
                              struct yk_position_tables *out);

/* Fills what was carved, and waits. */
yk_status yk_position_tables_fill(const struct yk_store *store, int64_t longest,
                                  const struct yk_position_tables *position_tables) YK_MUST_USE;

/* On the host: the cosines and sines up to `longest`, (longest, head_size / 2, 2). */
void yk_position_tables_rotary(const struct yk_model_config *config, int64_t longest, float *out);
/* (longest, C): sines in the first half of a row, cosines in the second, as Marian has them. */
void yk_position_tables_sinusoidal(const struct yk_model_config *config, int64_t longest,
                                   float *out);

#endif
