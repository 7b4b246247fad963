/*
 * Lookahead HEFT (Bittencourt, Sakellariou, Madeira, 2010), one level: a task is tried on every
 * device. For each device its children are placed in rank order, each with the earliest finish. The
 * task goes to the device for which the last child finishes earliest.
 *
 * A child may have many inputs. To avoid visiting all of them for each device, a row per task
 * stores when the data of the placed inputs arrives on each device; only the tried task is added to
 * it. If a child is also a child of a sibling, all its inputs are visited.
 */
#include "sched/scheduler.h"
#include "sched/schedulers/list_scheduler.h"
#include "sched/task_rank.h"

#include <string.h>

struct child {
    int32_t task;
    int32_t edge;     /* the slowest of those that lead to it */
    bool has_sibling; /* another child of the same task is an input of it */
};

/* Whose child a task is, and at which place. */
struct mark {
    int32_t parent;
    int32_t place;
};

/* Every task's children in rank order, each once. */
struct families {
    const int32_t *first;   /* (n) places in `children`: those of the graph's edges */
    int32_t *count;         /* (n) */
    struct child *children; /* (edges) */
    int64_t *rows;          /* (n, P) when the inputs placed for good are on each device */
    int64_t *child_ready;   /* (P) room for those of a child */
};

/* Tasks in falling rank add themselves to their parents' lists, which are then in rank order. */
static void list_children(const struct yk_graph *graph, const int32_t *order,
                          struct families *families)
{
    for (int32_t k = 0; k < graph->task_count; k++) {
        const int32_t task = order[k];
        for (int32_t j = graph->in_first[task]; j < graph->in_first[task + 1]; j++) {
            const int32_t parent = graph->inputs[j].from;
            struct child *list = &families->children[graph->out_first[parent]];
            const int32_t last = families->count[parent] - 1;
            if (last < 0 || list[last].task != task) {
                list[last + 1] = (struct child){task, graph->inputs[j].edge, false};
                families->count[parent]++;
            } else {
                list[last].has_sibling = true; /* parallel edges: all inputs are looked at */
            }
        }
    }
}

/* Whether the children have fewer inputs than outputs, all together. */
static bool inputs_are_fewer(const struct yk_graph *graph, const struct child *children,
                             int32_t count)
{
    int64_t difference = 0;
    for (int32_t c = 0; c < count; c++) {
        const int32_t task = children[c].task;
        difference += graph->in_first[task + 1] - graph->in_first[task];
        difference -= graph->out_first[task + 1] - graph->out_first[task];
    }
    return difference < 0;
}

/* Finds the children that have another child of `task` among their inputs: going along the inputs
 * or along the outputs of all, whichever are fewer. There is room for a mark for each task. */
static void find_siblings(const struct yk_graph *graph, struct families *families, int32_t task,
                          struct mark *marks)
{
    struct child *children = &families->children[families->first[task]];
    const int32_t count = families->count[task];
    if (count < 2) {
        return;
    }
    for (int32_t c = 0; c < count; c++) {
        marks[children[c].task] = (struct mark){task, c};
    }
    const bool by_inputs = inputs_are_fewer(graph, children, count);
    for (int32_t c = 0; c < count; c++) {
        const int32_t child = children[c].task;
        for (int32_t k = graph->in_first[child]; by_inputs && k < graph->in_first[child + 1]; k++) {
            if (marks[graph->inputs[k].from].parent == task) {
                children[c].has_sibling = true;
            }
        }
        for (int32_t e = graph->out_first[child]; !by_inputs && e < graph->out_first[child + 1];
             e++) {
            const struct mark mark = marks[graph->edges[e].to];
            if (mark.parent == task) {
                children[mark.place].has_sibling = true;
            }
        }
    }
}

/* When the inputs of a child are on each device, the task being tried included. */
static const int64_t *child_ready(struct yk_schedule_builder *builder,
                                  const struct families *families, const struct child *child,
                                  struct yk_schedule_slot slot)
{
    const struct yk_graph *graph = builder->graph;
    const int32_t P = graph->device_count;
    if (child->has_sibling) {
        return yk_schedule_builder_compute_ready_times(builder, child->task);
    }
    const struct yk_graph_edge *edge = &graph->edges[child->edge];
    const struct yk_graph_incoming_edge input = {edge->cost, edge->from, child->edge};
    memcpy(families->child_ready, &families->rows[(int64_t)child->task * P],
           (size_t)P * sizeof *families->child_ready);
    yk_schedule_builder_raise_ready_times(graph, &input, slot.device, slot.finish,
                                          families->child_ready);
    return families->child_ready;
}

