#include "support/reports/example_schedule.h"

#include "graph/builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    TASKS = 10,
    DEVICES = 3
};

static const double paper_costs[TASKS][DEVICES] = {
    {14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
    {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16},
};

static const double paper_edges[][3] = {
    {1, 2, 18}, {1, 3, 12}, {1, 4, 9},   {1, 5, 11},  {1, 6, 14},
    {2, 8, 19}, {2, 9, 16}, {3, 7, 23},  {4, 8, 27},  {4, 9, 23},
    {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13},
};

struct placed {
    int task;
    int device;
    int64_t start;
    int64_t finish;
};

/* By start, which is a topological order. */
static const struct placed paper_schedule[TASKS] = {
    {1, 3, 0, 9},   {3, 3, 9, 28},  {4, 2, 18, 26}, {6, 2, 26, 42}, {2, 1, 27, 40},
    {5, 3, 28, 38}, {7, 3, 38, 49}, {9, 2, 56, 68}, {8, 1, 57, 62}, {10, 2, 73, 80},
};

static void add_edges(struct yk_graph_builder *builder)
{
    for (size_t e = 0; e < sizeof paper_edges / sizeof *paper_edges; e++) {
        char from[8];
        char to[8];
        snprintf(from, sizeof from, "%.0f", paper_edges[e][0]);
        snprintf(to, sizeof to, "%.0f", paper_edges[e][1]);
        const struct yk_graph_builder_edge edge = {
            .from = from, .to = to, .cost = paper_edges[e][2]};
        assert_int_equal(yk_graph_builder_add_edge(builder, &edge), YK_OK);
    }
}

static struct fixture_schedule finish(struct yk_graph_builder *builder)
{
    struct fixture_schedule fixture = {0};
    assert_int_equal(yk_graph_builder_finish(builder, &fixture.graph), YK_OK);
    yk_graph_builder_destroy(builder);
    assert_int_equal(yk_schedule_create(fixture.graph, &fixture.schedule), YK_OK);
    return fixture;
}

static int64_t ticks(const struct fixture_schedule *fixture, double time)
{
    return llround(time * fixture->graph->ticks_per_unit);
}

struct fixture_schedule fixture_heft_paper(void)
{
    struct yk_graph_builder *builder = NULL;
    assert_int_equal(yk_graph_builder_create(&builder), YK_OK);
    for (int p = 1; p <= DEVICES; p++) {
        char name[16];
        snprintf(name, sizeof name, "P%d", p);
        assert_int_equal(yk_graph_builder_add_device(builder, name, INFINITY), YK_OK);
    }
    for (int i = 1; i <= TASKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(yk_graph_builder_add_task(builder, name, paper_costs[i - 1]), YK_OK);
    }
    add_edges(builder);
    struct fixture_schedule fixture = finish(builder);
    for (int k = 0; k < TASKS; k++) {
        const struct placed *placed = &paper_schedule[k];
        const int task = placed->task - 1;
        fixture.schedule->devices[task] = placed->device - 1;
        fixture.schedule->starts[task] = ticks(&fixture, (double)placed->start);
        fixture.schedule->finishes[task] = ticks(&fixture, (double)placed->finish);
        fixture.schedule->order[k] = task;
    }
    fixture.schedule->makespan = ticks(&fixture, 80);
    return fixture;
}

struct fixture_schedule fixture_row(const double *lengths, int32_t count, const char *const *names,
                                    const char *device_name)
{
    struct yk_graph_builder *builder = NULL;
    assert_int_equal(yk_graph_builder_create(&builder), YK_OK);
    assert_int_equal(yk_graph_builder_add_device(builder, device_name, INFINITY), YK_OK);
    assert_int_equal(yk_graph_builder_add_device(builder, "other", INFINITY), YK_OK);
    for (int32_t i = 0; i < count; i++) {
        char number[16];
        const double costs[] = {lengths[i], lengths[i]};
        snprintf(number, sizeof number, "%d", i);
        assert_int_equal(yk_graph_builder_add_task(builder, names ? names[i] : number, costs),
                         YK_OK);
    }
    struct fixture_schedule fixture = finish(builder);
    int64_t now = 0;
    for (int32_t i = 0; i < count; i++) {
        fixture.schedule->starts[i] = now;
        now += ticks(&fixture, lengths[i]);
        fixture.schedule->finishes[i] = now;
        fixture.schedule->order[i] = i;
    }
    fixture.schedule->makespan = now;
    return fixture;
}

void fixture_free(struct fixture_schedule *fixture)
{
    yk_schedule_destroy(fixture->schedule);
    yk_graph_destroy(fixture->graph);
    *fixture = (struct fixture_schedule){0};
}
