#include "base/number.h"
#include "program/check/precedence.h"
#include "program/check/rule.h"
#include "program/message_layout.h"

#include <stdlib.h>

/*
 * Gathered weights live in intervals between two releases. An iteration has R releases and so R
 * intervals; interval 0 begins with the last release of the previous iteration. A gather belongs to
 * the interval after the latest release that has always ended when the gather starts. All uses in
 * an interval must follow its gathers.
 */
/* An op in an iteration. Iteration 0 is the one in which the interval ends. */
struct moment {
    int32_t op;
    int32_t round;
};

struct use {
    struct moment at;
    int32_t interval;
};

struct residency {
    const struct yk_op_index *index;
    struct yk_precedences *precedences;
    int32_t layer;
    struct use *uses; /* passes with the layer's weights, in the order of the list */
    int32_t use_count;
    int32_t *releases;
    int32_t release_count;
    struct yk_rule_block_range *blocks;
    int32_t blocks_count;
};

static yk_status refuse(const struct residency *residency, int32_t op, const char *reason)
{
    return yk_rule_fail(residency->index->facts->program, residency->index->rank, "resident",
                        &residency->index->list->ops[op], "%s", reason);
}

static yk_status precedence(const struct residency *residency, struct moment before,
                            struct moment after, enum yk_precedence_reason reason)
{
    return yk_precedences_add_with_lag(residency->precedences, before.op, after.op,
                                       after.round - before.round, reason);
}

static int compare_uses(const void *left, const void *right)
{
    const int32_t a = ((const struct use *)left)->at.op;
    const int32_t b = ((const struct use *)right)->at.op;
    return yk_number_compare(a, b);
}

static void find_uses(struct residency *residency)
{
    const struct yk_op_index *index = residency->index;
    const struct yk_program_facts *facts = index->facts;
    residency->use_count = 0;
    for (int32_t u = residency->layer; u >= 0;
         u = yk_program_facts_next_weight_user(facts, residency->layer, u)) {
        for (int32_t m = 0; m < facts->M; m++) {
            const int64_t cell = yk_op_index_layer_micro_batch_cell(index, u, m);
            const int32_t passes[] = {index->forward[cell], index->recompute[cell],
                                      index->backward[cell]};
            for (int32_t i = 0; i < 3; i++) {
                if (passes[i] != YK_OP_NONE) {
                    residency->uses[residency->use_count++].at.op = passes[i];
                }
            }
        }
    }
    qsort(residency->uses, (size_t)residency->use_count, sizeof *residency->uses, compare_uses);
    residency->release_count = 0;
    for (int32_t i = index->first[YK_OP_RELEASE][residency->layer]; i != YK_OP_NONE;
         i = index->next[i]) {
        residency->releases[residency->release_count++] = i;
    }
}

/* Uses after the last release belong to interval 0 of the next iteration. */
static void place_uses(struct residency *residency)
{
    int32_t interval = 0;
    for (int32_t i = 0; i < residency->use_count; i++) {
        struct use *use = &residency->uses[i];
        while (interval < residency->release_count && residency->releases[interval] < use->at.op) {
            interval++;
        }
        use->interval = interval < residency->release_count ? interval : 0;
        use->at.round = interval < residency->release_count ? 0 : -1;
    }
}

static struct moment release_before(const struct residency *residency, int32_t interval)
{
    return interval > 0 ? (struct moment){residency->releases[interval - 1], 0}
                        : (struct moment){residency->releases[residency->release_count - 1], -1};
}

