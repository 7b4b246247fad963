#include "planner/tradeoff.h"

#include "base/log.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/outputs.h"
#include "job/planning.h"
#include "job/planning/tradeoff_plans.h"
#include "job/search.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_POINTS = 200
};

struct arguments {
    struct yk_planning_request planning;
    struct yk_workload_request workload;
    int64_t points;
    double budget_s;
    bool clip;
    bool json;
    bool quiet;
    const char *svg;
    const char *memory_svg;
    const char *plans;
};

static void format_time(double seconds, char out[YK_UNITS_SIZE])
{
    if (isnan(seconds)) {
        snprintf(out, YK_UNITS_SIZE, "does not fit");
    } else {
        yk_units_format(seconds, YK_UNIT_SECONDS, out);
    }
}

/* A bar as long as the time is over the shortest, for the eye. */
static void add_bar(double seconds, double least_s, double most_s, struct yk_table *table)
{
    enum {
        LONGEST = 40
    };
    struct yk_text bar = {0};
    if (!isnan(seconds) && most_s > least_s) {
        const double part = (seconds - least_s) / (most_s - least_s);
        yk_text_add_repeated(&bar, "▪", 1 + (size_t)(part * (LONGEST - 1)));
    }
    yk_table_add(table, "%s", yk_text_chars(&bar));
    yk_text_free(&bar);
}

static void find_range(const double *values, int32_t count, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int32_t i = 0; i < count; i++) {
        *least = fmin(*least, values[i]);
        *most = fmax(*most, values[i]);
    }
}

