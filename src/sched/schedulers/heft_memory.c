/*
 * Memory-aware HEFT (HEFTM, arXiv 2503.22365) without eviction: HEFT, but a task may run on a
 * device only if the task, its inputs and its outputs fit into the memory at all times.
 *
 * It tries two orders and keeps the better schedule: by bottom level (BL, the upward rank of HEFT),
 * and by bottom level with the largest incoming edge of each task (BLC). If neither fits, it tries
 * to save memory: a depth-first order, which uses data soon after it is produced, and groups
 * assigned to devices in advance, largest resident bytes first.
 */
#include "base/number.h"
#include "sched/scheduler.h"
#include "sched/task_rank.h"
#include "sched/timeline/memory_aware_builder.h"
#include "sched/timeline/schedule_builder.h"

#include <stdlib.h>

enum {
    ORDER_COUNT = 3,
    PLAIN_ORDER_COUNT = 2
};

struct attempts {
    struct yk_schedule_builder *builder;
    struct yk_memory_aware_builder *fit;
    struct yk_schedule *best; /* makespan 0 until one was found */
    int32_t *orders[ORDER_COUNT];
    int32_t *packed; /* (groups) the device for each, or YK_SCHEDULE_NO_DEVICE for any */
    bool found;
    const struct yk_scheduler_options *options;
};

static yk_status make_orders(struct attempts *attempts)
{
    const struct yk_graph *graph = attempts->builder->graph;
    struct yk_arena *arena = attempts->builder->arena;
    int64_t *ranks = NULL;
    YK_TRY_NEW(arena, ranks, graph->task_count);
    for (int32_t i = 0; i < ORDER_COUNT; i++) {
        YK_TRY_NEW(arena, attempts->orders[i], graph->task_count);
    }
    yk_task_rank_compute_upward(graph, false, ranks);
    YK_TRY(yk_task_rank_order_by_priority(graph, ranks, arena, attempts->orders[0]));
    yk_task_rank_compute_upward(graph, true, ranks);
    YK_TRY(yk_task_rank_order_by_priority(graph, ranks, arena, attempts->orders[1]));
    return yk_task_rank_order_depth_first(graph, arena, attempts->orders[2]);
}

struct packing {
    int64_t bytes;
    int32_t group;
    int32_t member; /* some task of the group; -1 when it has none */
};

static int by_falling_bytes(const void *left, const void *right)
{
    const struct packing *a = left;
    const struct packing *b = right;
    const int order = yk_number_compare(b->bytes, a->bytes);
    return order != 0 ? order : yk_number_compare(a->group, b->group);
}

/* Assigns each group, largest first, to the device with the most free memory. */
static yk_status pack_groups(struct attempts *attempts)
{
    const struct yk_graph *graph = attempts->builder->graph;
    struct yk_arena *arena = attempts->builder->arena;
    struct packing *packings = NULL;
    int64_t *room = NULL;
    YK_TRY_NEW(arena, attempts->packed, graph->group_count);
    YK_TRY_NEW(arena, packings, graph->group_count);
    YK_TRY_NEW(arena, room, graph->device_count);
    struct yk_group_placement groups;
    YK_TRY(yk_group_placement_create(arena, graph, &groups));
    for (int32_t g = 0; g < graph->group_count; g++) {
        packings[g] = (struct packing){graph->groups[g].resident_bytes, g, -1};
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (graph->tasks[i].group != YK_GRAPH_NO_GROUP) {
            packings[graph->tasks[i].group].member = i;
        }
    }
    for (int32_t p = 0; p < graph->device_count; p++) {
        room[p] = graph->devices[p].memory_bytes;
    }
    qsort(packings, (size_t)graph->group_count, sizeof *packings, by_falling_bytes);
    for (int32_t k = 0; k < graph->group_count; k++) {
        const struct packing *packing = &packings[k];
        int32_t widest = YK_SCHEDULE_NO_DEVICE;
        int64_t widest_room = 0;
        for (int32_t p = 0; packing->member >= 0 && p < graph->device_count; p++) {
            const int64_t left =
                room[p] - yk_group_placement_added_bytes(&groups, packing->member, p);
            if (yk_graph_task_can_run_on(graph, packing->member, p) &&
                (widest == YK_SCHEDULE_NO_DEVICE || left > widest_room)) {
                widest = p;
                widest_room = left;
            }
        }
        attempts->packed[packing->group] = widest;
        if (widest != YK_SCHEDULE_NO_DEVICE) {
            room[widest] = widest_room;
            yk_group_placement_add_task(&groups, packing->member, widest);
        }
    }
    return YK_OK;
}

