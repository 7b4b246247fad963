#include "program/check/block_ranges.h"
#include "program/check/precedence.h"
#include "program/check/rule.h"
#include "program/layout.h"

#include <stdlib.h>

/*
 * Gathered weights come and go: they stay from one release to the next. A round has R releases, so
 * R stays; stay 0 begins with the last release of the round before. The gathers that know of the
 * release before a stay, and of no later one, fill it; all of its uses know of them.
 */
/* An op in a round, counted from the one that a stay ends in. */
struct moment {
    int32_t op;
    int32_t round;
};

struct use {
    struct moment at;
    int32_t stay;
};

struct staying {
    const struct yk_rank_view *view;
    struct yk_precedences *demands;
    int32_t layer;
    struct use *uses; /* passes with the layer's weights, in the order of the list */
    int32_t use_count;
    int32_t *releases;
    int32_t release_count;
    struct yk_slice *pieces;
    int32_t piece_count;
};

static yk_status refuse(const struct staying *staying, const char *rule, int32_t op,
                        const char *words)
{
    return yk_rule_refuse(staying->view->facts->program, staying->view->rank, rule,
                          &staying->view->list->ops[op], "%s", words);
}

static yk_status demand(const struct staying *staying, struct moment before, struct moment after,
                        enum yk_precedence_reason reason)
{
    const struct yk_demand item = {before.op, after.op, after.round - before.round, reason};
    return yk_precedences_add(staying->demands, item);
}

static int compare_uses(const void *left, const void *right)
{
    const int32_t a = ((const struct use *)left)->at.op;
    const int32_t b = ((const struct use *)right)->at.op;
    return (a > b) - (a < b);
}

static void find_uses(struct staying *staying)
{
    const struct yk_rank_view *view = staying->view;
    const struct yk_facts *facts = view->facts;
    staying->use_count = 0;
    for (int32_t u = staying->layer; u >= 0; u = yk_facts_next_user(facts, staying->layer, u)) {
        for (int32_t m = 0; m < facts->M; m++) {
            const int64_t cell = yk_rank_view_cell(view, u, m);
            const int32_t passes[] = {view->forward[cell], view->recompute[cell],
                                      view->backward[cell]};
            for (int32_t i = 0; i < 3; i++) {
                if (passes[i] != YK_OP_NONE) {
                    staying->uses[staying->use_count++].at.op = passes[i];
                }
            }
        }
    }
    qsort(staying->uses, (size_t)staying->use_count, sizeof *staying->uses, compare_uses);
    staying->release_count = 0;
    for (int32_t i = view->first[YK_OP_RELEASE][staying->layer]; i != YK_OP_NONE;
         i = view->next[i]) {
        staying->releases[staying->release_count++] = i;
    }
}

/* What stands after the last release is in the first stay of the next round. */
static void place_uses(struct staying *staying)
{
    int32_t stay = 0;
    for (int32_t i = 0; i < staying->use_count; i++) {
        struct use *use = &staying->uses[i];
        while (stay < staying->release_count && staying->releases[stay] < use->at.op) {
            stay++;
        }
        use->stay = stay < staying->release_count ? stay : 0;
        use->at.round = stay < staying->release_count ? 0 : -1;
    }
}

static struct moment release_before(const struct staying *staying, int32_t stay)
{
    return stay > 0 ? (struct moment){staying->releases[stay - 1], 0}
                    : (struct moment){staying->releases[staying->release_count - 1], -1};
}

