#include "support/programs/dry_run_state.h"

#include <stdio.h>

static char words[256];

const struct yk_op *pretend_next_op(const struct pretend_actor *actor, int32_t lane)
{
    const struct pretend_lane *it = &actor->lanes[lane];
    return &actor->list->ops[it->ops[it->next % it->count]];
}

int32_t pretend_member_of(const struct pretend *pretend, int32_t group, int32_t rank)
{
    const struct yk_plan_group *planned = &pretend->plan->groups[group];
    for (int32_t i = 0; i < planned->member_count; i++) {
        if (planned->members[i].rank == rank) {
            return i;
        }
    }
    return PRETEND_NOBODY;
}

bool pretend_is_gathered(const struct pretend *pretend, int32_t layer)
{
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(pretend->plan, layer);
    return strategy == YK_SHARDING_KEPT_AFTER_FORWARD || strategy == YK_SHARDING_FULLY_SHARDED;
}

int32_t pretend_blocks_of(const struct pretend *pretend, int32_t layer)
{
    const int32_t blocks = pretend->program->layers[layer].block_count;
    return blocks > 0 ? blocks : 1;
}

struct pretend_progress *pretend_progress_of(const struct pretend *pretend, int32_t rank,
                                             int32_t step, int32_t layer, int32_t micro_batch)
{
    const int64_t cell = ((int64_t)step * pretend->L + layer) * pretend->M + micro_batch;
    return &pretend->actors[rank].progress[cell];
}

int32_t *pretend_reduced_of(const struct pretend *pretend, int32_t rank, int32_t step,
                            int32_t layer, int32_t micro_batch, int32_t block)
{
    const int64_t cell =
        ((int64_t)step * pretend->M + micro_batch) * pretend_blocks_of(pretend, layer) + block;
    return &pretend->actors[rank].layers[layer].reduced[cell];
}

void pretend_complain(struct pretend *pretend, int32_t rank, const struct yk_op *op,
                      const char *what)
{
    struct yk_text described = {0};
    yk_op_describe(pretend->program, op, &described);
    if (!pretend->wrong) {
        snprintf(words, sizeof words, "rank %d: %s %s", rank, yk_text_chars(&described), what);
        pretend->wrong = words;
    }
    yk_text_free(&described);
}