static struct yk_schedule_slot choose(struct attempts *attempts, const int32_t *packed,
                                      int32_t task)
{
    const int32_t group = attempts->builder->graph->tasks[task].group;
    if (!packed || group == YK_GRAPH_NO_GROUP || packed[group] == YK_SCHEDULE_NO_DEVICE) {
        return yk_memory_aware_builder_find_slot(attempts->fit, task);
    }
    const int64_t *ready = yk_schedule_builder_compute_ready_times(attempts->builder, task);
    struct yk_schedule_slot slot;
    if (!yk_memory_aware_builder_find_slot_on(attempts->fit, task, packed[group],
                                              ready[packed[group]], &slot)) {
        slot.device = YK_SCHEDULE_NO_DEVICE;
    }
    return slot;
}

/* Places all tasks in one order; keeps the schedule if it is the best so far. */
static yk_status attempt(struct attempts *attempts, const int32_t *order, const int32_t *packed)
{
    const int32_t n = attempts->builder->graph->task_count;
    yk_memory_aware_builder_clear(attempts->fit);
    for (int32_t k = 0; k < n; k++) {
        const struct yk_schedule_slot slot = choose(attempts, packed, order[k]);
        if (slot.device == YK_SCHEDULE_NO_DEVICE) {
            return yk_memory_aware_builder_fail_no_slot(attempts->fit, order[k]);
        }
        yk_memory_aware_builder_place(attempts->fit, order[k], slot);
        yk_scheduler_report_progress(attempts->options, "heft-memory", k, n);
    }
    yk_schedule_builder_compute_makespan(attempts->builder);
    const struct yk_schedule *schedule = attempts->builder->schedule;
    if (!attempts->found || schedule->makespan < attempts->best->makespan) {
        yk_schedule_copy(schedule, attempts->best);
        attempts->found = true;
    }
    return YK_OK;
}

/* Each of the first `count` orders in turn; the status is that of the last. */
static yk_status attempt_orders(struct attempts *attempts, int32_t count, const int32_t *packed)
{
    yk_status status = YK_OK;
    for (int32_t i = 0; i < count && (status == YK_OK || status == YK_ERROR_NO_FIT); i++) {
        status = attempt(attempts, attempts->orders[i], packed);
    }
    return status;
}

static yk_status try_all(struct attempts *attempts)
{
    YK_TRY(make_orders(attempts));
    yk_status status = attempt_orders(attempts, PLAIN_ORDER_COUNT, NULL);
    if (status == YK_ERROR_NO_FIT && !attempts->found) {
        YK_TRY(pack_groups(attempts));
        status = attempt_orders(attempts, ORDER_COUNT, attempts->packed);
    }
    if (status == YK_ERROR_NO_FIT && !attempts->found) {
        status = attempt_orders(attempts, ORDER_COUNT, NULL);
    }
    return status == YK_ERROR_NO_FIT && attempts->found ? YK_OK : status;
}

static yk_status run(const struct yk_scheduler *scheduler,
                     const struct yk_scheduler_options *options, struct yk_schedule *schedule)
{
    (void)scheduler;
    struct yk_schedule *trial = NULL;
    YK_TRY(yk_schedule_create(schedule->graph, &trial));
    struct attempts attempts = {.best = schedule, .options = options};
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_schedule_builder_create(trial, &attempts.builder), done);
    YK_TRY_GOTO(yk_memory_aware_builder_create(attempts.builder, &attempts.fit), done);
    status = try_all(&attempts);
done:
    yk_schedule_builder_destroy(attempts.builder);
    yk_schedule_destroy(trial);
    return status;
}

const struct yk_scheduler yk_scheduler_heft_memory = {
    .name = "heft-memory",
    .summary = "heft within every device's memory, at every moment",
    .respects_memory = true,
    .run = run,
};
