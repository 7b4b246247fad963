/* Places in the making: what the parts of train/places share. */
#ifndef YK_TRAIN_PLACES_RULES_H
#define YK_TRAIN_PLACES_RULES_H

#include "train/places.h"

struct yk_placing {
    const struct yk_places_wish *wish;
    const struct yk_program *program;
    const struct yk_rank_view *view;
    const struct yk_net *net;
    struct yk_places *places;
    struct yk_things things;
};

static inline int64_t yk_placing_cell(const struct yk_placing *placing, int32_t layer,
                                      int32_t micro_batch)
{
    return yk_rank_view_cell(placing->view, layer, micro_batch);
}

/* The op that computes a layer again: only blocks save less for it, others keep what they have. */
static inline int32_t yk_placing_recompute(const struct yk_placing *placing, int32_t layer,
                                           int32_t micro_batch)
{
    return placing->net->layers[layer].kind->is_block
               ? placing->view->recompute[yk_placing_cell(placing, layer, micro_batch)]
               : YK_OP_NONE;
}

/* Where crossing `crossing` of the facts lies in a micro-batch. */
static inline struct yk_crossing_place *yk_placing_crossing(const struct yk_placing *placing,
                                                            int32_t crossing, int32_t micro_batch)
{
    return &placing->places->crossings[(int64_t)crossing * placing->view->facts->M + micro_batch];
}

/* Of an op's layer: what comes in, goes out and is saved. */
void yk_placing_add_passes(struct yk_placing *placing);

/* What crosses from group to group. */
void yk_placing_add_crossings(struct yk_placing *placing);

/* Bytes of a layer's output for some samples; SIZE_MAX where they cannot be counted, which placing
 * then refuses. */
size_t yk_placing_output_bytes(const struct yk_placing *placing, int32_t layer, int64_t samples);

/* Whole weights and gradients of layers that are kept in parts. */
yk_status yk_placing_add_wholes(struct yk_placing *placing, struct yk_arena *arena) YK_MUST_USE;

/* Which op is the first to add to each layer's gradient. */
void yk_placing_find_clears(struct yk_placing *placing);

#endif
