#include "base/arena.h"
#include "base/table.h"
#include "base/units.h"
#include "report/device_figures.h"
#include "report/label.h"
#include "report/schedule_report.h"
#include "report/schedule_words.h"

static void add_headline(const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_graph *graph = report->schedule->graph;
    char tasks[YK_NUMBER_SIZE];
    yk_label_count(graph->task_count, tasks);
    yk_text_addf(out, "%s, scheduled by %s: %s %s on %d %s\n", report->source, report->algorithm,
                 tasks, graph->task_count == 1 ? "task" : "tasks", graph->device_count,
                 graph->device_count == 1 ? "device" : "devices");
    yk_text_add(out, "makespan ");
    yk_label_add_time(out, graph, report->schedule->makespan);
    if (report->lower_bound > 0) {
        yk_text_add(out, ", lower bound ");
        yk_label_add_time(out, graph, report->lower_bound);
    }
    yk_text_add(out, ": ");
    yk_schedule_words_gap(report, out);
    yk_text_add(out, "\n\n");
}

static void add_memory(struct yk_table *table, int64_t peak_bytes, int64_t limit_bytes)
{
    char words[YK_UNITS_SIZE];
    yk_units_format((double)peak_bytes, YK_UNIT_BYTES, words);
    yk_table_add(table, "%s", words);
    if (limit_bytes == YK_GRAPH_UNLIMITED) {
        yk_table_add(table, "none");
        return;
    }
    yk_units_format((double)limit_bytes, YK_UNIT_BYTES, words);
    yk_table_add(table, "%s", words);
}

static void add_device(struct yk_table *table, const struct yk_schedule *schedule, int32_t device,
                       const struct yk_device_figures *figures)
{
    const struct yk_graph *graph = schedule->graph;
    char words[YK_NUMBER_SIZE];
    yk_table_add(table, "%s", graph->devices[device].name);
    yk_label_count(figures->tasks, words);
    yk_table_add(table, "%s", words);
    yk_label_time(graph, figures->busy, words);
    yk_table_add(table, "%s", words);
    yk_label_percent((double)figures->busy, (double)schedule->makespan, words);
    yk_table_add(table, "%s", words);
    yk_label_time(graph, schedule->makespan - figures->busy, words);
    yk_table_add(table, "%s", words);
    if (graph->limited) {
        add_memory(table, figures->peak_bytes, graph->devices[device].memory_bytes);
    }
}

static yk_status write_table(const struct yk_schedule *schedule,
                             const struct yk_device_figures *figures, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"device", YK_TABLE_LEFT}, {"tasks", YK_TABLE_RIGHT}, {"busy", YK_TABLE_RIGHT},
        {"share", YK_TABLE_RIGHT}, {"idle", YK_TABLE_RIGHT},  {"peak memory", YK_TABLE_RIGHT},
        {"limit", YK_TABLE_RIGHT},
    };
    enum {
        WITH_MEMORY = sizeof columns / sizeof *columns,
        WITHOUT_MEMORY = WITH_MEMORY - 2
    };
    const struct yk_graph *graph = schedule->graph;
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, graph->limited ? WITH_MEMORY : WITHOUT_MEMORY, &table));
    for (int32_t p = 0; p < graph->device_count; p++) {
        add_device(table, schedule, p, &figures[p]);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

yk_status yk_schedule_report_summary(const struct yk_schedule_report *report, struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    struct yk_device_figures *figures = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_device_figures_count(report->schedule, arena, &figures);
    if (status == YK_OK) {
        add_headline(report, out);
        status = write_table(report->schedule, figures, out);
    }
    yk_arena_destroy(arena);
    return status;
}