static int32_t floor_divide(int32_t a, int32_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* The stay that a gather fills: the one after the latest release that it knows. */
static struct moment place_gather(const struct staying *staying, int32_t gather, int32_t *stay)
{
    const struct yk_rank_view *view = staying->view;
    const int32_t lane = view->lane_count[YK_LANE_COMPUTE];
    const int32_t R = staying->release_count;
    const int32_t known = view->known[(int64_t)gather * YK_LANE_COUNT + YK_LANE_COMPUTE];
    const int32_t rounds = floor_divide(known, lane);
    int32_t count = 0;
    while (count < R && view->position[staying->releases[count]] <= known - rounds * lane) {
        count++;
    }
    /* Counted from the gather's own round on, so that the stay's is as many rounds earlier. */
    *stay = count % R;
    return (struct moment){gather, -(rounds + count / R)};
}

/* Uses of one stay belong to one step, unless the weights never change. */
static yk_status order_uses(const struct staying *staying, int32_t stay, struct moment *first)
{
    const bool trained = staying->view->facts->program->layers[staying->layer].gradient_bytes > 0;
    const struct moment end = {staying->releases[stay], 0};
    struct moment last = {YK_OP_NONE, 0};
    *first = last;
    for (int32_t i = 0; i < staying->use_count; i++) {
        const struct moment use = staying->uses[i].at;
        if (staying->uses[i].stay != stay) {
            continue;
        }
        if (first->op == YK_OP_NONE || use.round < first->round) {
            *first = use;
        }
        if (last.op == YK_OP_NONE || use.round >= last.round) {
            last = use;
        }
        YK_TRY(demand(staying, release_before(staying, stay), use, YK_PRECEDENCE_DROPPED));
        YK_TRY(demand(staying, use, end, YK_PRECEDENCE_RELEASED));
    }
    if (first->op == YK_OP_NONE) {
        return refuse(staying, "resident", end.op, "drops parameters that nothing has used");
    }
    if (trained && first->round != last.round) {
        return refuse(staying, "resident", last.op,
                      "uses parameters that were gathered before their update");
    }
    return staying->view->list->ops[end.op].step == last.round
               ? YK_OK
               : refuse(staying, "resident", end.op, "is for another step than what it drops");
}

static yk_status order_gather(struct staying *staying, int32_t gather, const struct moment *firsts)
{
    const struct yk_rank_view *view = staying->view;
    const struct yk_op *op = &view->list->ops[gather];
    int32_t stay = 0;
    const struct moment here = place_gather(staying, gather, &stay);
    YK_TRY(demand(staying, release_before(staying, stay), here, YK_PRECEDENCE_DROPPED));
    for (int32_t i = 0; i < staying->use_count; i++) {
        if (staying->uses[i].stay == stay) {
            YK_TRY(demand(staying, here, staying->uses[i].at, YK_PRECEDENCE_GATHERED));
        }
    }
    if (here.round + op->step != firsts[stay].round) {
        return refuse(staying, "resident", gather, "is for another step than what uses it");
    }
    staying->pieces[staying->piece_count++] =
        (struct yk_slice){stay, op->first_block, op->block_count, gather};
    return YK_OK;
}

static yk_status refuse_pieces(const struct staying *staying, int32_t user,
                               const struct yk_rule_blocks_fault *fault)
{
    const struct yk_rank_view *view = staying->view;
    const struct yk_program *program = view->facts->program;
    const char *layer = view->facts->model->layers[staying->layer].name;
    if (fault->op < 0) {
        return yk_rule_refuse(program, view->rank, "resident", &view->list->ops[user],
                              "uses %s, but no gather brings block %d", layer, fault->block);
    }
    char other[YK_RULE_TEXT_SIZE];
    yk_rule_describe(program, &view->list->ops[fault->op], other);
    return yk_rule_refuse(program, view->rank, "resident", &view->list->ops[fault->again],
                          "brings block %d again after %s, with no release known in between",
                          fault->block, other);
}

static yk_status order_gathered(struct staying *staying, struct yk_arena *arena)
{
    const struct yk_rank_view *view = staying->view;
    struct moment *firsts = NULL;
    const int32_t gather = view->first[YK_OP_ALL_GATHER][staying->layer];
    if (staying->release_count == 0) {
        return refuse(staying, "resident", gather == YK_OP_NONE ? staying->uses[0].at.op : gather,
                      gather == YK_OP_NONE ? "uses parameters that are not gathered"
                                           : "is never followed by a release");
    }
    place_uses(staying);
    YK_TRY_NEW(arena, firsts, staying->release_count);
    for (int32_t stay = 0; stay < staying->release_count; stay++) {
        YK_TRY(order_uses(staying, stay, &firsts[stay]));
    }
    staying->piece_count = 0;
    for (int32_t i = gather; i != YK_OP_NONE; i = view->next[i]) {
        YK_TRY(order_gather(staying, i, firsts));
    }
    int32_t next = 0;
    yk_rule_blocks_sort(staying->pieces, staying->piece_count);
    for (int32_t stay = 0; stay < staying->release_count; stay++) {
        struct yk_rule_blocks_fault fault;
        if (!yk_rule_blocks_are_complete(staying->pieces, staying->piece_count, stay,
                                         view->facts->program->layers[staying->layer].block_count,
                                         &next, &fault)) {
            return refuse_pieces(staying, firsts[stay].op, &fault);
        }
    }
    return YK_OK;
}

/* Weights that are whole all the time: with the state sharded, the others' new parts come after
 * every update. */
static yk_status order_resident(struct staying *staying, bool refreshed)
{
    const struct yk_rank_view *view = staying->view;
    if (staying->release_count > 0) {
        return refuse(staying, "resident", staying->releases[0], "drops parameters that stay");
    }
    staying->piece_count = 0;
    for (int32_t i = view->first[YK_OP_ALL_GATHER][staying->layer]; i != YK_OP_NONE;
         i = view->next[i]) {
        const struct yk_op *op = &view->list->ops[i];
        if (!refreshed) {
            return refuse(staying, "resident", i, "brings parameters that are there");
        }
        staying->pieces[staying->piece_count++] =
            (struct yk_slice){0, op->first_block, op->block_count, i};
        for (int32_t u = 0; u < staying->use_count; u++) {
            YK_TRY(yk_precedences_add_step(view, staying->demands, i, staying->uses[u].at.op, 0,
                                           YK_PRECEDENCE_GATHERED));
        }
    }
    struct yk_rule_blocks_fault fault;
    int32_t next = 0;
    yk_rule_blocks_sort(staying->pieces, staying->piece_count);
    return !refreshed ||
                   yk_rule_blocks_are_complete(
                       staying->pieces, staying->piece_count, 0,
                       view->facts->program->layers[staying->layer].block_count, &next, &fault)
               ? YK_OK
               : refuse_pieces(staying, staying->uses[0].at.op, &fault);
}

/* The step's update follows all uses; the next step's gathers and uses follow the update. */
static yk_status order_update(const struct staying *staying)
{
    const struct yk_rank_view *view = staying->view;
    const int32_t update = view->update[staying->layer];
    if (update == YK_OP_NONE) {
        return YK_OK;
    }
    for (int32_t i = view->first[YK_OP_ALL_GATHER][staying->layer]; i != YK_OP_NONE;
         i = view->next[i]) {
        YK_TRY(
            yk_precedences_add_step(view, staying->demands, update, i, 1, YK_PRECEDENCE_NEW_PART));
    }
    if (yk_layout_is_gathered(view->facts->program, staying->layer)) {
        return YK_OK;
    }
    for (int32_t i = 0; i < staying->use_count; i++) {
        YK_TRY(yk_precedences_add_step(view, staying->demands, update, staying->uses[i].at.op, 1,
                                       YK_PRECEDENCE_NEW_WEIGHTS));
        YK_TRY(yk_precedences_add_step(view, staying->demands, staying->uses[i].at.op, update, 0,
                                       YK_PRECEDENCE_LAST_USE));
    }
    return YK_OK;
}

yk_status yk_precedences_find_weights(const struct yk_rank_view *view, struct yk_arena *arena,
                                      struct yk_precedences *demands)
{
    const struct yk_facts *facts = view->facts;
    struct staying staying = {.view = view, .demands = demands};
    YK_TRY_NEW(arena, staying.uses, view->list->op_count);
    YK_TRY_NEW(arena, staying.releases, view->list->op_count);
    YK_TRY_NEW(arena, staying.pieces, view->list->op_count);
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_rank_view_holds(view, l)) {
            continue;
        }
        staying.layer = l;
        find_uses(&staying);
        YK_TRY(yk_layout_is_gathered(facts->program, l)
                   ? order_gathered(&staying, arena)
                   : order_resident(&staying, yk_layout_is_refreshed(facts->program, l)));
        YK_TRY(order_update(&staying));
    }
    return YK_OK;
}
