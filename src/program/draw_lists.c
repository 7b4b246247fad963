#include "program/draw.h"

#include <stdlib.h>
#include <string.h>

/* One rank's new list in the making. */
struct listing {
    struct yk_draw *draw;
    const struct yk_draw_mood *mood;
    int32_t rank;
    const struct yk_program_rank *old;
    struct yk_program_rank *list;
    int32_t *numbers; /* (ops) from old to new */
    /* Waits by the op that waits, each a chain. */
    int32_t *first;
    int32_t *next;
    struct yk_op_wait *waits;
    int32_t wait_count;
};

struct placed {
    int32_t turn;
    int32_t op;
};

static int by_turn(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    return (a->turn > b->turn) - (a->turn < b->turn);
}

static yk_status place_ops(struct listing *listing, struct yk_arena *arena)
{
    const struct yk_draw *draw = listing->draw;
    const int32_t n = listing->old->op_count;
    struct placed *placed = NULL;
    YK_TRY_NEW(draw->arena, placed, n);
    YK_TRY_NEW(draw->arena, listing->numbers, n);
    YK_TRY_NEW(arena, listing->list->ops, n);
    for (int32_t i = 0; i < n; i++) {
        placed[i] = (struct placed){draw->turn[draw->nodes[listing->rank][i]], i};
    }
    if (n > 0) {
        qsort(placed, (size_t)n, sizeof *placed, by_turn);
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t old = placed[i].op;
        struct yk_op *op = &listing->list->ops[i];
        listing->numbers[old] = i;
        *op = listing->old->ops[old];
        op->step = (int8_t)(op->step + draw->shift[draw->nodes[listing->rank][old]]);
    }
    listing->list->op_count = n;
    return YK_OK;
}

/* Notes that old op `after` waits for old op `before`, `lag` rounds earlier in the original. What
 * is on one lane follows anyway. */
static void note(struct listing *listing, int32_t before, int32_t after, int32_t lag)
{
    const struct yk_draw *draw = listing->draw;
    const int32_t *nodes = draw->nodes[listing->rank];
    const int32_t rounds = lag + draw->shift[nodes[before]] - draw->shift[nodes[after]];
    const int32_t from = listing->numbers[before];
    const int32_t to = listing->numbers[after];
    const struct yk_op *ops = listing->list->ops;
    if (ops[from].lane == ops[to].lane || rounds < 0 || (rounds == 0 && from >= to)) {
        return;
    }
    listing->waits[listing->wait_count] = (struct yk_op_wait){from, rounds > 0 ? 1 : 0};
    listing->next[listing->wait_count] = listing->first[to];
    listing->first[to] = listing->wait_count++;
}

static yk_status note_all(struct listing *listing)
{
    struct yk_draw *draw = listing->draw;
    const struct yk_precedences *demands = &draw->demands[listing->rank];
    const int64_t most = (int64_t)demands->count + listing->old->wait_count;
    YK_TRY_NEW(draw->arena, listing->first, listing->old->op_count);
    YK_TRY_NEW(draw->arena, listing->next, most);
    YK_TRY_NEW(draw->arena, listing->waits, most);
    for (int32_t i = 0; i < listing->old->op_count; i++) {
        listing->first[i] = -1;
    }
    for (int32_t d = 0; d < demands->count; d++) {
        const struct yk_demand *demand = &demands->items[d];
        note(listing, demand->before, demand->after, demand->lag);
    }
    for (int32_t i = 0; i < listing->old->op_count; i++) {
        const struct yk_op *op = &listing->old->ops[i];
        for (int32_t w = 0; w < op->wait_count; w++) {
            const struct yk_op_wait *wait = &listing->old->waits[op->first_wait + w];
            if (yk_random_uniform(&draw->random) < listing->mood->kept_waits) {
                note(listing, wait->op, i, wait->lag);
            }
        }
    }
    return YK_OK;
}

