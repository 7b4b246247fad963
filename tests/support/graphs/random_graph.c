#include "support/graphs/random_graph.h"

#include "base/random.h"
#include "graph/builder.h"
#include "support/support.h"

#include <stdio.h>

enum {
    MOST_DEVICES = 16,
    MOST_TASKS = 100,
};

struct drawing {
    struct yk_random random;
    const struct random_graph_options *options;
    struct yk_graph_builder *builder;
    int32_t devices;
    int32_t tasks;
    int32_t numbers[MOST_TASKS]; /* the task at each place of a topological order, shuffled */
};

static int64_t draw(struct drawing *drawing, int64_t below)
{
    return yk_random_below(&drawing->random, below);
}

static const char *name_of(char *buffer, size_t size, const char *prefix, int64_t number)
{
    snprintf(buffer, size, "%s%lld", prefix, (long long)number);
    return buffer;
}

static double draw_cost(struct drawing *drawing, int64_t most)
{
    const double cost = (double)(1 + draw(drawing, most));
    if (!drawing->options->decimals) {
        return cost;
    }
    return draw(drawing, 8) == 0 ? 0 : cost / 10;
}

static void add_devices(struct drawing *drawing)
{
    char name[32];
    for (int32_t p = 0; p < drawing->devices; p++) {
        double memory = INFINITY;
        if (drawing->options->limits && draw(drawing, 4) > 0) {
            memory = (double)(drawing->options->tight ? 12 + draw(drawing, 24)
                                                      : 20 + draw(drawing, 200));
        }
        assert_ok(yk_graph_builder_add_device(drawing->builder, name_of(name, sizeof name, "P", p),
                                              memory));
    }
    if (drawing->options->links && drawing->devices > 2 && draw(drawing, 2) == 0) {
        assert_ok(yk_graph_builder_set_link(drawing->builder, "P0", "P2", (double)draw(drawing, 5),
                                            (double)(1 + draw(drawing, 4))));
    }
    if (drawing->options->links) {
        assert_ok(yk_graph_builder_set_default_link(drawing->builder, (double)draw(drawing, 3),
                                                    (double)(1 + draw(drawing, 4))));
    }
}

/* Device 0 can run everything, so that groups always have a place. */
static void add_task(struct drawing *drawing, int32_t task)
{
    char name[32];
    double costs[MOST_DEVICES];
    for (int32_t p = 0; p < drawing->devices; p++) {
        const bool barred = drawing->options->bars && p > 0 && draw(drawing, 5) == 0;
        costs[p] = barred                             ? NAN
                   : drawing->options->equal && p > 0 ? costs[0]
                                                      : draw_cost(drawing, 20);
    }
    assert_ok(
        yk_graph_builder_add_task(drawing->builder, name_of(name, sizeof name, "t", task), costs));
    if (drawing->options->bytes && draw(drawing, 2) == 0) {
        assert_ok(
            yk_graph_builder_set_last_task_bytes(drawing->builder, (double)draw(drawing, 10)));
    }
    if (drawing->options->groups && draw(drawing, 2) == 0) {
        name_of(name, sizeof name, "g", draw(drawing, 1 + drawing->tasks / 3));
        assert_ok(yk_graph_builder_set_last_task_group(drawing->builder, name));
        if (drawing->options->bytes) {
            assert_ok(yk_graph_builder_set_group_resident_bytes(drawing->builder, name,
                                                                (double)draw(drawing, 15)));
        }
        if (drawing->options->stores && draw(drawing, 4) > 0) {
            char store[32];
            name_of(store, sizeof store, "s", draw(drawing, 1 + drawing->tasks / 6));
            assert_ok(yk_graph_builder_set_group_shared_store(drawing->builder, name, store));
            assert_ok(yk_graph_builder_set_shared_store_bytes(drawing->builder, store,
                                                              (double)draw(drawing, 15)));
        }
    }
}

static void add_edges(struct drawing *drawing)
{
    char from[32];
    char to[32];
    for (int32_t i = 1; i < drawing->tasks; i++) {
        for (int64_t k = draw(drawing, 4); k > 0; k--) {
            /* Half of the edges come from nearby, which makes long paths. */
            const int64_t reach = draw(drawing, 2) == 0 && i > 3 ? 3 : i;
            struct yk_graph_builder_edge edge = {
                .from =
                    name_of(from, sizeof from, "t", drawing->numbers[i - 1 - draw(drawing, reach)]),
                .to = name_of(to, sizeof to, "t", drawing->numbers[i]),
                .cost = draw_cost(drawing, 30),
                .bytes = drawing->options->bytes ? (double)draw(drawing, 8) : 0,
            };
            if (drawing->options->links && draw(drawing, 2) == 0) {
                edge.cost = NAN;
            }
            edge.passing = drawing->options->stores && draw(drawing, 4) == 0;
            assert_ok(yk_graph_builder_add_edge(drawing->builder, &edge));
        }
    }
}

struct yk_graph *random_graph(uint64_t seed, const struct random_graph_options *options)
{
    struct yk_graph *graph = NULL;
    struct drawing drawing = {.random = yk_random_from_seed(seed), .options = options};
    drawing.devices = 1 + (int32_t)draw(&drawing, options->most_devices);
    drawing.tasks = 1 + (int32_t)draw(&drawing, options->most_tasks);
    assert_in_range(drawing.tasks, 1, MOST_TASKS);
    for (int32_t i = 0; i < drawing.tasks; i++) {
        const int32_t place = (int32_t)draw(&drawing, i + 1);
        drawing.numbers[i] = drawing.numbers[place];
        drawing.numbers[place] = i;
    }
    assert_ok(yk_graph_builder_create(&drawing.builder));
    add_devices(&drawing);
    for (int32_t i = 0; i < drawing.tasks; i++) {
        add_task(&drawing, i);
    }
    add_edges(&drawing);
    assert_ok(yk_graph_builder_finish(drawing.builder, &graph));
    yk_graph_builder_destroy(drawing.builder);
    return graph;
}