/* The last finish of the children of `task` when it takes `slot`; its own when it has none. */
static int64_t try_slot(struct yk_schedule_builder *builder, const struct families *families,
                        int32_t task, struct yk_schedule_slot slot)
{
    const struct child *children = &families->children[families->first[task]];
    int64_t last = slot.finish;
    yk_schedule_builder_place(builder, task, slot);
    for (int32_t c = 0; c < families->count[task]; c++) {
        const int64_t *ready = child_ready(builder, families, &children[c], slot);
        const struct yk_schedule_slot child_slot =
            yk_schedule_builder_find_slot_from_ready(builder, children[c].task, ready);
        yk_schedule_builder_place(builder, children[c].task, child_slot);
        last = child_slot.finish > last ? child_slot.finish : last;
    }
    for (int32_t placed = families->count[task] + 1; placed > 0; placed--) {
        yk_schedule_builder_undo_last_place(builder);
    }
    return last;
}

static yk_status prepare(struct yk_schedule_builder *builder, int64_t *priorities, void **state)
{
    const struct yk_graph *graph = builder->graph;
    const int32_t n = graph->task_count;
    struct families *families = NULL;
    int32_t *order = NULL;
    struct mark *marks = NULL;
    YK_TRY_NEW(builder->arena, families, 1);
    YK_TRY_NEW(builder->arena, families->count, n);
    YK_TRY_NEW(builder->arena, families->children, graph->edge_count);
    YK_TRY_NEW(builder->arena, families->rows, (int64_t)n * graph->device_count);
    YK_TRY_NEW(builder->arena, families->child_ready, graph->device_count);
    YK_TRY_NEW(builder->arena, order, n);
    YK_TRY_NEW(builder->arena, marks, n);
    families->first = graph->out_first;
    yk_task_rank_compute_upward(graph, false, priorities);
    YK_TRY(yk_task_rank_order_by_priority(graph, priorities, builder->arena, order));
    list_children(graph, order, families);
    memset(marks, 0xff, (size_t)n * sizeof *marks);
    for (int32_t i = 0; i < n; i++) {
        find_siblings(graph, families, i, marks);
    }
    *state = families;
    return YK_OK;
}

/* The task is placed for good: its children may count on it. */
static void update_children(const struct yk_graph *graph, const struct families *families,
                            int32_t task, struct yk_schedule_slot slot)
{
    for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        const struct yk_graph_incoming_edge input = {edge->cost, edge->from, e};
        yk_schedule_builder_raise_ready_times(
            graph, &input, slot.device, slot.finish,
            &families->rows[(int64_t)edge->to * graph->device_count]);
    }
}

static struct yk_schedule_slot choose(struct yk_schedule_builder *builder, void *state,
                                      int32_t task)
{
    const struct families *families = state;
    const int32_t P = builder->graph->device_count;
    const int64_t *ready = &families->rows[(int64_t)task * P];
    struct yk_schedule_slot best = {YK_SCHEDULE_NO_DEVICE, 0, 0};
    int64_t best_last = INT64_MAX;
    for (int32_t p = 0; p < P; p++) {
        if (!yk_schedule_builder_allows_device(builder, task, p)) {
            continue;
        }
        const struct yk_schedule_slot slot =
            yk_schedule_builder_find_slot_on_device(builder, task, p, ready[p]);
        const int64_t last = try_slot(builder, families, task, slot);
        if (last < best_last || (last == best_last && slot.finish < best.finish)) {
            best = slot;
            best_last = last;
        }
    }
    update_children(builder->graph, families, task, best);
    return best;
}

static const struct yk_list_scheduler_rule rule = {.prepare = prepare, .choose = choose};

const struct yk_scheduler yk_scheduler_lookahead = {
    .name = "lookahead",
    .summary = "heft, looking one level of children ahead",
    .run = yk_list_scheduler_run,
    .rule = &rule,
};
