#include "program/program.h"

#include "base/number.h"
#include "base/priority_queue.h"
#include "base/random.h"
#include "program/check/precedence.h"
#include "program/compile/step_ops.h"

#include <stdlib.h>
#include <string.h>

/*
 * Shuffle: the program becomes a graph. A node is one communication with its ops on all ranks, or
 * one other op. Edges are the precedences. Random training steps, a random order and random waits
 * are drawn such that all precedences hold; then the op lists are made from them.
 */

struct edge {
    int32_t before; /* nodes */
    int32_t after;
    int32_t lag; /* in the original program */
};

struct draw {
    const struct yk_program *program;
    struct yk_arena *arena;
    struct yk_random random;
    struct yk_program_facts *facts;
    struct yk_precedences *precedences; /* (ranks) */
    int32_t **nodes;                    /* (ranks, ops) */
    int32_t node_count;
    const struct yk_op **ops; /* (nodes) one of the node's ops */
    double *places;           /* (nodes) position in the original list, from 0 to 1 */
    struct edge *edges;       /* all precedences */
    int32_t edge_count;
    int32_t *first_edge; /* (nodes + 1) index in `edges_of` */
    int32_t *edges_of;   /* (2 · edges) the edges of each node */
    /* Random results: */
    int8_t *shift;     /* (nodes) change of the op's `step` */
    double *keys;      /* (nodes) nodes with small keys come early */
    int32_t *position; /* (nodes) position in the new order */
};

/* How strongly a draw changes the program. */
struct intensity {
    double spread;     /* how far ops move, as a fraction of the list */
    double kept_waits; /* probability that a wait of the original is kept if possible */
    bool steps;        /* ops may move to neighbouring training steps */
};

/* The lag of an edge with the drawn steps. */
static int32_t edge_lag(const struct draw *draw, const struct edge *edge)
{
    return edge->lag + draw->shift[edge->before] - draw->shift[edge->after];
}

static yk_status number_nodes(struct draw *draw)
{
    const struct yk_program *program = draw->program;
    int64_t count = program->match_count;
    YK_TRY_NEW(draw->arena, draw->nodes, program->rank_count);
    draw->node_count = program->match_count;
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_list *list = &program->ranks[r];
        YK_TRY_NEW(draw->arena, draw->nodes[r], list->op_count);
        count += list->op_count;
        for (int32_t i = 0; i < list->op_count; i++) {
            const int32_t match = list->ops[i].match;
            draw->nodes[r][i] = match != YK_OP_NO_MATCH ? match : draw->node_count++;
        }
    }
    YK_TRY_NEW(draw->arena, draw->ops, count);
    YK_TRY_NEW(draw->arena, draw->places, count);
    YK_TRY_NEW(draw->arena, draw->shift, count);
    YK_TRY_NEW(draw->arena, draw->keys, count);
    YK_TRY_NEW(draw->arena, draw->position, count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_list *list = &program->ranks[r];
        for (int32_t i = 0; i < list->op_count; i++) {
            draw->ops[draw->nodes[r][i]] = &list->ops[i];
            draw->places[draw->nodes[r][i]] = (double)i / list->op_count;
        }
    }
    return YK_OK;
}

static yk_status find_precedences(struct draw *draw)
{
    const struct yk_program *program = draw->program;
    int64_t count = 0;
    YK_TRY_NEW(draw->arena, draw->precedences, program->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        struct yk_op_index *index = NULL;
        YK_TRY(yk_op_index_make_with_order(draw->facts, r, draw->arena, &index));
        YK_TRY(yk_precedences_find_all(index, draw->arena, &draw->precedences[r]));
        count += draw->precedences[r].count;
    }
    YK_TRY_NEW(draw->arena, draw->edges, count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        for (int32_t d = 0; d < draw->precedences[r].count; d++) {
            const struct yk_precedence *precedence = &draw->precedences[r].items[d];
            draw->edges[draw->edge_count++] =
                (struct edge){.before = draw->nodes[r][precedence->before],
                              .after = draw->nodes[r][precedence->after],
                              .lag = precedence->lag};
        }
    }
    return YK_OK;
}

static yk_status join_nodes(struct draw *draw)
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

/* The program must pass yk_program_check(). The caller frees the precedences, also on failure. */
static yk_status make_draw(const struct yk_program *program, uint64_t seed, struct yk_arena *arena,
                           struct draw *out)
{
    *out = (struct draw){
        .program = program,
        .arena = arena,
        .random = yk_random_from_seed(seed),
    };
    YK_TRY(yk_program_facts_make(program, arena, &out->facts));
    YK_TRY(number_nodes(out));
    YK_TRY(find_precedences(out));
    return join_nodes(out);
}

