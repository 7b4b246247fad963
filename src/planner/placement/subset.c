#include "planner/placement/subset.h"

#include "planner/placement/stages.h"
#include "sched/mapping.h"

#include <math.h>

/* Some of the cluster's devices, as a cluster. */
struct subset {
    struct yk_arena *arena;
    int32_t *numbers; /* (count) of the devices in the whole cluster */
    int32_t count;
    struct yk_cluster cluster;
    struct yk_cost_book book;
};

static yk_status make_cluster(const struct yk_cost_book *whole, struct subset *subset)
{
    const struct yk_cluster *cluster = whole->cluster;
    struct yk_device *devices = NULL;
    struct yk_device_facts *facts = NULL;
    struct yk_link *links = NULL;
    YK_TRY_NEW(subset->arena, devices, subset->count);
    YK_TRY_NEW(subset->arena, facts, subset->count);
    YK_TRY_NEW(subset->arena, links, (int64_t)subset->count * subset->count);
    for (int32_t p = 0; p < subset->count; p++) {
        devices[p] = cluster->devices[subset->numbers[p]];
        facts[p] = yk_device_facts_at(whole->facts, subset->numbers[p]);
        for (int32_t q = 0; q < subset->count; q++) {
            links[(int64_t)p * subset->count + q] =
                *yk_cluster_link(cluster, subset->numbers[p], subset->numbers[q]);
        }
    }
    subset->cluster = *cluster;
    subset->cluster.devices = devices;
    subset->cluster.links = links;
    subset->cluster.device_count = subset->count;
    subset->book = *whole;
    subset->book.cluster = &subset->cluster;
    subset->book.facts = facts;
    return YK_OK;
}

/* The subset's best schedule on the devices of the whole cluster; tasks have the same numbers. */
static yk_status translate(const struct subset *subset, const struct yk_schedule *schedule,
                           struct yk_candidates *contest)
{
    const int32_t n = schedule->graph->task_count;
    int32_t *devices = NULL;
    int64_t *priorities = NULL;
    YK_TRY_NEW(subset->arena, devices, n);
    YK_TRY_NEW(subset->arena, priorities, n);
    for (int32_t k = 0; k < n; k++) {
        const int32_t task = schedule->sequence[k];
        devices[task] = subset->numbers[schedule->devices[task]];
        priorities[task] = n - k;
    }
    const struct yk_mapping mapping = {.devices = devices, .priorities = priorities};
    YK_TRY(yk_mapping_run(&mapping, contest->trial));
    return yk_candidates_consider(contest, contest->trial);
}

static yk_status consider(struct subset *subset, struct yk_candidates *contest)
{
    struct yk_step_graph_spec spec = contest->step->spec;
    struct yk_step_graph *step = NULL;
    struct yk_candidates own = {0};
    YK_TRY(make_cluster(spec.book, subset));
    spec.book = &subset->book;
    YK_TRY(yk_step_graph_create(&spec, &step));
    yk_status status = yk_candidates_create(step, contest->deadline, &own);
    if (status == YK_OK) {
        status = yk_candidates_add_undivided(&own);
    }
    if (status == YK_OK) {
        status = yk_candidates_add_divided(&own);
    }
    contest->trials += own.trials;
    if (status == YK_OK && isfinite(own.step_s)) {
        status = translate(subset, own.best, contest);
    }
    yk_candidates_free(&own);
    yk_step_graph_destroy(step);
    return status;
}

/* The devices of a node, in order: returns how many. */
static int32_t list_node(const struct yk_cluster *cluster, int32_t node, int32_t *numbers)
{
    int32_t count = 0;
    for (int32_t p = 0; p < cluster->device_count; p++) {
        if (cluster->devices[p].node == node) {
            numbers[count++] = p;
        }
    }
    return count;
}

/* Whether an earlier node has the same devices. */
static bool is_repeated(const struct yk_step_graph *step, const struct subset *subset, int32_t node,
                        int32_t *room)
{
    const struct yk_cluster *cluster = step->spec.book->cluster;
    for (int32_t other = 0; other < node; other++) {
        bool alike = list_node(cluster, other, room) == subset->count;
        for (int32_t p = 0; alike && p < subset->count; p++) {
            alike = yk_stages_devices_are_equal(step, room[p], subset->numbers[p]);
        }
        if (alike) {
            return true;
        }
    }
    return false;
}

yk_status yk_candidates_add_nodes(struct yk_candidates *contest)
{
    const struct yk_cluster *cluster = contest->step->spec.book->cluster;
    for (int32_t node = 0; cluster->node_count > 1 && node < cluster->node_count &&
                           !yk_deadline_has_passed(contest->deadline);
         node++) {
        struct subset subset = {0};
        YK_TRY(yk_arena_create(&subset.arena));
        const size_t P = (size_t)cluster->device_count;
        subset.numbers = yk_arena_allocate(subset.arena, P, sizeof *subset.numbers);
        int32_t *room = yk_arena_allocate(subset.arena, P, sizeof *room);
        yk_status status = subset.numbers && room ? YK_OK : yk_fail_out_of_memory();
        if (status == YK_OK) {
            subset.count = list_node(cluster, node, subset.numbers);
            if (subset.count > 1 && !is_repeated(contest->step, &subset, node, room)) {
                status = consider(&subset, contest);
            }
        }
        yk_arena_destroy(subset.arena);
        YK_TRY(status);
    }
    return YK_OK;
}
