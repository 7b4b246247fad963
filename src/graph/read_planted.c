/*
 * Instances with a planted optimum: `n P m OPT`, n rows of P costs, m rows `from to cost`. The
 * optimum is known to whoever compares; the graph does not hold it.
 */
#include "graph/reader.h"
#include "graph/scanner.h"

#include <stdio.h>

struct sizes {
    int64_t tasks;
    int64_t devices;
    int64_t edges;
};

static bool recognises(const struct yk_graph_reader_input *document)
{
    return !document->json &&
           yk_graph_scanner_count_first_line_tokens(document->text, document->length) > 1;
}

static yk_status read_header(struct yk_graph_scanner *scanner, size_t length, struct sizes *out)
{
    double optimum = 0;
    (void)yk_graph_scanner_skip_to_token(scanner);
    YK_TRY(
        yk_graph_scanner_read_integer(scanner, "the number of tasks", 1, INT32_MAX, &out->tasks));
    YK_TRY(yk_graph_scanner_read_integer(scanner, "the number of devices", 1, YK_GRAPH_MAX_DEVICES,
                                         &out->devices));
    YK_TRY(
        yk_graph_scanner_read_integer(scanner, "the number of edges", 0, INT32_MAX, &out->edges));
    YK_TRY(yk_graph_scanner_read_number(scanner, "the planted optimum", &optimum));
    YK_TRY(yk_graph_scanner_expect_line_end(scanner));
    /* Neither product nor sum overflows: each factor was bounded above. A number takes at least a
     * digit and a separator, but for the last. */
    const int64_t numbers = out->tasks * out->devices + 3 * out->edges;
    if ((uint64_t)numbers > (uint64_t)length / 2 + 1) {
        return yk_graph_scanner_prefix_error_line(
            scanner,
            yk_fail(YK_ERROR_INPUT,
                    "%lld tasks on %lld devices and %lld edges do not fit in a file this "
                    "short; is it whole?",
                    (long long)out->tasks, (long long)out->devices, (long long)out->edges));
    }
    return YK_OK;
}

static yk_status next_row(struct yk_graph_scanner *scanner, const char *what, int64_t row,
                          int64_t count)
{
    if (yk_graph_scanner_skip_to_token(scanner)) {
        return YK_OK;
    }
    return yk_graph_scanner_prefix_error_line(
        scanner, yk_fail(YK_ERROR_INPUT, "the file ends after %lld of %lld %s", (long long)row,
                         (long long)count, what));
}

static yk_status read_task(struct yk_graph_scanner *scanner, int64_t task,
                           const struct sizes *sizes, struct yk_graph_builder *builder)
{
    double costs[YK_GRAPH_MAX_DEVICES];
    YK_TRY(next_row(scanner, "tasks", task, sizes->tasks));
    for (int64_t p = 0; p < sizes->devices; p++) {
        YK_TRY(yk_graph_scanner_read_number(scanner, "a cost", &costs[p]));
    }
    YK_TRY(yk_graph_scanner_expect_line_end(scanner));
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)task);
    return yk_graph_scanner_prefix_error_line(scanner,
                                              yk_graph_builder_add_task(builder, name, costs));
}

static yk_status read_edge(struct yk_graph_scanner *scanner, int64_t number,
                           const struct sizes *sizes, struct yk_graph_builder *builder)
{
    int64_t ends[2] = {0, 0};
    char names[2][24];
    struct yk_graph_builder_edge edge = {.from = names[0], .to = names[1]};
    YK_TRY(next_row(scanner, "edges", number, sizes->edges));
    for (int i = 0; i < 2; i++) {
        YK_TRY(yk_graph_scanner_read_integer(scanner, "a task", 0, sizes->tasks - 1, &ends[i]));
        snprintf(names[i], sizeof names[i], "%lld", (long long)ends[i]);
    }
    YK_TRY(yk_graph_scanner_read_number(scanner, "a cost", &edge.cost));
    YK_TRY(yk_graph_scanner_expect_line_end(scanner));
    return yk_graph_scanner_prefix_error_line(scanner, yk_graph_builder_add_edge(builder, &edge));
}

static yk_status read_planted(const struct yk_graph_reader_input *document,
                              const struct yk_graph_read_options *options,
                              struct yk_graph_builder *builder)
{
    (void)options;
    struct sizes sizes = {0};
    struct yk_graph_scanner scanner = yk_graph_scanner_from_text(document->text, document->length);
    YK_TRY(read_header(&scanner, document->length, &sizes));
    const struct yk_graph_read_options devices = {.device_count = (int32_t)sizes.devices};
    YK_TRY(yk_graph_reader_add_numbered_devices(&devices, builder));
    for (int64_t i = 0; i < sizes.tasks; i++) {
        YK_TRY(read_task(&scanner, i, &sizes, builder));
    }
    for (int64_t i = 0; i < sizes.edges; i++) {
        YK_TRY(read_edge(&scanner, i, &sizes, builder));
    }
    if (yk_graph_scanner_skip_to_token(&scanner)) {
        return yk_graph_scanner_prefix_error_line(
            &scanner, yk_fail(YK_ERROR_INPUT, "the file goes on after the last of %lld edges",
                              (long long)sizes.edges));
    }
    return YK_OK;
}

const struct yk_graph_reader yk_graph_reader_planted = {
    .name = "planted optimum",
    .recognises = recognises,
    .read = read_planted,
};