/* The other possible step of an op: gathers and loads may run one iteration ahead; reductions,
 * updates and releases one iteration late. */
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
    default:
        return op->step;
    }
}

/* Tries to change the step of a node. A node that changes moves to the other end of the list. */
static void try_step(struct draw *draw, int32_t node)
{
    const struct yk_op *op = draw->ops[node];
    if (!op) {
        return; /* no op has this match number */
    }
    const int8_t change = (int8_t)(other_step(op) - op->step);
    draw->shift[node] = change;
    for (int32_t i = draw->first_edge[node]; i < draw->first_edge[node + 1]; i++) {
        if (edge_lag(draw, &draw->edges[draw->edges_of[i]]) < 0) {
            draw->shift[node] = 0;
            return;
        }
    }
    if (change != 0) {
        draw->keys[node] = (change > 0 ? 0.5 : 0) + yk_random_uniform(&draw->random) / 2;
    }
}

static void draw_steps(struct draw *draw, const struct intensity *intensity)
{
    for (int32_t n = 0; n < draw->node_count; n++) {
        draw->shift[n] = 0;
        draw->keys[n] = draw->places[n];
    }
    /* In random order, since a change may make other changes possible. */
    const int32_t tries = intensity->steps && draw->node_count > 0 ? 2 * draw->node_count : 0;
    for (int32_t i = 0; i < tries; i++) {
        const int32_t node = (int32_t)yk_random_below(&draw->random, draw->node_count);
        if (draw->shift[node] == 0 && yk_random_below(&draw->random, 2) == 0) {
            try_step(draw, node);
        }
    }
    for (int32_t n = 0; n < draw->node_count; n++) {
        draw->keys[n] += intensity->spread * (2 * yk_random_uniform(&draw->random) - 1);
    }
}

/* Draws a topological order of the nodes. */
static yk_status draw_order(struct draw *draw)
{
    struct yk_priority_queue ready;
    int32_t *blocked = NULL; /* (nodes) number of predecessors without a position */
    double key = 0;
    YK_TRY(yk_priority_queue_create(draw->arena, draw->node_count, &ready));
    YK_TRY_NEW(draw->arena, blocked, draw->node_count);
    for (int32_t e = 0; e < draw->edge_count; e++) {
        blocked[draw->edges[e].after] += edge_lag(draw, &draw->edges[e]) == 0 ? 1 : 0;
    }
    for (int32_t n = 0; n < draw->node_count; n++) {
        if (blocked[n] == 0) {
            yk_priority_queue_insert_or_update(&ready, n, draw->keys[n]);
        }
    }
    /* Every cycle of precedences has a positive sum of lags, so no node is left over. */
    for (int32_t position = 0; ready.count > 0; position++) {
        const int32_t node = yk_priority_queue_pop(&ready, &key);
        draw->position[node] = position;
        for (int32_t i = draw->first_edge[node]; i < draw->first_edge[node + 1]; i++) {
            const struct edge *edge = &draw->edges[draw->edges_of[i]];
            if (edge->before == node && edge_lag(draw, edge) == 0 && --blocked[edge->after] == 0) {
                yk_priority_queue_insert_or_update(&ready, edge->after, draw->keys[edge->after]);
            }
        }
    }
    return YK_OK;
}

/* The new list of one rank. */
struct listing {
    struct draw *draw;
    const struct intensity *intensity;
    int32_t rank;
    const struct yk_op_list *old;
    struct yk_op_list *list;
    int32_t *numbers; /* (ops) from old to new op numbers */
};

struct placed {
    int32_t position;
    int32_t op;
};

static int by_position(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    return yk_number_compare(a->position, b->position);
}

static yk_status place_ops(struct listing *listing, struct yk_arena *arena)
{
    const struct draw *draw = listing->draw;
    const int32_t n = listing->old->op_count;
    struct placed *placed = NULL;
    YK_TRY_NEW(draw->arena, placed, n);
    YK_TRY_NEW(draw->arena, listing->numbers, n);
    YK_TRY_NEW(arena, listing->list->ops, n);
    YK_TRY_NEW(arena, listing->list->waits, (int64_t)n * (YK_LANE_COUNT - 1));
    for (int32_t i = 0; i < n; i++) {
        placed[i] = (struct placed){draw->position[draw->nodes[listing->rank][i]], i};
    }
    if (n > 0) {
        qsort(placed, (size_t)n, sizeof *placed, by_position);
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t old = placed[i].op;
        struct yk_op *op = &listing->list->ops[i];
        listing->numbers[old] = i;
        *op = listing->old->ops[old];
        op->step = (int8_t)(op->step + draw->shift[draw->nodes[listing->rank][old]]);
        op->first_wait = i * (YK_LANE_COUNT - 1);
        op->wait_count = 0;
    }
    listing->list->op_count = n;
    listing->list->wait_count = n * (YK_LANE_COUNT - 1);
    return YK_OK;
}

