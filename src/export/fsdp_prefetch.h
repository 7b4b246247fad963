/*
 * FSDP prefetch: a plan's order of gathers as FSDP knows it, where a gather starts with the pass of
 * another layer.
 *
 * Layers that share weights are one with the model itself there ("in the root"): gathered when the
 * model's forward begins, kept until it ends.
 */
#ifndef YK_EXPORT_FSDP_PREFETCH_H
#define YK_EXPORT_FSDP_PREFETCH_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "plan/plan.h"

struct yk_fsdp_prefetch {
    bool *in_root;      /* (L) */
    int32_t *forward;   /* (L) with whose forward the layer's gather for forward starts, or −1 */
    int32_t *backward;  /* (L) likewise for backward */
    int32_t root_first; /* the first and last layers in the root, or −1 */
    int32_t root_last;
};

/* Finds it; what is planned and cannot be done goes to the notes. */
yk_status yk_fsdp_prefetch_find(const struct yk_plan *plan, const struct yk_model *model,
                                struct yk_arena *arena, struct yk_text *notes,
                                struct yk_fsdp_prefetch *out) YK_MUST_USE;

#endif
