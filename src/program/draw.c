#include "program/draw.h"

#include <stdlib.h>

static yk_status number_nodes(struct yk_draw *draw)
{
    const struct yk_program *program = draw->program;
    int64_t count = program->match_count;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(draw->arena, draw->nodes, program->rank_count);
    draw->node_count = program->match_count;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_program_rank *list = &program->ranks[r];
        YK_TRY_NEW(draw->arena, draw->nodes[r], list->op_count);
        count += list->op_count;
        for (int32_t i = 0; i < list->op_count; i++) {
            const int32_t match = list->ops[i].match;
            draw->nodes[r][i] = match != YK_NO_MATCH ? match : draw->node_count++;
        }
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(draw->arena, draw->ops, count);
    YK_TRY_NEW(draw->arena, draw->places, count);
    YK_TRY_NEW(draw->arena, draw->shift, count);
    YK_TRY_NEW(draw->arena, draw->keys, count);
    YK_TRY_NEW(draw->arena, draw->turn, count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_program_rank *list = &program->ranks[r];
        for (int32_t i = 0; i < list->op_count; i++) {
            draw->ops[draw->nodes[r][i]] = &list->ops[i];
            draw->places[draw->nodes[r][i]] = (double)i / list->op_count;
        }
    }
    return YK_OK;
}

static yk_status find_demands(struct yk_draw *draw)
{
    const struct yk_program *program = draw->program;
    int64_t count = 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(draw->arena, draw->views, program->rank_count);
    YK_TRY_NEW(draw->arena, draw->demands, program->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(yk_rank_view_make(draw->facts, r, draw->arena, &draw->views[r]));
        YK_TRY(yk_precedences_find(draw->views[r], draw->arena, &draw->demands[r]));
        count += draw->demands[r].count;
    }
    YK_TRY_NEW(draw->arena, draw->edges, count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        for (int32_t d = 0; d < draw->demands[r].count; d++) {
            const struct yk_demand *demand = &draw->demands[r].items[d];
            draw->edges[draw->edge_count++] =
                (struct yk_draw_edge){.before = draw->nodes[r][demand->before],
                                      .after = draw->nodes[r][demand->after],
                                      .lag = demand->lag};
        }
    }
    return YK_OK;
}

static yk_status join_nodes(struct yk_draw *draw)
{
    YK_TRY_NEW(draw->arena, draw->first_edge, draw->node_count + 2);
    YK_TRY_NEW(draw->arena, draw->edges_of, (int64_t)2 * draw->edge_count);
    int32_t *first = draw->first_edge + 1; /* moves on while nodes are filled */
    for (int32_t e = 0; e < draw->edge_count; e++) {
        first[draw->edges[e].before + 1]++;
        first[draw->edges[e].after + 1]++;
    }
    for (int32_t n = 0; n < draw->node_count; n++) {
        first[n + 1] += first[n];
    }
    for (int32_t e = 0; e < draw->edge_count; e++) {
        draw->edges_of[first[draw->edges[e].before]++] = e;
        draw->edges_of[first[draw->edges[e].after]++] = e;
    }
    return YK_OK;
}

yk_status yk_draw_make(const struct yk_program *program, uint64_t seed, struct yk_arena *arena,
                       struct yk_draw *out)
{
    *out = (struct yk_draw){
        .program = program,
        .arena = arena,
        .random = yk_random_from_seed(seed),
    };
    YK_TRY(yk_facts_make(program, arena, &out->facts));
    YK_TRY(number_nodes(out));
    YK_TRY(find_demands(out));
    return join_nodes(out);
}

void yk_draw_free(struct yk_draw *draw)
{
    for (int32_t r = 0; draw->demands && r < draw->program->rank_count; r++) {
        yk_precedences_free(&draw->demands[r]);
    }
    draw->demands = NULL;
}

/* Which way an op can change its step: a gather or a load may be done a round ahead, what ends a
 * step a round late. */
static int8_t other_step(const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_ALL_GATHER:
    case YK_OP_LOAD:
        return op->step == 0 ? 1 : 0;
    case YK_OP_REDUCE_SCATTER:
    case YK_OP_ALL_REDUCE:
    case YK_OP_UPDATE:
    case YK_OP_RELEASE:
        return op->step == 0 ? -1 : 0;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
    case YK_OP_SEND:
    case YK_OP_RECV:
    case YK_OP_AGREE:
    case YK_OP_KIND_COUNT:
    default:
        return op->step;
    }
}

/* An op that changes its step changes to the other end of the round as well. */
static void try_step(struct yk_draw *draw, int32_t node)
{
    const struct yk_op *op = draw->ops[node];
    if (!op) {
        return; /* a match that no op has */
    }
    const int8_t change = (int8_t)(other_step(op) - op->step);
    draw->shift[node] = change;
    for (int32_t i = draw->first_edge[node]; i < draw->first_edge[node + 1]; i++) {
        if (yk_draw_lag(draw, &draw->edges[draw->edges_of[i]]) < 0) {
            draw->shift[node] = 0;
            return;
        }
    }
    if (change != 0) {
        draw->keys[node] = (change > 0 ? 0.5 : 0) + yk_random_uniform(&draw->random) / 2;
    }
}

void yk_draw_steps(struct yk_draw *draw, const struct yk_draw_mood *mood)
{
    for (int32_t n = 0; n < draw->node_count; n++) {
        draw->shift[n] = 0;
        draw->keys[n] = draw->places[n];
    }
    /* In an order of chance, since one that has changed may let another follow. */
    const int32_t tries = mood->steps && draw->node_count > 0 ? 2 * draw->node_count : 0;
    for (int32_t i = 0; i < tries; i++) {
        const int32_t node = (int32_t)yk_random_below(&draw->random, draw->node_count);
        if (draw->shift[node] == 0 && yk_random_below(&draw->random, 2) == 0) {
            try_step(draw, node);
        }
    }
    for (int32_t n = 0; n < draw->node_count; n++) {
        draw->keys[n] += mood->spread * (2 * yk_random_uniform(&draw->random) - 1);
    }
}
