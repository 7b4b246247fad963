#include "program/program.h"

#include "base/number.h"

#include <math.h>

static const struct {
    const char *name;
    enum yk_lane lane;
} kinds[YK_OP_KIND_COUNT] = {
    [YK_OP_LOAD] = {"load", YK_LANE_COPY},
    [YK_OP_FORWARD] = {"forward", YK_LANE_COMPUTE},
    [YK_OP_RECOMPUTE] = {"recompute", YK_LANE_COMPUTE},
    [YK_OP_BACKWARD] = {"backward", YK_LANE_COMPUTE},
    [YK_OP_ALL_GATHER] = {"all_gather", YK_LANE_COMM},
    [YK_OP_REDUCE_SCATTER] = {"reduce_scatter", YK_LANE_COMM},
    [YK_OP_ALL_REDUCE] = {"all_reduce", YK_LANE_COMM},
    [YK_OP_SEND] = {"send", YK_LANE_COMM},
    [YK_OP_RECV] = {"recv", YK_LANE_COMM},
    [YK_OP_AGREE] = {"agree", YK_LANE_COMM},
    [YK_OP_UPDATE] = {"update", YK_LANE_COMPUTE},
    [YK_OP_RELEASE] = {"release", YK_LANE_COMPUTE},
};

const char *yk_op_kind_name(enum yk_op_kind kind)
{
    return kinds[kind].name;
}

enum yk_lane yk_op_kind_lane(enum yk_op_kind kind)
{
    return kinds[kind].lane;
}

bool yk_op_kind_is_pass(enum yk_op_kind kind)
{
    return kind == YK_OP_FORWARD || kind == YK_OP_RECOMPUTE || kind == YK_OP_BACKWARD;
}

yk_status yk_op_lane_lists_make(const struct yk_op_list *list, struct yk_arena *arena,
                                struct yk_op_lane_lists *out)
{
    *out = (struct yk_op_lane_lists){0};
    YK_TRY_NEW(arena, out->position, list->op_count + 1);
    for (int lane = 0; lane < YK_LANE_COUNT; lane++) {
        YK_TRY_NEW(arena, out->ops[lane], list->op_count + 1);
    }
    for (int32_t i = 0; i < list->op_count; i++) {
        const enum yk_lane lane = list->ops[i].lane;
        out->position[i] = out->count[lane];
        out->ops[lane][out->count[lane]++] = i;
    }
    return YK_OK;
}

int32_t yk_op_lane_lists_count_before(const struct yk_op_lane_lists *lanes, enum yk_lane lane,
                                      int32_t number)
{
    int32_t low = 0;
    int32_t high = lanes->count[lane];
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (lanes->ops[lane][middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const char *layer_name(const struct yk_program *program, int32_t layer)
{
    return yk_model_cache_get_whole_batch(program->cache)->layers[layer].name;
}

static void describe_layer(const struct yk_program *program, const struct yk_op *op,
                           struct yk_text *out)
{
    if (op->kind == YK_OP_ALL_REDUCE && program->buckets[op->bucket].layer_count > 1) {
        yk_text_addf(out, " %s to", layer_name(program, program->buckets[op->bucket].layers[0]));
    }
    if (op->layer != YK_LAYER_NONE) {
        yk_text_addf(out, " %s", layer_name(program, op->layer));
    }
    if ((op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) && op->backward) {
        yk_text_add(out, " gradient");
    }
}

void yk_op_describe(const struct yk_program *program, const struct yk_op *op, struct yk_text *out)
{
    const bool once = op->kind == YK_OP_UPDATE || op->kind == YK_OP_AGREE;
    yk_text_add(out, yk_op_kind_name(op->kind));
    describe_layer(program, op, out);
    if (program->plan->micro_batches > 1 && !once) {
        yk_text_addf(out, " #%d", op->micro_batch);
    }
    if (op->kind != YK_OP_ALL_GATHER && op->kind != YK_OP_REDUCE_SCATTER) {
        return;
    }
    const int32_t all = program->layers[op->layer].block_count;
    if (op->block_count == 1 && all > 1) {
        yk_text_addf(out, " block %d of %d", op->first_block, all);
    } else if (op->block_count < all) {
        yk_text_addf(out, " blocks %d-%d of %d", op->first_block,
                     op->first_block + op->block_count - 1, all);
    }
}

yk_status yk_op_describe_in_arena(const struct yk_program *program, const struct yk_op *op,
                                  struct yk_arena *arena, const char **out)
{
    struct yk_text text = {0};
    yk_op_describe(program, op, &text);
    return yk_text_move_to_arena(&text, arena, out);
}

enum {
    NONE = -1
};

/* The time when all ops of other lanes that the op waits for had ended; −INFINITY: it has no such
 * waits. The end of an op of the previous iteration is unknown; the begin of this op is used. */
static double ready_s(const struct yk_op_list *list, int32_t number, const double *begin_s,
                      const double *end_s)
{
    const struct yk_op *op = &list->ops[number];
    double latest_s = -INFINITY;
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
        if (list->ops[wait->op].lane != op->lane) {
            latest_s = fmax(latest_s, wait->lag == 0 ? end_s[wait->op] : begin_s[number]);
        }
    }
    return latest_s;
}

void yk_op_spans_compute(const struct yk_op_list *list, const double *begin_s, const double *end_s,
                         double *from_s, double *until_s)
{
    int32_t before[YK_LANE_COUNT];
    yk_number_fill_int32_array(before, YK_LANE_COUNT, NONE);
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        const int32_t last = before[op->lane];
        const double could_s =
            fmax(ready_s(list, i, begin_s, end_s), last == NONE ? -INFINITY : until_s[last]);
        until_s[i] = end_s[i];
        from_s[i] = isfinite(could_s) ? fmin(could_s, begin_s[i]) : begin_s[i];
        if (op->kind == YK_OP_RELEASE && last != NONE) {
            until_s[last] = from_s[i] > until_s[last] ? until_s[last] : end_s[i];
            from_s[i] = end_s[i];
        } else {
            before[op->lane] = i;
        }
    }
}

int32_t yk_op_list_first_equal_rank(const struct yk_program *program, int32_t rank)
{
    int32_t first = 0;
    while (program->ranks[first].ops != program->ranks[rank].ops) {
        first++;
    }
    return first;
}
