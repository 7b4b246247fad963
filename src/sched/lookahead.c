/*
 * Lookahead HEFT (Bittencourt, Sakellariou, Madeira, 2010), one level: a task is tried on every
 * device, its children are placed after it in rank order, each where it ends first, and the device
 * for which the last of them ends earliest is taken.
 */
#include "base/arena.h"
#include "sched/list.h"
#include "sched/rank.h"
#include "sched/schedulers.h"

#include <string.h>

/* Every task's children in rank order, each once: as out_first, but into `children`. */
struct families {
    int32_t *first;    /* (n + 1) */
    int32_t *children; /* (edges) */
    int64_t *ready;    /* (P) the ready times of the task being tried */
};

/* Tasks in falling rank add themselves to their parents' lists, which are then in rank order. */
static yk_status list_children(const struct yk_graph *graph, const int32_t *order,
                               struct yk_arena *arena, struct families *out)
{
    int32_t *filled = NULL;
    YK_TRY_NEW(arena, out->first, graph->task_count + 1);
    YK_TRY_NEW(arena, out->children, graph->edge_count);
    YK_TRY_NEW(arena, filled, graph->task_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        out->first[i] = graph->out_first[i];
    }
    for (int32_t k = 0; k < graph->task_count; k++) {
        const int32_t child = order[k];
        for (int32_t j = graph->in_first[child]; j < graph->in_first[child + 1]; j++) {
            const int32_t parent = graph->edges[graph->in_edges[j]].from;
            int32_t *list = &out->children[out->first[parent]];
            if (filled[parent] == 0 || list[filled[parent] - 1] != child) {
                list[filled[parent]++] = child;
            }
        }
    }
    /* Parallel edges leave room unused at the end of a list; -1 marks it. */
    for (int32_t i = 0; i < graph->task_count; i++) {
        for (int32_t c = out->first[i] + filled[i]; c < graph->out_first[i + 1]; c++) {
            out->children[c] = -1;
        }
    }
    out->first[graph->task_count] = graph->edge_count;
    return YK_OK;
}

/* The last finish of the children of `task` when it takes `slot`; its own when it has none. */
static int64_t try_slot(struct yk_draft *draft, const struct families *families, int32_t task,
                        struct yk_draft_slot slot)
{
    int64_t last = slot.finish;
    int32_t placed = 1;
    yk_draft_place(draft, task, slot);
    for (int32_t c = families->first[task]; c < families->first[task + 1]; c++) {
        const int32_t child = families->children[c];
        if (child < 0) {
            break;
        }
        const struct yk_draft_slot child_slot = yk_draft_best_slot(draft, child);
        yk_draft_place(draft, child, child_slot);
        placed++;
        last = child_slot.finish > last ? child_slot.finish : last;
    }
    for (; placed > 0; placed--) {
        yk_draft_take_back(draft);
    }
    return last;
}

static yk_status prepare(struct yk_draft *draft, int64_t *priorities, void **state)
{
    struct families *families = NULL;
    int32_t *order = NULL;
    YK_TRY_NEW(draft->arena, families, 1);
    YK_TRY_NEW(draft->arena, families->ready, draft->graph->device_count);
    YK_TRY_NEW(draft->arena, order, draft->graph->task_count);
    yk_rank_upward(draft->graph, priorities);
    YK_TRY(yk_rank_order(draft->graph, priorities, order));
    YK_TRY(list_children(draft->graph, order, draft->arena, families));
    *state = families;
    return YK_OK;
}

static struct yk_draft_slot choose(struct yk_draft *draft, void *state, int32_t task)
{
    const struct families *families = state;
    const int32_t P = draft->graph->device_count;
    /* Placing the children overwrites the draft's own ready times. */
    memcpy(families->ready, yk_draft_ready(draft, task), (size_t)P * sizeof *families->ready);
    struct yk_draft_slot best = {YK_DRAFT_NOWHERE, 0, 0};
    int64_t best_last = INT64_MAX;
    for (int32_t p = 0; p < P; p++) {
        if (!yk_draft_allows(draft, task, p)) {
            continue;
        }
        const struct yk_draft_slot slot = yk_draft_slot_on(draft, task, p, families->ready[p]);
        const int64_t last = try_slot(draft, families, task, slot);
        if (last < best_last || (last == best_last && slot.finish < best.finish)) {
            best = slot;
            best_last = last;
        }
    }
    return best;
}

static const struct yk_list_rule rule = {.name = "lookahead", .prepare = prepare, .choose = choose};

static yk_status run(const struct yk_scheduler_options *options, struct yk_schedule *schedule)
{
    return yk_list_run(&rule, NULL, options, schedule);
}

const struct yk_scheduler yk_scheduler_lookahead = {
    .name = "lookahead",
    .summary = "heft, looking one level of children ahead",
    .run = run,
};
