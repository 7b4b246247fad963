#include "sim/op_classes.h"

#include "sim/record.h"
#include "sim/times.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct sorting {
    const struct yk_sim *sim;
    struct yk_layer_costs *prices;
    struct yk_times times;
    struct yk_op_class *sorts; /* (most) */
    int32_t count;
};

static bool is_message(const struct yk_op_class *sort)
{
    return sort->bytes > 0;
}

static const char *shape_of(const struct sorting *sorting, const struct yk_op_class *sort)
{
    return yk_model_sizes_whole_batch(sorting->sim->program->sizes)->layers[sort->layer].shape;
}

static bool are_alike(const struct sorting *sorting, const struct yk_op_class *a,
                      const struct yk_op_class *b)
{
    const struct yk_plan_rank *ranks = sorting->sim->program->plan->ranks;
    if (a->kind != b->kind || a->bytes != b->bytes || a->samples != b->samples ||
        a->time.seconds != b->time.seconds) {
        return false;
    }
    return is_message(a) ||
           (yk_layer_costs_device_kind(sorting->prices, ranks[a->rank].device) ==
                yk_layer_costs_device_kind(sorting->prices, ranks[b->rank].device) &&
            a->kind != YK_OP_LOAD && strcmp(shape_of(sorting, a), shape_of(sorting, b)) == 0);
}

static void count_in(struct sorting *sorting, const struct yk_op_class *sort)
{
    for (int32_t i = 0; i < sorting->count; i++) {
        if (are_alike(sorting, &sorting->sorts[i], sort)) {
            sorting->sorts[i].count += sort->count;
            return;
        }
    }
    sorting->sorts[sorting->count++] = *sort;
}

/* `ranks` are in the fold. A message's ranks share it: it counts where it begins, on its first. */
static yk_status add_fold(struct sorting *sorting, int32_t fold, int32_t ranks)
{
    const struct yk_sim *sim = sorting->sim;
    const struct yk_rank_classes *folds = &yk_sim_record_of(sim)->folds;
    const int32_t rank = folds->ranks[fold];
    const struct yk_program_rank *list = &sim->program->ranks[rank];
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        struct yk_op_class sort = {.kind = op->kind == YK_OP_RECOMPUTE ? YK_OP_FORWARD : op->kind,
                                   .rank = rank,
                                   .layer = op->layer,
                                   .count = ranks};
        if (op->match != YK_NO_MATCH) {
            const struct yk_message *message = &sorting->times.messages[op->match];
            const struct yk_message_end *first = &sorting->times.ends[message->first_end];
            if (first->fold != fold || first->op != i) {
                continue;
            }
            sort.kind = op->kind == YK_OP_RECV ? YK_OP_SEND : op->kind;
            sort.bytes = op->bytes;
            sort.count = 1;
            sort.time = message->time;
        } else {
            sort.samples = op->kind == YK_OP_UPDATE ? 0 : op->samples;
            YK_TRY(yk_times_alone(sim->program, sorting->prices, folds, rank, op, &sort.time));
        }
        if (sort.time.seconds > 0) {
            count_in(sorting, &sort);
        }
    }
    return YK_OK;
}

static yk_status add_folds(struct sorting *sorting, struct yk_arena *arena)
{
    const struct yk_sim *sim = sorting->sim;
    const struct yk_rank_classes *folds = &yk_sim_record_of(sim)->folds;
    int32_t most = 0;
    for (int32_t f = 0; f < folds->count; f++) {
        most += sim->program->ranks[folds->ranks[f]].op_count;
    }
    YK_TRY_NEW(arena, sorting->sorts, most);
    for (int32_t f = 0; f < folds->count; f++) {
        int32_t ranks = 0;
        for (int32_t r = 0; r < sim->program->rank_count; r++) {
            ranks += folds->of_rank[r] == f ? 1 : 0;
        }
        YK_TRY(add_fold(sorting, f, ranks));
    }
    return YK_OK;
}

yk_status yk_sim_op_classes(const struct yk_sim *sim, struct yk_layer_costs *prices,
                            struct yk_arena *arena, struct yk_op_class **out, int32_t *out_count)
{
    struct sorting sorting = {.sim = sim, .prices = prices};
    YK_TRY(
        yk_times_find(sim->program, prices, &yk_sim_record_of(sim)->folds, arena, &sorting.times));
    YK_TRY(add_folds(&sorting, arena));
    *out = sorting.sorts;
    *out_count = sorting.count;
    return YK_OK;
}