/* Adds: old op `after` waits for old op `before` with this lag in the original. Ops of one lane
 * need no wait. */
static void note(struct listing *listing, int32_t before, int32_t after, int32_t lag)
{
    const struct draw *draw = listing->draw;
    const int32_t *nodes = draw->nodes[listing->rank];
    const int32_t rounds = lag + draw->shift[nodes[before]] - draw->shift[nodes[after]];
    const int32_t from = listing->numbers[before];
    const int32_t to = listing->numbers[after];
    const struct yk_op *ops = listing->list->ops;
    if (ops[from].lane != ops[to].lane && (rounds > 0 || (rounds == 0 && from < to))) {
        yk_op_waits_add(listing->list, to, from, rounds > 0 ? 1 : 0);
    }
}

static void note_all(struct listing *listing)
{
    struct draw *draw = listing->draw;
    const struct yk_precedences *precedences = &draw->precedences[listing->rank];
    for (int32_t d = 0; d < precedences->count; d++) {
        const struct yk_precedence *precedence = &precedences->items[d];
        note(listing, precedence->before, precedence->after, precedence->lag);
    }
    for (int32_t i = 0; i < listing->old->op_count; i++) {
        const struct yk_op *op = &listing->old->ops[i];
        for (int32_t w = 0; w < op->wait_count; w++) {
            const struct yk_op_wait *wait = &listing->old->waits[op->first_wait + w];
            if (yk_random_uniform(&draw->random) < listing->intensity->kept_waits) {
                note(listing, wait->op, i, wait->lag);
            }
        }
    }
}

static int64_t position_of(const struct yk_op_index *index, struct yk_op_wait wait)
{
    const int32_t lane = (int32_t)index->list->ops[wait.op].lane;
    return index->lanes.position[wait.op] - (int64_t)wait.lag * index->lanes.count[lane];
}

/* True if `wait` has always ended when `known` has, which the same op waits for. */
static bool is_implied(const struct yk_op_index *index, struct yk_op_wait wait,
                       struct yk_op_wait known)
{
    const int32_t lane = (int32_t)index->list->ops[wait.op].lane;
    const int64_t there = index->ended[(int64_t)known.op * YK_LANE_COUNT + lane];
    return position_of(index, wait) <= there - (int64_t)known.lag * index->lanes.count[lane];
}

/* Removes half of the redundant waits at random. A wait is redundant if another wait, or the
 * preceding op of the lane, implies it. Since implications do not change, both may be removed. */
