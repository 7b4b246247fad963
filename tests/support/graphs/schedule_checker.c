#include "support/graphs/schedule_checker.h"

#include "support/support.h"

#include <stdbool.h>

static const char *check_tasks(const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    int64_t last = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        const int32_t device = schedule->devices[i];
        if (device < 0 || device >= graph->device_count) {
            return "a task is on no device";
        }
        const int64_t cost = graph->costs[(int64_t)i * graph->device_count + device];
        if (cost == YK_GRAPH_INFINITE_COST) {
            return "a task is on a device that cannot run it";
        }
        if (schedule->starts[i] < 0 || schedule->finishes[i] != schedule->starts[i] + cost) {
            return "a task does not take its cost";
        }
        last = schedule->finishes[i] > last ? schedule->finishes[i] : last;
    }
    return last == schedule->makespan ? NULL : "the makespan is not the last finish";
}

static const char *check_edges(const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int32_t from = schedule->devices[edge->from];
        const int32_t to = schedule->devices[edge->to];
        int64_t arrival = schedule->finishes[edge->from];
        if (from != to && edge->cost >= 0) {
            arrival += edge->cost;
        } else if (from != to) {
            const struct yk_graph_link *link = &graph->links[from * graph->device_count + to];
            arrival += llround(link->latency_ticks + (double)edge->bytes * link->ticks_per_byte);
        }
        if (schedule->starts[edge->to] < arrival) {
            return "a task starts before its data is there";
        }
    }
    return NULL;
}

/* Two tasks of one device: one ends before the other starts. One without length may lie at the
 * other's start or finish, but not inside it. */
static const char *check_overlaps(const struct yk_schedule *schedule)
{
    const int32_t n = schedule->graph->task_count;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++) {
            if (schedule->devices[i] == schedule->devices[j] &&
                schedule->finishes[i] > schedule->starts[j] &&
                schedule->finishes[j] > schedule->starts[i]) {
                return "two tasks are on one device at the same time";
            }
        }
    }
    return NULL;
}

static const char *check_groups(const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t i = 0; i < graph->task_count; i++) {
        for (int32_t j = 0; j < i; j++) {
            if (graph->tasks[i].group != YK_GRAPH_NO_GROUP &&
                graph->tasks[i].group == graph->tasks[j].group &&
                schedule->devices[i] != schedule->devices[j]) {
                return "a group is on two devices";
            }
        }
    }
    return NULL;
}

static bool holds(int64_t from, int64_t until, int64_t time)
{
    return from <= time && time < until;
}

int64_t checker_bytes_at(const struct yk_schedule *schedule, int32_t device, int64_t time)
{
    const struct yk_graph *graph = schedule->graph;
    int64_t bytes = 0;
    for (int32_t g = 0; g < graph->group_count; g++) {
        for (int32_t i = 0; i < graph->task_count; i++) {
            if (graph->tasks[i].group == g && schedule->devices[i] == device) {
                bytes += graph->groups[g].resident_bytes;
                break;
            }
        }
    }
    for (int32_t s = 0; s < graph->store_count; s++) {
        for (int32_t i = 0; i < graph->task_count; i++) {
            const int32_t group = graph->tasks[i].group;
            if (group != YK_GRAPH_NO_GROUP && graph->groups[group].shared_store == s &&
                schedule->devices[i] == device) {
                bytes += graph->shared_stores[s].bytes;
                break;
            }
        }
    }
    for (int32_t i = 0; i < graph->task_count; i++) {
        if (schedule->devices[i] == device &&
            holds(schedule->starts[i], schedule->finishes[i], time)) {
            bytes += graph->tasks[i].memory_bytes;
        }
    }
    for (int32_t e = 0; e < graph->edge_count; e++) {
        const struct yk_graph_edge *edge = &graph->edges[e];
        const int64_t until = schedule->finishes[edge->to];
        const bool at_producer = schedule->devices[edge->from] == device &&
                                 holds(schedule->starts[edge->from], until, time);
        const bool at_consumer = schedule->devices[edge->to] == device &&
                                 holds(schedule->finishes[edge->from], until, time);
        bytes += at_producer || at_consumer ? edge->resident_bytes : 0;
    }
    return bytes;
}

/* Usage only rises when something starts or finishes, so those moments are all there is to see. */
static const char *check_memory(const struct yk_schedule *schedule)
{
    const struct yk_graph *graph = schedule->graph;
    for (int32_t p = 0; p < graph->device_count; p++) {
        const int64_t limit = graph->devices[p].memory_bytes;
        for (int32_t i = 0; limit != YK_GRAPH_UNLIMITED_MEMORY && i < graph->task_count; i++) {
            if (checker_bytes_at(schedule, p, schedule->starts[i]) > limit ||
                checker_bytes_at(schedule, p, schedule->finishes[i]) > limit) {
                return "a device holds more than its memory";
            }
        }
    }
    return NULL;
}

const char *checker_broken_rule(const struct yk_schedule *schedule)
{
    const char *broken = check_tasks(schedule);
    broken = broken ? broken : check_edges(schedule);
    broken = broken ? broken : check_overlaps(schedule);
    broken = broken ? broken : check_groups(schedule);
    return broken ? broken : check_memory(schedule);
}

void checker_assert_valid(const struct yk_schedule *schedule, const char *who)
{
    const char *broken = checker_broken_rule(schedule);
    if (broken) {
        fail_msg("%s: %s", who, broken);
    }
}
