/*
 * How HEFT's cost grows: yoke's, whose gaps lie in a tree, beside HEFT as the textbook has it,
 * whose gaps are found by walking along a device's tasks from the beginning. Same graphs, same run,
 * interleaved; medians of the faster one. Both must find schedules of the same length.
 */
#include "device_line.h"

#include "base/clock.h"
#include "base/random.h"
#include "graph/builder.h"
#include "sched/scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    DEVICES = 16,
    EDGES_PER_TASK = 3,
    NEAR = 2000,
    ROUNDS = 9
};

static void check(yk_status status)
{
    if (status != YK_OK) {
        fprintf(stderr, "bench: %s\n", yk_status_message());
        exit(1);
    }
}

/* Each task takes data from three of the tasks before it; costs differ by device. */
static struct yk_graph *make_graph(int32_t task_count)
{
    struct yk_random random = yk_random_from_seed(7);
    struct yk_graph_builder *builder = NULL;
    struct yk_graph *graph = NULL;
    char name[32];
    char other[32];
    check(yk_graph_builder_create(&builder));
    for (int p = 0; p < DEVICES; p++) {
        snprintf(name, sizeof name, "P%d", p + 1);
        check(yk_graph_builder_add_device(builder, name, INFINITY));
    }
    for (int32_t i = 0; i < task_count; i++) {
        double costs[DEVICES];
        for (int p = 0; p < DEVICES; p++) {
            costs[p] = (double)(10 + yk_random_below(&random, 91));
        }
        snprintf(name, sizeof name, "%d", i);
        check(yk_graph_builder_add_task(builder, name, costs));
    }
    for (int32_t i = DEVICES; i < task_count; i++) {
        for (int k = 0; k < EDGES_PER_TASK; k++) {
            const int64_t back = 1 + yk_random_below(&random, i < NEAR ? i : NEAR);
            snprintf(name, sizeof name, "%d", (int)(i - back));
            snprintf(other, sizeof other, "%d", i);
            const double cost = (double)yk_random_below(&random, 101);
            check(yk_graph_builder_add_edge(
                builder, &(struct yk_graph_builder_edge){.from = name, .to = other, .cost = cost}));
        }
    }
    check(yk_graph_builder_finish(builder, &graph));
    yk_graph_builder_destroy(builder);
    return graph;
}

/* ---- HEFT as the textbook has it ---- */

struct busy {
    double start;
    double finish;
};

struct row {
    struct busy *busy; /* by time */
    int32_t count;
    int32_t capacity;
};

static const double *sort_ranks;