static yk_status add_split(const struct yk_tradeoff *tradeoff, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"reserved for scheduling", YK_TABLE_RIGHT},
        {"layers kept", YK_TABLE_RIGHT},
        {"step", YK_TABLE_RIGHT},
        {"", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    double least_s = 0;
    double most_s = 0;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    find_range(tradeoff->split_s, tradeoff->split_points, &least_s, &most_s);
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        char time[YK_UNITS_SIZE];
        char percent[YK_TRADEOFF_PERCENT_SIZE];
        format_time(tradeoff->split_s[i], time);
        yk_tradeoff_percent(tradeoff, tradeoff->part[i], 1, percent);
        yk_table_add(table, "%s %%", percent);
        yk_table_add(table, "%d", tradeoff->kept[i]);
        yk_table_add(table, "%s", time);
        add_bar(tradeoff->split_s[i], least_s, most_s, table);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static yk_status add_memory(const struct yk_tradeoff *tradeoff, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"memory of a device", YK_TABLE_RIGHT},
        {"together", YK_TABLE_RIGHT},
        {"one gather ahead", YK_TABLE_RIGHT},
        {"", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    double least_s = 0;
    double most_s = 0;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    find_range(tradeoff->joint_of_memory_s, tradeoff->memory_points, &least_s, &most_s);
    for (int32_t i = 0; i < tradeoff->memory_points; i++) {
        char bytes[YK_UNITS_SIZE];
        char joint[YK_UNITS_SIZE];
        char ahead[YK_UNITS_SIZE];
        yk_units_format(tradeoff->memory_bytes[i], YK_UNIT_BYTES, bytes);
        format_time(tradeoff->joint_of_memory_s[i], joint);
        format_time(tradeoff->ahead_of_memory_s[i], ahead);
        yk_table_add(table, "%s", bytes);
        yk_table_add(table, "%s", joint);
        yk_table_add(table, "%s", ahead);
        add_bar(tradeoff->joint_of_memory_s[i], least_s, most_s, table);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static yk_status write_text(const struct yk_planning *planning, const struct yk_tradeoff *tradeoff,
                            const struct yk_plan_tradeoff *charts, struct yk_text *out)
{
    char joint[YK_UNITS_SIZE];
    char best[YK_UNITS_SIZE];
    char bound[YK_UNITS_SIZE];
    char bytes[YK_UNITS_SIZE];
    char percent[YK_TRADEOFF_PERCENT_SIZE] = "-";
    if (isfinite(charts[0].chosen_x)) {
        yk_tradeoff_percent(tradeoff, charts[0].chosen_x, 1, percent);
    }
    format_time(tradeoff->joint_s, joint);
    format_time(charts[0].chosen_s, best);
    format_time(tradeoff->bound_s, bound);
    yk_units_format(tradeoff->free_bytes, YK_UNIT_BYTES, bytes);
    yk_workload_add_title(planning->request.config, planning->cluster, &planning->request.workload,
                          out);
    yk_text_add(out, "\n");
    if (planning->cluster->assumption) {
        yk_text_addf(out, "%s\n", planning->cluster->assumption);
    }
    yk_text_addf(out, "\n%s\n%s Here that is %s.\n\n", charts[0].title, charts[0].definition,
                 bytes);
    YK_TRY(add_split(tradeoff, out));
    yk_text_addf(out, "\n  best split   %s %% for scheduling: %s\n", percent, best);
    if (tradeoff->joint) {
        yk_text_addf(out, "  together     %s ±%.0f %%, %d layers kept\n", joint,
                     100 * yk_band_error(&tradeoff->band), tradeoff->joint_kept);
    }
    yk_text_addf(out, "  bound        %s\n  times        ", bound);
    yk_band_describe(&tradeoff->band, out);
    yk_text_add(out, "\n");
    if (yk_tradeoff_is_cut_short(tradeoff)) {
        yk_text_addf(out,
                     "  search       cut short by the budget: %d of %d splits, %d of %d sizes of "
                     "memory\n",
                     tradeoff->split_points, tradeoff->points, tradeoff->memory_points,
                     tradeoff->points);
    }
    if (tradeoff->memory_points > 0) {
        yk_text_addf(out, "\n%s\n%s\n\n", charts[1].title, charts[1].definition);
        YK_TRY(add_memory(tradeoff, out));
    }
    return yk_text_status(out);
}

static void add_number(double value, struct yk_text *out)
{
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_list(const char *key, const double *values, int32_t count, struct yk_text *out)
{
    yk_text_addf(out, ",\"%s\":[", key);
    for (int32_t i = 0; i < count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        add_number(values[i], out);
    }
    yk_text_add(out, "]");
}

static yk_status write_json(const struct yk_planning *planning, const struct yk_tradeoff *tradeoff,
                            const struct yk_plan_tradeoff *charts, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"tradeoff\",\"model\":");
    yk_text_add_json(out, planning->request.config->name);
    yk_text_add(out, ",\"cluster\":");
    yk_text_add_json(out, planning->cluster->source);
    if (planning->cluster->assumption) {
        yk_text_add(out, ",\"assumption\":");
        yk_text_add_json(out, planning->cluster->assumption);
    } else {
        yk_text_add(out, ",\"assumption\":null");
    }
    yk_text_add(out, ",\"definition\":");
    yk_text_add_json(out, charts[0].definition);
    add_list("free_bytes", &tradeoff->free_bytes, 1, out);
    yk_text_addf(out, ",\"points\":%d,\"cut_short\":%s", tradeoff->points,
                 yk_tradeoff_is_cut_short(tradeoff) ? "true" : "false");
    add_list("part", tradeoff->part, tradeoff->split_points, out);
    add_list("split_s", tradeoff->split_s, tradeoff->split_points, out);
    yk_text_add(out, ",\"kept\":[");
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        yk_text_addf(out, "%s%d", i > 0 ? "," : "", tradeoff->kept[i]);
    }
    yk_text_add(out, "],\"joint_s\":");
    add_number(tradeoff->joint_s, out);
    yk_text_addf(out, ",\"joint_kept\":%d,\"bound_s\":", tradeoff->joint_kept);
    yk_text_add_number(out, tradeoff->bound_s);
    yk_band_write_json(&tradeoff->band, out);
    add_list("memory_bytes", tradeoff->memory_bytes, tradeoff->memory_points, out);
    add_list("joint_of_memory_s", tradeoff->joint_of_memory_s, tradeoff->memory_points, out);
    add_list("ahead_of_memory_s", tradeoff->ahead_of_memory_s, tradeoff->memory_points, out);
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}

/* Of the charts the first `count`, which have points. */
static yk_status write_files(const struct arguments *arguments, const struct yk_planning *planning,
                             const struct yk_tradeoff *tradeoff,
                             const struct yk_plan_tradeoff *charts, int32_t count,
                             struct yk_text *out)
{
    const char *const paths[] = {arguments->svg, arguments->memory_svg};
    struct yk_outputs outputs = {0};
    for (int32_t i = 0; i < 2; i++) {
        if (paths[i] && i < count) {
            yk_outputs_made(
                &outputs, yk_plan_figure_tradeoff(&charts[i], yk_outputs_add(&outputs, paths[i])));
        } else if (paths[i]) {
            yk_log(YK_LOG_WARNING, "%s is not written: the budget ended before its first point",
                   paths[i]);
        }
    }
    if (arguments->plans) {
        yk_outputs_made(&outputs, yk_tradeoff_plans_write(planning, tradeoff, arguments->plans));
    }
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

static yk_status weigh(const struct arguments *arguments, struct yk_planning *planning,
                       struct yk_text *out)
{
    const struct yk_search_request search = {.budget_s = arguments->budget_s};
    const struct yk_tradeoff_options weighing = {.points = (int32_t)arguments->points,
                                                 .milp_s = arguments->budget_s};
    struct yk_plan_curve curves[3];
    struct yk_plan_tradeoff charts[2];
    struct yk_tradeoff *tradeoff = NULL;
    YK_TRY(yk_planning_open(&arguments->planning, planning));
    YK_TRY(yk_workload_read(&arguments->workload, planning->request.config,
                            &planning->request.workload));
    planning->request.clip = arguments->clip;
    planning->request.search = yk_search_options(&search, yk_terminal_job());
    yk_terminal_progress_begin();
    yk_status status = yk_tradeoff_find(&planning->request, &weighing, &tradeoff);
    yk_terminal_progress_end();
    if (status == YK_ERROR_STOPPED) { /* by the budget that was given, not by a signal */
        return yk_fail(YK_ERROR_INPUT, "%s", yk_status_message());
    }
    YK_TRY(status);
    const int32_t drawn = yk_tradeoff_charts(tradeoff, curves, charts);
    status = arguments->json ? write_json(planning, tradeoff, charts, out)
                             : write_text(planning, tradeoff, charts, out);
    if (status == YK_OK) {
        status = write_files(arguments, planning, tradeoff, charts, drawn, out);
    }
    yk_tradeoff_destroy(tradeoff);
    return status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_planning planning = {0};
    const char *const paths[] = {arguments->planning.model, arguments->planning.cluster,
                                 arguments->planning.profile, arguments->svg,
                                 arguments->memory_svg};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 3));
    const yk_status status = weigh(arguments, &planning, out);
    yk_planning_close(&planning);
    return status;
}

static const struct yk_option options[] = {
    YK_PLANNING_OPTIONS(struct arguments, planning,
                        "A built-in model (yoke model lists them) or a Hugging Face config.json",
                        "A cluster file, or a line such as \"8xrtx3090 @ 8GB/s\""),
    YK_WORKLOAD_OPTIONS(struct arguments, workload),
    {
        .name = "clip",
        .help = "Gradients are clipped by their norm: no update before all ranks have agreed on it",
        .group = YK_WORKLOAD_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, clip),
    },
    {
        .name = "memory",
        .placeholder = "BYTES",
        .help = "Use at most this much of every device's memory: 20GiB",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_UNIT,
        .unit = YK_UNIT_BYTES,
        .offset = offsetof(struct arguments, planning.memory_bytes),
    },
    {
        .name = "points",
        .placeholder = "N",
        .help = "Points of each curve",
        .group = YK_SEARCH_GROUP,
        .preset = "21",
        .kind = YK_OPTION_INTEGER,
        .least = 2,
        .most = MOST_POINTS,
        .offset = offsetof(struct arguments, points),
    },
    {
        .name = "budget",
        .placeholder = "SECONDS",
        .help = "How long all of it may take; half of that is for the integer program that looks "
                "for strategies and order together. When it ends, the points so far are printed",
        .group = YK_SEARCH_GROUP,
        .preset = "5",
        .kind = YK_OPTION_SECONDS,
        .offset = offsetof(struct arguments, budget_s),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "svg",
        .placeholder = "FILE",
        .help = "Also draw step time against the split of memory",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, svg),
    },
    {
        .name = "memory-svg",
        .placeholder = "FILE",
        .help = "Also draw step time against the devices' memory",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, memory_svg),
    },
    {
        .name = "plans",
        .placeholder = "FOLDER",
        .help = "Also write the plan of every split, split-NNN.json by percent, and joint.json, to "
                "be run",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, plans),
    },
    {
        .name = "quiet",
        .help = "No notes and no progress line on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke tradeoff --model llama3-8b --batch 8 --seq 4096 --cluster \"8xrtx3090 @ 8GB/s\"",
     "Where memory is better spent: on parameters kept, or on gathers ahead"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "not even fully-sharded layers fit the devices' memory"},
    {YK_ERROR_INPUT, "the model, the cluster or the profile makes no sense, or the budget is too "
                     "small for a single point"},
    {0, NULL},
};

const struct yk_command yk_command_tradeoff = {
    .name = "tradeoff",
    .summary = "weigh keeping parameters against sending them ahead, for the same memory",
    .description =
        "With sharded layers, memory can hold parameters between forward and backward, which saves "
        "gathers, or it can hold what is gathered ahead of its use, which hides them. Printed are "
        "the predicted step for every split of the free memory between the two, with strategies "
        "chosen first and communication ordered in what is left; the plan in which both are "
        "decided together; and the step for every size of the devices' memory. Where the budget "
        "ends before "
        "that, all outputs hold the points that were computed, and a line says how many of how "
        "many they are.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
