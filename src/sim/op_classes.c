#include "sim/sim.h"

#include "sim/op_times.h"
#include "sim/sim_full_result.h"

#include <stdbool.h>
#include <string.h>

struct counting {
    const struct yk_sim_result *sim;
    struct yk_layer_costs *costs;
    struct yk_sim_op_times times;
    struct yk_sim_op_class *classes; /* (most) */
    int32_t count;
};

static bool is_message(const struct yk_sim_op_class *op_class)
{
    return op_class->bytes > 0;
}

static const char *shape_of(const struct counting *counting, const struct yk_sim_op_class *op_class)
{
    return yk_model_cache_get_whole_batch(counting->sim->program->cache)
        ->layers[op_class->layer]
        .shape;
}

static bool are_alike(const struct counting *counting, const struct yk_sim_op_class *a,
                      const struct yk_sim_op_class *b)
{
    const struct yk_plan_rank *ranks = counting->sim->program->plan->ranks;
    if (a->kind != b->kind || a->bytes != b->bytes || a->samples != b->samples ||
        a->time.seconds != b->time.seconds) {
        return false;
    }
    return is_message(a) ||
           (yk_layer_costs_device_speed_class(counting->costs, ranks[a->rank].device) ==
                yk_layer_costs_device_speed_class(counting->costs, ranks[b->rank].device) &&
            a->kind != YK_OP_LOAD && strcmp(shape_of(counting, a), shape_of(counting, b)) == 0);
}

static void count_in(struct counting *counting, const struct yk_sim_op_class *op_class)
{
    for (int32_t i = 0; i < counting->count; i++) {
        if (are_alike(counting, &counting->classes[i], op_class)) {
            counting->classes[i].count += op_class->count;
            return;
        }
    }
    counting->classes[counting->count++] = *op_class;
}

/* Adds the ops of a rank class with `ranks` members. A message is counted once, with its first op.
 */
static yk_status add_class(struct counting *counting, int32_t rank_class, int32_t ranks)
{
    const struct yk_sim_result *sim = counting->sim;
    const struct yk_rank_classes *classes = &yk_sim_full_result_of(sim)->classes;
    const int32_t rank = classes->ranks[rank_class];
    const struct yk_op_list *list = &sim->program->ranks[rank];
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        struct yk_sim_op_class op_class = {.kind = op->kind == YK_OP_RECOMPUTE ? YK_OP_FORWARD
                                                                               : op->kind,
                                           .rank = rank,
                                           .layer = op->layer,
                                           .count = ranks};
        if (op->match != YK_OP_NO_MATCH) {
            const struct yk_sim_message *message = &counting->times.messages[op->match];
            const struct yk_sim_message_op *first = &counting->times.ends[message->first_end];
            if (first->rank_class != rank_class || first->op != i) {
                continue;
            }
            op_class.kind = op->kind == YK_OP_RECV ? YK_OP_SEND : op->kind;
            op_class.bytes = op->bytes;
            op_class.count = 1;
            op_class.time = message->time;
        } else {
            op_class.samples = op->kind == YK_OP_UPDATE ? 0 : op->samples;
            YK_TRY(yk_sim_op_times_compute_one_op(sim->program, counting->costs, classes, rank, op,
                                                  &op_class.time));
        }
        if (op_class.time.seconds > 0) {
            count_in(counting, &op_class);
        }
    }
    return YK_OK;
}

static yk_status add_classes(struct counting *counting, struct yk_arena *arena)
{
    const struct yk_sim_result *sim = counting->sim;
    const struct yk_rank_classes *classes = &yk_sim_full_result_of(sim)->classes;
    int32_t most = 0;
    for (int32_t c = 0; c < classes->count; c++) {
        most += sim->program->ranks[classes->ranks[c]].op_count;
    }
    YK_TRY_NEW(arena, counting->classes, most);
    for (int32_t c = 0; c < classes->count; c++) {
        int32_t ranks = 0;
        for (int32_t r = 0; r < sim->program->rank_count; r++) {
            ranks += classes->of_rank[r] == c ? 1 : 0;
        }
        YK_TRY(add_class(counting, c, ranks));
    }
    return YK_OK;
}

yk_status yk_sim_count_op_classes(const struct yk_sim_result *sim, struct yk_layer_costs *costs,
                                  struct yk_arena *arena, struct yk_sim_op_class **out,
                                  int32_t *out_count)
{
    struct counting counting = {.sim = sim, .costs = costs};
    YK_TRY(yk_sim_op_times_compute(sim->program, costs, &yk_sim_full_result_of(sim)->classes, arena,
                                   &counting.times));
    YK_TRY(add_classes(&counting, arena));
    *out = counting.classes;
    *out_count = counting.count;
    return YK_OK;
}
