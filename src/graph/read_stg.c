/*
 * The Standard Task Graph form (Tobita and Kasahara, 2002): the number of tasks n, then a row
 * `id time predecessor-count predecessor…` for each task and for a dummy entry and a dummy exit.
 * Some files count the two dummies in n, most do not. Data between tasks takes no time.
 */
#include "graph/reader.h"
#include "graph/scanner.h"

#include <stdio.h>

struct table {
    int64_t stated; /* n, with or without the dummies */
    int64_t rows;
    double first_time;
    double last_time;
};

enum step {
    ADD_TASKS,
    ADD_EDGES
};

static bool recognises(const struct yk_graph_reader_input *document)
{
    return !document->json &&
           yk_graph_scanner_count_first_line_tokens(document->text, document->length) == 1;
}

static yk_status add_edge(struct yk_graph_builder *builder, int64_t from, int64_t to)
{
    char names[2][24];
    snprintf(names[0], sizeof names[0], "%lld", (long long)from);
    snprintf(names[1], sizeof names[1], "%lld", (long long)to);
    const struct yk_graph_builder_edge edge = {.from = names[0], .to = names[1]};
    return yk_graph_builder_add_edge(builder, &edge);
}

static yk_status add_task(const struct yk_graph_read_options *options, int64_t id, double time,
                          struct yk_graph_builder *builder)
{
    double costs[YK_GRAPH_MAX_DEVICES];
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)id);
    yk_graph_reader_compute_task_costs(options, time, costs);
    return yk_graph_builder_add_task(builder, name, costs);
}

/* The cursor is in front of the rows; it moves behind them. */
static yk_status read_rows(struct yk_graph_scanner *scanner, struct table *table, enum step step,
                           const struct yk_graph_read_options *options,
                           struct yk_graph_builder *builder)
{
    for (int64_t row = 0; yk_graph_scanner_skip_to_token(scanner); row++) {
        int64_t id = 0;
        int64_t predecessor_count = 0;
        YK_TRY(yk_graph_scanner_read_integer(scanner, "the task's number", row, row, &id));
        YK_TRY(yk_graph_scanner_read_number(scanner, "the task's time", &table->last_time));
        if (row == 0) {
            table->first_time = table->last_time;
        }
        if (step == ADD_TASKS) {
            YK_TRY(yk_graph_scanner_prefix_error_line(
                scanner, add_task(options, id, table->last_time, builder)));
        }
        YK_TRY(yk_graph_scanner_read_integer(scanner, "the number of predecessors", 0, table->rows,
                                             &predecessor_count));
        for (int64_t i = 0; i < predecessor_count; i++) {
            int64_t from = 0;
            YK_TRY(
                yk_graph_scanner_read_integer(scanner, "a predecessor", 0, table->rows - 1, &from));
            if (step == ADD_EDGES) {
                YK_TRY(add_edge(builder, from, id));
            }
        }
        YK_TRY(yk_graph_scanner_expect_line_end(scanner));
    }
    return YK_OK;
}

static yk_status fail_count(const struct yk_graph_scanner *end, const struct table *table)
{
    return yk_graph_scanner_prefix_error_line(
        end,
        yk_fail(YK_ERROR_INPUT,
                "the file ends with %lld rows, but %lld tasks and two dummies make %lld; is "
                "it whole?",
                (long long)table->rows, (long long)table->stated, (long long)table->stated + 2));
}

/* A file with as many rows as it states must have the dummies among them, or it was cut off. */
static bool counts_dummies(const struct table *table)
{
    return table->rows == table->stated && table->first_time == 0 && table->last_time == 0;
}

static yk_status read_stg(const struct yk_graph_reader_input *document,
                          const struct yk_graph_read_options *options,
                          struct yk_graph_builder *builder)
{
    struct table table = {0};
    YK_TRY(yk_graph_reader_add_numbered_devices(options, builder));
    struct yk_graph_scanner scanner = yk_graph_scanner_from_text(document->text, document->length);
    (void)yk_graph_scanner_skip_to_token(&scanner);
    YK_TRY(yk_graph_scanner_read_integer(&scanner, "the number of tasks", 1, INT32_MAX,
                                         &table.stated));
    YK_TRY(yk_graph_scanner_expect_line_end(&scanner));
    struct yk_graph_scanner end = scanner;
    for (; yk_graph_scanner_skip_to_token(&end); table.rows++) {
        yk_graph_scanner_skip_line(&end);
    }
    if (table.rows != table.stated && table.rows != table.stated + 2) {
        return fail_count(&end, &table);
    }
    struct yk_graph_scanner rows = scanner;
    YK_TRY(read_rows(&rows, &table, ADD_TASKS, options, builder));
    if (table.rows == table.stated && !counts_dummies(&table)) {
        return fail_count(&end, &table);
    }
    return read_rows(&scanner, &table, ADD_EDGES, options, builder);
}

const struct yk_graph_reader yk_graph_reader_stg = {
    .name = "STG",
    .needs_devices = true,
    .recognises = recognises,
    .read = read_stg,
};