static yk_status thin_out(struct draw *draw, const struct yk_program_facts *facts, int32_t rank)
{
    struct yk_op_list *list = &facts->program->ranks[rank];
    struct yk_op_index *index = NULL;
    int32_t previous[YK_LANE_COUNT] = {-1, -1, -1};
    YK_TRY(yk_op_index_make_with_order(facts, rank, draw->arena, &index));
    for (int32_t i = 0; i < list->op_count; i++) {
        struct yk_op *op = &list->ops[i];
        struct yk_op_wait all[YK_LANE_COUNT];
        int32_t count = 0;
        for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
            for (int32_t w = 0; w < op->wait_count; w++) {
                const struct yk_op_wait wait = list->waits[op->first_wait + w];
                if ((int32_t)list->ops[wait.op].lane == lane) {
                    all[count++] = wait;
                }
            }
        }
        if (previous[op->lane] >= 0) {
            all[count++] = (struct yk_op_wait){previous[op->lane], 0};
        }
        int32_t kept = 0;
        for (int32_t w = 0; w < op->wait_count; w++) {
            bool implied = false;
            for (int32_t k = 0; k < count; k++) {
                implied = implied || (k != w && is_implied(index, all[w], all[k]));
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

/* Fills the ranks of `program`, a copy of the original without them. */
static yk_status draw_lists(struct draw *draw, const struct intensity *intensity,
                            struct yk_program *program)
{
    struct yk_program_facts *facts = NULL;
    YK_TRY_NEW(program->arena, program->ranks, program->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        struct listing listing = {
            .draw = draw,
            .intensity = intensity,
            .rank = r,
            .old = &draw->program->ranks[r],
            .list = &program->ranks[r],
        };
        YK_TRY(place_ops(&listing, program->arena));
        note_all(&listing);
    }
    YK_TRY(yk_program_facts_make(program, draw->arena, &facts));
    for (int32_t r = 0; r < program->rank_count; r++) {
        YK_TRY(thin_out(draw, facts, r));
    }
    return YK_OK;
}

/* The strongest first: if memory is short, only weak ones may fit. The last one changes only the
 * order between ranks. */
static const struct intensity intensities[] = {
    {.spread = 1, .kept_waits = 0, .steps = true},
    {.spread = 0.2, .kept_waits = 0.5, .steps = true},
    {.spread = 0.05, .kept_waits = 1, .steps = true},
    {.spread = 0.02, .kept_waits = 1, .steps = false},
    {.spread = 0, .kept_waits = 1, .steps = false},
};

static yk_status copy_frame(const struct yk_program *program, struct yk_program *copy)
{
    const int32_t L = program->plan->layer_count;
    YK_TRY_NEW(copy->arena, copy->layers, L);
    YK_TRY_NEW(copy->arena, copy->buckets, program->bucket_count);
    memcpy(copy->layers, program->layers, (size_t)L * sizeof *copy->layers);
    for (int32_t b = 0; b < program->bucket_count; b++) {
        struct yk_gradient_bucket *bucket = &copy->buckets[b];
        *bucket = program->buckets[b];
        YK_TRY_NEW(copy->arena, bucket->layers, bucket->layer_count);
        memcpy(bucket->layers, program->buckets[b].layers,
               (size_t)bucket->layer_count * sizeof *bucket->layers);
    }
    return YK_OK;
}

/* Copies a program without its op lists. */
static yk_status make_frame(const struct yk_program *program, struct yk_program **out)
{
    struct yk_program *copy = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(copy);
    struct yk_arena *arena = copy->arena;
    *copy = *program;
    copy->arena = arena;
    copy->ranks = NULL;
    YK_TRY_OR_CLEAN_UP(copy_frame(program, copy), yk_program_destroy(copy));
    *out = copy;
    return YK_OK;
}

static yk_status copy_lists(const struct yk_program *program, struct yk_program *copy)
{
    YK_TRY_NEW(copy->arena, copy->ranks, copy->rank_count);
    for (int32_t r = 0; r < program->rank_count; r++) {
        const struct yk_op_list *from = &program->ranks[r];
        struct yk_op_list *list = &copy->ranks[r];
        *list = *from;
        YK_TRY_NEW(copy->arena, list->ops, from->op_count);
        YK_TRY_NEW(copy->arena, list->waits, from->wait_count);
        memcpy(list->ops, from->ops, (size_t)from->op_count * sizeof *list->ops);
        memcpy(list->waits, from->waits, (size_t)from->wait_count * sizeof *list->waits);
    }
    return YK_OK;
}

/* `*out` stays NULL if the drawn program does not pass the check. */
static yk_status try_intensity(struct draw *draw, const struct intensity *intensity,
                               struct yk_program **out)
{
    struct yk_program *program = NULL;
    YK_TRY(make_frame(draw->program, &program));
    draw_steps(draw, intensity);
    yk_status status = draw_order(draw);
    YK_IF_OK(draw_lists(draw, intensity, program));
    if (status == YK_OK && yk_program_check(program) == YK_OK) {
        *out = program;
        return YK_OK;
    }
    yk_program_destroy(program);
    return status;
}

static yk_status shuffle(struct draw *draw, struct yk_program **out)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof intensities / sizeof intensities[0]; i++) {
        YK_TRY(try_intensity(draw, &intensities[i], out));
        if (*out) {
            return YK_OK;
        }
    }
    struct yk_program *same = NULL;
    YK_TRY(make_frame(draw->program, &same));
    YK_TRY_OR_CLEAN_UP(copy_lists(draw->program, same), yk_program_destroy(same));
    *out = same;
    return YK_OK;
}

yk_status yk_program_shuffle(const struct yk_program *program, uint64_t seed,
                             struct yk_program **out)
{
    struct yk_arena *arena = NULL;
    struct draw draw = {0};
    YK_TRY(yk_program_check(program));
    YK_TRY(yk_arena_create(&arena));
    yk_status status = make_draw(program, seed, arena, &draw);
    YK_IF_OK(shuffle(&draw, out));
    for (int32_t r = 0; draw.precedences && r < program->rank_count; r++) {
        yk_precedences_free(&draw.precedences[r]);
    }
    yk_arena_destroy(arena);
    return status;
}