/* Of what an op needs on one other lane, the last is enough. */
static yk_status put_waits(struct listing *listing, struct yk_arena *arena)
{
    struct yk_program_rank *list = listing->list;
    YK_TRY_NEW(arena, list->waits, (int64_t)list->op_count * (YK_LANE_COUNT - 1));
    for (int32_t i = 0; i < list->op_count; i++) {
        struct yk_op_wait last[YK_LANE_COUNT] = {{-1, 0}, {-1, 0}, {-1, 0}};
        for (int32_t w = listing->first[i]; w >= 0; w = listing->next[w]) {
            const struct yk_op_wait wait = listing->waits[w];
            struct yk_op_wait *known = &last[list->ops[wait.op].lane];
            if (known->op < 0 || wait.lag < known->lag ||
                (wait.lag == known->lag && wait.op > known->op)) {
                *known = wait;
            }
        }
        list->ops[i].first_wait = list->wait_count;
        for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
            if (last[lane].op >= 0) {
                list->waits[list->wait_count++] = last[lane];
            }
        }
        list->ops[i].wait_count = list->wait_count - list->ops[i].first_wait;
    }
    return YK_OK;
}

static int64_t position_of(const struct yk_rank_view *view, struct yk_op_wait wait)
{
    const int32_t lane = (int32_t)view->list->ops[wait.op].lane;
    return view->position[wait.op] - (int64_t)wait.lag * view->lane_count[lane];
}

/* True when `known`, which the same op waits for, ended after `wait` had. */
static bool is_implied(const struct yk_rank_view *view, struct yk_op_wait wait,
                       struct yk_op_wait known)
{
    const int32_t lane = (int32_t)view->list->ops[wait.op].lane;
    const int64_t there = view->known[(int64_t)known.op * YK_LANE_COUNT + lane];
    return position_of(view, wait) <= there - (int64_t)known.lag * view->lane_count[lane];
}

/* Half of the waits that say nothing new are left out. What an op knows stays the same, so that one
 * may be left out for the sake of another that is left out, too. */
static yk_status thin_out(struct yk_draw *draw, const struct yk_facts *facts, int32_t rank)
{
    struct yk_program_rank *list = &facts->program->ranks[rank];
    struct yk_rank_view *view = NULL;
    int32_t previous[YK_LANE_COUNT] = {-1, -1, -1};
    YK_TRY(yk_rank_view_make(facts, rank, draw->arena, &view));
    for (int32_t i = 0; i < list->op_count; i++) {
        struct yk_op *op = &list->ops[i];
        struct yk_op_wait all[YK_LANE_COUNT];
        int32_t count = 0;
        for (int32_t w = 0; w < op->wait_count; w++) {
            all[count++] = list->waits[op->first_wait + w];
        }
        if (previous[op->lane] >= 0) {
            all[count++] = (struct yk_op_wait){previous[op->lane], 0};
        }
        int32_t kept = 0;
        for (int32_t w = 0; w < op->wait_count; w++) {
            bool implied = false;
            for (int32_t k = 0; k < count; k++) {
                implied = implied || (k != w && is_implied(view, all[w], all[k]));
            }
            if (!implied || yk_random_below(&draw->random, 2) == 0) {
                list->waits[op->first_wait + kept++] = all[w];
            }
        }
        op->wait_count = kept;
        previous[op->lane] = i;
    }
    return YK_OK;
}

yk_status yk_draw_lists(struct yk_draw *draw, const struct yk_draw_mood *mood,
                        struct yk_program *program)
{
    struct yk_facts *facts = NULL;
    YK_TRY_NEW(program->arena, program->ranks, program->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        struct listing listing = {
            .draw = draw,
            .mood = mood,
            .rank = r,
            .old = &draw->program->ranks[r],
            .list = &program->ranks[r],
        };
        YK_TRY(place_ops(&listing, program->arena));
        YK_TRY(note_all(&listing));
        YK_TRY(put_waits(&listing, program->arena));
    }
    YK_TRY(yk_facts_make(program, draw->arena, &facts));
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(thin_out(draw, facts, r));
    }
    return YK_OK;
}
