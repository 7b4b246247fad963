/*
 * Draw: the parts of program/shuffle. A program is taken apart into nodes (a communication on all
 * its ranks is one, every other op is one) and what must end before what; steps, an order and waits
 * are drawn by chance within that, and lists made of them.
 */
#ifndef YK_PROGRAM_DRAW_H
#define YK_PROGRAM_DRAW_H

#include "base/random.h"
#include "program/check/precedence.h"
#include "program/program.h"

struct yk_draw_edge {
    int32_t before; /* nodes */
    int32_t after;
    int32_t lag; /* with the steps of the original */
};

struct yk_draw {
    const struct yk_program *program;
    struct yk_arena *arena;
    struct yk_random random;
    struct yk_facts *facts;
    struct yk_rank_view **views;    /* (ranks) */
    struct yk_precedences *demands; /* (ranks) free with yk_draw_free() */
    int32_t **nodes;                /* (ranks, ops) */
    int32_t node_count;
    const struct yk_op **ops;   /* (nodes) one of the node's ops */
    double *places;             /* (nodes) in the round, from 0 to 1 */
    struct yk_draw_edge *edges; /* all demands */
    int32_t edge_count;
    int32_t *first_edge; /* (nodes + 1) in `edges_of` */
    int32_t *edges_of;   /* (2 · edges) numbers of the edges that a node is in */
    /* What is drawn. */
    int8_t *shift; /* (nodes) how many steps later an op is for than in the original */
    double *keys;  /* (nodes) smaller ones go first where they can */
    int32_t *turn; /* (nodes) place in the order */
};

/* How wild a draw is. */
struct yk_draw_mood {
    double spread;     /* how far ops go from their place, of a round */
    double kept_waits; /* chance that a wait of the original stays where it can */
    bool steps;        /* ops may change into neighbouring steps */
};

/* Takes a program apart that yk_program_check() passes. Free with yk_draw_free(), also on failure;
 * the arena is the caller's. */
yk_status yk_draw_make(const struct yk_program *program, uint64_t seed, struct yk_arena *arena,
                       struct yk_draw *out) YK_MUST_USE;
void yk_draw_free(struct yk_draw *draw);

/* The lag of an edge with the steps as drawn. */
static inline int32_t yk_draw_lag(const struct yk_draw *draw, const struct yk_draw_edge *edge)
{
    return edge->lag + draw->shift[edge->before] - draw->shift[edge->after];
}

/* Draws steps and keys. */
void yk_draw_steps(struct yk_draw *draw, const struct yk_draw_mood *mood);

/* Puts the nodes in an order: none before what must end before it. */
yk_status yk_draw_order(struct yk_draw *draw) YK_MUST_USE;

/* Fills the ranks of `program`, a copy of the original without them. */
yk_status yk_draw_lists(struct yk_draw *draw, const struct yk_draw_mood *mood,
                        struct yk_program *program) YK_MUST_USE;

#endif