static int by_falling_rank(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;
    if (sort_ranks[a] != sort_ranks[b]) {
        return sort_ranks[a] > sort_ranks[b] ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static double textbook_start(const struct row *row, double ready, double cost, int32_t *place)
{
    double idle_from = 0;
    for (int32_t k = 0; k < row->count; k++) {
        const double start = idle_from > ready ? idle_from : ready;
        if (start + cost <= row->busy[k].start) {
            *place = k;
            return start;
        }
        idle_from = row->busy[k].finish;
    }
    *place = row->count;
    return idle_from > ready ? idle_from : ready;
}

static void textbook_insert(struct row *row, int32_t place, struct busy busy)
{
    if (row->count == row->capacity) {
        row->capacity = row->capacity ? row->capacity * 2 : 64;
        row->busy = realloc(row->busy, (size_t)row->capacity * sizeof *row->busy);
        if (!row->busy) {
            exit(1);
        }
    }
    memmove(&row->busy[place + 1], &row->busy[place],
            (size_t)(row->count - place) * sizeof *row->busy);
    row->busy[place] = busy;
    row->count++;
}

static double textbook_ready(const struct yk_graph *graph, const int32_t *devices,
                             const double *finishes, int32_t task, int32_t device)
{
    double ready = 0;
    for (int32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        const struct yk_graph_edge *edge = &graph->edges[graph->inputs[k].edge];
        const double arrival =
            finishes[edge->from] + (devices[edge->from] == device ? 0 : (double)edge->cost);
        ready = arrival > ready ? arrival : ready;
    }
    return ready;
}

static void textbook_ranks(const struct yk_graph *graph, double *ranks)
{
    for (int32_t k = graph->task_count - 1; k >= 0; k--) {
        const int32_t task = graph->order[k];
        double mean = 0;
        double longest = 0;
        for (int p = 0; p < DEVICES; p++) {
            mean += (double)yk_graph_task_cost(graph, task, p) / DEVICES;
        }
        for (int32_t e = graph->out_first[task]; e < graph->out_first[task + 1]; e++) {
            const double path = (double)graph->edges[e].cost + ranks[graph->edges[e].to];
            longest = path > longest ? path : longest;
        }
        ranks[task] = mean + longest;
    }
}

static double textbook_heft(const struct yk_graph *graph)
{
    const size_t n = (size_t)graph->task_count;
    double *ranks = calloc(n, sizeof *ranks);
    double *finishes = calloc(n, sizeof *finishes);
    int32_t *order = calloc(n, sizeof *order);
    int32_t *devices = calloc(n, sizeof *devices);
    struct row rows[DEVICES] = {{0}};
    double makespan = 0;
    textbook_ranks(graph, ranks);
    for (int32_t i = 0; i < graph->task_count; i++) {
        order[i] = i;
    }
    sort_ranks = ranks;
    qsort(order, n, sizeof *order, by_falling_rank);
    for (size_t k = 0; k < n; k++) {
        const int32_t task = order[k];
        struct busy best = {0, INFINITY};
        int32_t best_place = 0;
        for (int32_t p = 0; p < DEVICES; p++) {
            const double cost = (double)yk_graph_task_cost(graph, task, p);
            const double ready = textbook_ready(graph, devices, finishes, task, p);
            int32_t place = 0;
            const double start = textbook_start(&rows[p], ready, cost, &place);
            if (start + cost < best.finish) {
                best = (struct busy){start, start + cost};
                best_place = place;
                devices[task] = p;
            }
        }
        textbook_insert(&rows[devices[task]], best_place, best);
        finishes[task] = best.finish;
        makespan = best.finish > makespan ? best.finish : makespan;
    }
    for (int p = 0; p < DEVICES; p++) {
        free(rows[p].busy);
    }
    free(ranks);
    free(finishes);
    free(order);
    free(devices);
    return makespan / graph->ticks_per_unit;
}

/* ---- the comparison ---- */

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double yoke_heft(const struct yk_graph *graph, double *makespan)
{
    const struct yk_scheduler_options options = {0};
    struct yk_schedule *schedule = NULL;
    const double begin_s = yk_clock_now_s();
    check(yk_scheduler_run(yk_scheduler_find("heft"), graph, &options, &schedule));
    const double seconds = yk_clock_now_s() - begin_s;
    *makespan = yk_graph_ticks_to_time(graph, schedule->makespan);
    yk_schedule_destroy(schedule);
    return seconds;
}

static double peak_memory_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

static double compare(int32_t task_count)
{
    const double begin_s = yk_clock_now_s();
    struct yk_graph *graph = make_graph(task_count);
    const double made_s = yk_clock_now_s() - begin_s;
    double ours[ROUNDS];
    double our_makespan = 0;
    double textbook_s = 0;
    double textbook_makespan = 0;
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = yoke_heft(graph, &our_makespan);
        if (i == ROUNDS / 2) {
            printf("  %6d tasks: peak memory so far %.0f MB\n", task_count,
                   peak_memory_bytes() / 1e6);
            const double textbook_begin_s = yk_clock_now_s();
            textbook_makespan = textbook_heft(graph);
            textbook_s = yk_clock_now_s() - textbook_begin_s;
        }
    }
    qsort(ours, ROUNDS, sizeof *ours, by_value);
    printf("  %6d tasks, %d edges, %d devices: yoke %.3f s, textbook %.3f s, ratio %.1f; "
           "graph made in %.2f s; makespans %g and %g\n",
           task_count, graph->edge_count, DEVICES, ours[ROUNDS / 2], textbook_s,
           textbook_s / ours[ROUNDS / 2], made_s, our_makespan, textbook_makespan);
    yk_graph_destroy(graph);
    return ours[ROUNDS / 2];
}

int main(void)
{
    print_device_line("scale", "both sides", "1 thread");
    puts("scale: HEFT with gaps in a tree, beside HEFT with gaps found by walking");
    const double small_s = compare(10000);
    const double large_s = compare(100000);
    printf("scale: ten times the tasks take %.1f times as long\n", large_s / small_s);
    return 0;
}