static int32_t floor_divide(int32_t a, int32_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* The interval of a gather: the one after the latest release that has ended when it starts. */
static struct moment place_gather(const struct residency *residency, int32_t gather,
                                  int32_t *interval)
{
    const struct yk_op_index *index = residency->index;
    const int32_t lane = index->lanes.count[YK_LANE_COMPUTE];
    const int32_t R = residency->release_count;
    const int32_t known = index->ended[(int64_t)gather * YK_LANE_COUNT + YK_LANE_COMPUTE];
    const int32_t rounds = floor_divide(known, lane);
    int32_t count = 0;
    while (count < R &&
           index->lanes.position[residency->releases[count]] <= known - rounds * lane) {
        count++;
    }
    /* The result is relative to the iteration in which the interval ends. */
    *interval = count % R;
    return (struct moment){gather, -(rounds + count / R)};
}

/* Uses of one interval belong to one step, unless the weights never change. */
static yk_status order_uses(const struct residency *residency, int32_t interval,
                            struct moment *first)
{
    const bool trained =
        residency->index->facts->program->layers[residency->layer].gradient_bytes > 0;
    const struct moment end = {residency->releases[interval], 0};
    struct moment last = {YK_OP_NONE, 0};
    *first = last;
    for (int32_t i = 0; i < residency->use_count; i++) {
        const struct moment use = residency->uses[i].at;
        if (residency->uses[i].interval != interval) {
            continue;
        }
        if (first->op == YK_OP_NONE || use.round < first->round) {
            *first = use;
        }
        if (last.op == YK_OP_NONE || use.round >= last.round) {
            last = use;
        }
        YK_TRY(precedence(residency, release_before(residency, interval), use,
                          YK_PRECEDENCE_GATHER_AFTER_RELEASE));
        YK_TRY(precedence(residency, use, end, YK_PRECEDENCE_RELEASE_AFTER_USE));
    }
    if (first->op == YK_OP_NONE) {
        return refuse(residency, end.op, "drops parameters that nothing has used");
    }
    if (trained && first->round != last.round) {
        return refuse(residency, last.op, "uses parameters that were gathered before their update");
    }
    return residency->index->list->ops[end.op].step == last.round
               ? YK_OK
               : refuse(residency, end.op, "is for another step than what it drops");
}

static yk_status order_gather(struct residency *residency, int32_t gather,
                              const struct moment *firsts)
{
    const struct yk_op_index *index = residency->index;
    const struct yk_op *op = &index->list->ops[gather];
    int32_t interval = 0;
    const struct moment here = place_gather(residency, gather, &interval);
    YK_TRY(precedence(residency, release_before(residency, interval), here,
                      YK_PRECEDENCE_GATHER_AFTER_RELEASE));
    for (int32_t i = 0; i < residency->use_count; i++) {
        if (residency->uses[i].interval == interval) {
            YK_TRY(
                precedence(residency, here, residency->uses[i].at, YK_PRECEDENCE_USE_AFTER_GATHER));
        }
    }
    if (here.round + op->step != firsts[interval].round) {
        return refuse(residency, gather, "is for another step than what uses it");
    }
    residency->blocks[residency->blocks_count++] =
        (struct yk_rule_block_range){interval, op->first_block, op->block_count, gather};
    return YK_OK;
}

static yk_status refuse_blocks(const struct residency *residency, int32_t user,
                               const struct yk_rule_block_error *fault)
{
    const struct yk_op_index *index = residency->index;
    const struct yk_program *program = index->facts->program;
    const char *layer = index->facts->model->layers[residency->layer].name;
    if (fault->op < 0) {
        return yk_rule_fail(program, index->rank, "resident", &index->list->ops[user],
                            "uses %s, but no gather brings block %d", layer, fault->block);
    }
    char other[YK_RULE_TEXT_SIZE];
    yk_rule_describe_op(program, &index->list->ops[fault->op], other);
    return yk_rule_fail(program, index->rank, "resident", &index->list->ops[fault->again],
                        "brings block %d again after %s, with no release known in between",
                        fault->block, other);
}

/* Checks that the gathers of each interval bring every block once. `firsts` (intervals) are the
 * first uses. */
static yk_status check_blocks(const struct residency *residency, int32_t intervals,
                              const struct moment *firsts)
{
    const struct yk_program *program = residency->index->facts->program;
    int32_t next = 0;
    yk_rule_block_ranges_sort(residency->blocks, residency->blocks_count);
    for (int32_t interval = 0; interval < intervals; interval++) {
        struct yk_rule_block_error fault;
        if (!yk_rule_block_ranges_cover_once(residency->blocks, residency->blocks_count, interval,
                                             program->layers[residency->layer].block_count, &next,
                                             &fault)) {
            return refuse_blocks(residency, firsts[interval].op, &fault);
        }
    }
    return YK_OK;
}

static yk_status order_gathered(struct residency *residency, struct yk_arena *arena)
{
    const struct yk_op_index *index = residency->index;
    struct moment *firsts = NULL;
    const int32_t gather = index->first[YK_OP_ALL_GATHER][residency->layer];
    if (residency->release_count == 0) {
        return refuse(residency, gather == YK_OP_NONE ? residency->uses[0].at.op : gather,
                      gather == YK_OP_NONE ? "uses parameters that are not gathered"
                                           : "is never followed by a release");
    }
    place_uses(residency);
    YK_TRY_NEW(arena, firsts, residency->release_count);
    for (int32_t interval = 0; interval < residency->release_count; interval++) {
        YK_TRY(order_uses(residency, interval, &firsts[interval]));
    }
    residency->blocks_count = 0;
    for (int32_t i = gather; i != YK_OP_NONE; i = index->next[i]) {
        YK_TRY(order_gather(residency, i, firsts));
    }
    return check_blocks(residency, residency->release_count, firsts);
}

/* Weights that are always complete. With sharded state, the new parts are gathered after each
 * update. */
static yk_status order_resident(struct residency *residency, bool refreshed)
{
    const struct yk_op_index *index = residency->index;
    if (residency->release_count > 0) {
        return refuse(residency, residency->releases[0], "drops parameters that stay");
    }
    residency->blocks_count = 0;
    for (int32_t i = index->first[YK_OP_ALL_GATHER][residency->layer]; i != YK_OP_NONE;
         i = index->next[i]) {
        const struct yk_op *op = &index->list->ops[i];
        if (!refreshed) {
            return refuse(residency, i, "brings parameters that are there");
        }
        residency->blocks[residency->blocks_count++] =
            (struct yk_rule_block_range){0, op->first_block, op->block_count, i};
        for (int32_t u = 0; u < residency->use_count; u++) {
            YK_TRY(yk_precedences_add_across_steps(residency->precedences, i,
                                                   residency->uses[u].at.op, 0,
                                                   YK_PRECEDENCE_USE_AFTER_GATHER));
        }
    }
    return check_blocks(residency, refreshed ? 1 : 0, &residency->uses[0].at);
}

/* The step's update follows all uses; the next step's gathers and uses follow the update. */
static yk_status order_update(const struct residency *residency)
{
    const struct yk_op_index *index = residency->index;
    const int32_t update = index->update[residency->layer];
    if (update == YK_OP_NONE) {
        return YK_OK;
    }
    for (int32_t i = index->first[YK_OP_ALL_GATHER][residency->layer]; i != YK_OP_NONE;
         i = index->next[i]) {
        YK_TRY(yk_precedences_add_across_steps(residency->precedences, update, i, 1,
                                               YK_PRECEDENCE_GATHER_AFTER_UPDATE));
    }
    if (yk_message_layout_gathers_layer_weights(index->facts->program, residency->layer)) {
        return YK_OK;
    }
    for (int32_t i = 0; i < residency->use_count; i++) {
        YK_TRY(yk_precedences_add_across_steps(residency->precedences, update,
                                               residency->uses[i].at.op, 1,
                                               YK_PRECEDENCE_USE_AFTER_UPDATE));
        YK_TRY(yk_precedences_add_across_steps(residency->precedences, residency->uses[i].at.op,
                                               update, 0, YK_PRECEDENCE_UPDATE_AFTER_USE));
    }
    return YK_OK;
}

yk_status yk_precedences_add_for_weights(struct yk_precedences *precedences, struct yk_arena *arena)
{
    const struct yk_op_index *index = precedences->index;
    const struct yk_program_facts *facts = index->facts;
    struct residency residency = {.index = index, .precedences = precedences};
    YK_TRY_NEW(arena, residency.uses, index->list->op_count);
    YK_TRY_NEW(arena, residency.releases, index->list->op_count);
    YK_TRY_NEW(arena, residency.blocks, index->list->op_count);
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_op_index_rank_has_layer(index, l)) {
            continue;
        }
        residency.layer = l;
        find_uses(&residency);
        YK_TRY(yk_message_layout_gathers_layer_weights(facts->program, l)
                   ? order_gathered(&residency, arena)
                   : order_resident(&residency,
                                    yk_message_layout_gathers_updated_weights(facts->program, l)));
        YK_TRY(order_update(&residency));
    }
    return YK_OK;
}
