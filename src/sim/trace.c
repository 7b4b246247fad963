#include "sim/sim.h"

#include "base/number.h"

#include <stdbool.h>

enum {
    NO_EVENT = -1
};

struct drawing {
    const struct yk_sim_result *sim;
    struct yk_trace *trace;
    struct yk_text name;
    int32_t *sends;   /* (matches) the event of the send, or NO_EVENT */
    int32_t **events; /* (ranks), each (ops) */
};

/* An op that takes no time leaves no event. */
static yk_status add_op(struct drawing *drawing, int32_t rank, int32_t number)
{
    const struct yk_op *op = &drawing->sim->program->ranks[rank].ops[number];
    const struct yk_sim_rank_result *times = &drawing->sim->ranks[rank];
    int32_t *event = &drawing->events[rank][number];
    *event = NO_EVENT;
    if (!(times->end_s[number] > times->start_s[number])) {
        return YK_OK;
    }
    drawing->name.length = 0;
    yk_op_describe(drawing->sim->program, op, &drawing->name);
    YK_TRY(yk_text_status(&drawing->name));
    const struct yk_trace_event happened = {
        .rank = rank,
        .lane = op->lane,
        .op = yk_text_chars(&drawing->name),
        .start_s = times->start_s[number],
        .end_s = times->end_s[number],
        .bytes = op->bytes,
    };
    YK_TRY(yk_trace_add_event(drawing->trace, &happened, event));
    if (op->kind == YK_OP_SEND) {
        drawing->sends[op->match] = *event;
    }
    return YK_OK;
}

static yk_status add_rank(struct drawing *drawing, struct yk_arena *arena, int32_t rank)
{
    const struct yk_program *program = drawing->sim->program;
    const int32_t device = program->plan->ranks[rank].device;
    YK_TRY(yk_trace_add_rank(drawing->trace, program->cluster->devices[device].name));
    YK_TRY_NEW(arena, drawing->events[rank], program->ranks[rank].op_count);
    for (int32_t i = 0; i < program->ranks[rank].op_count; i++) {
        YK_TRY(add_op(drawing, rank, i));
    }
    return YK_OK;
}

/* Adds arrows from a send to the op that waits for its recv in the same iteration. */
static yk_status add_flows(const struct drawing *drawing, int32_t rank)
{
    const struct yk_op_list *list = &drawing->sim->program->ranks[rank];
    for (int32_t i = 0; i < list->op_count; i++) {
        const int32_t to = drawing->events[rank][i];
        for (int32_t k = 0; to != NO_EVENT && k < list->ops[i].wait_count; k++) {
            const struct yk_op_wait *wait = &list->waits[list->ops[i].first_wait + k];
            const struct yk_op *awaited = &list->ops[wait->op];
            const bool received = awaited->kind == YK_OP_RECV && wait->lag == 0;
            const int32_t from = received ? drawing->sends[awaited->match] : NO_EVENT;
            if (from != NO_EVENT) {
                YK_TRY(yk_trace_add_flow(drawing->trace, (struct yk_trace_flow){from, to}));
            }
        }
    }
    return YK_OK;
}

static yk_status draw(struct drawing *drawing, struct yk_arena *arena)
{
    const struct yk_program *program = drawing->sim->program;
    YK_TRY_NEW(arena, drawing->sends, program->match_count);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, drawing->events, program->rank_count);
    yk_number_fill_int32_array(drawing->sends, program->match_count, NO_EVENT);
    for (int32_t rank = 0; rank < program->rank_count; rank++) {
        YK_TRY(add_rank(drawing, arena, rank));
    }
    for (int32_t rank = 0; rank < program->rank_count; rank++) {
        YK_TRY(add_flows(drawing, rank));
    }
    return YK_OK;
}

yk_status yk_sim_make_trace(const struct yk_sim_result *sim, struct yk_trace **out)
{
    struct yk_arena *arena = NULL;
    struct drawing drawing = {.sim = sim};
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_trace_create(&drawing.trace);
    YK_IF_OK(draw(&drawing, arena));
    yk_text_free(&drawing.name);
    yk_arena_destroy(arena);
    YK_TRY_OR_CLEAN_UP(status, yk_trace_destroy(drawing.trace));
    *out = drawing.trace;
    return YK_OK;
}
