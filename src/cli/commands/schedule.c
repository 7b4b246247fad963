#include "base/file.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "graph/read.h"
#include "job/planning/comparison.h"
#include "job/planning/drawings.h"
#include "job/search.h"
#include "report/gantt_text.h"
#include "report/schedule_report.h"
#include "sched/bound.h"
#include "sched/mapped.h"
#include "sched/memory.h"
#include "sched/scheduler.h"
#include "sched/task_map.h"

#include <stdlib.h>
#include <string.h>

#define ALL "all"

struct arguments {
    const char *file;
    bool example;
    const char *algorithm;
    const char *map;
    int64_t devices;
    struct yk_option_list speeds;
    double bandwidth_bytes_per_s;
    double latency_s;
    struct yk_search_request search;
    bool json;
    int64_t width;
    struct yk_drawings drawings;
    bool quiet;
};

static bool algorithm_choices(size_t number, struct yk_choice *out)
{
    if (number > yk_scheduler_count) {
        return false;
    }
    *out = number == yk_scheduler_count
               ? (struct yk_choice){ALL, "each of them, as a table that compares them"}
               : (struct yk_choice){yk_schedulers[number]->name, yk_schedulers[number]->summary};
    return true;
}

static const char *source_of(const struct arguments *arguments)
{
    if (arguments->example) {
        return "example";
    }
    return strcmp(arguments->file, "-") == 0 ? "standard input" : arguments->file;
}

static yk_status read_graph(const struct arguments *arguments, struct yk_graph **out)
{
    if (arguments->example && arguments->file) {
        return yk_fail(YK_ERROR_USAGE,
                       "--example takes the place of a FILE; leave out one of them");
    }
    if (!arguments->example && !arguments->file) {
        return yk_fail(YK_ERROR_USAGE, "yoke schedule needs a FILE; to see what it does, try yoke "
                                       "schedule --example");
    }
    const struct yk_graph_read_options options = {
        .device_count = (int32_t)arguments->devices,
        .speeds = arguments->speeds.values,
        .speed_count = arguments->speeds.count,
        .latency_s = arguments->latency_s,
        .bandwidth_bytes_per_s = arguments->bandwidth_bytes_per_s,
    };
    struct yk_text text = {0};
    yk_status status = YK_OK;
    if (arguments->example) {
        yk_text_add(&text, yk_graph_example);
        status = yk_text_status(&text);
    } else {
        status = yk_file_read(arguments->file, &text);
    }
    if (status == YK_OK) {
        status =
            yk_graph_read(yk_text_chars(&text), text.length, source_of(arguments), &options, out);
    }
    yk_text_free(&text);
    return status;
}

static yk_status write_text(const struct arguments *arguments,
                            const struct yk_schedule_report *report, struct yk_text *out)
{
    const struct yk_gantt_text_options gantt = {
        .width = arguments->width > 0 ? (int)arguments->width : yk_terminal_width(),
        .colour = yk_terminal_colour(),
    };
    struct yk_text summary = {0};
    yk_status status = yk_schedule_report_summary(report, &summary);
    /* The chart cleans the names in it: with the summary escaped, only its colours are left. */
    yk_text_add_printable(out, yk_text_chars(&summary), summary.length);
    yk_text_add(out, "\n");
    yk_text_free(&summary);
    if (status == YK_OK) {
        status = yk_gantt_text_write(report->schedule, &gantt, out);
    }
    out->coloured = gantt.colour;
    return status;
}

static yk_status draw(const struct arguments *arguments, const struct yk_schedule_report *report,
                      struct yk_text *out)
{
    struct yk_outputs outputs = {0};
    yk_drawings_make(&arguments->drawings, report, &outputs);
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

/* The schedule in which each task runs where the file `path` says. */
static yk_status follow_map(const char *path, const struct yk_graph *graph,
                            struct yk_schedule **out)
{
    struct yk_text text = {0};
    struct yk_schedule *schedule = NULL;
    yk_status status = YK_OK;
    int32_t *devices = calloc((size_t)graph->task_count, sizeof *devices);
    if (!devices) {
        return yk_fail_out_of_memory();
    }
    YK_TRY_GOTO(yk_file_read(path, &text), done);
    YK_TRY_GOTO(yk_task_map_read(yk_text_chars(&text), text.length, path, graph, devices), done);
    YK_TRY_GOTO(yk_schedule_create(graph, &schedule), done);
    YK_TRY_GOTO(yk_mapped_run(&(struct yk_mapping){.devices = devices}, schedule), done);
    YK_TRY_GOTO(yk_memory_check(schedule), done);
    *out = schedule;
    schedule = NULL;
done:
    yk_schedule_destroy(schedule);
    yk_text_free(&text);
    free(devices);
    return status;
}

static yk_status find_schedule(const struct arguments *arguments, const struct yk_graph *graph,
                               const struct yk_scheduler_options *options, struct yk_schedule **out)
{
    if (arguments->map) {
        return follow_map(arguments->map, graph, out);
    }
    const struct yk_scheduler *scheduler = yk_scheduler_find(arguments->algorithm);
    const yk_status status = yk_scheduler_run(scheduler, graph, options, out);
    yk_terminal_progress_end();
    if (status == YK_ERROR_NO_FIT && !scheduler->keeps_limits) {
        return yk_fail(status, "%s; heft-memory, best and exact look at memory while they schedule",
                       yk_status_message());
    }
    return status;
}

static yk_status run_one(const struct arguments *arguments, const struct yk_graph *graph,
                         const struct yk_scheduler_options *options, struct yk_text *out)
{
    int64_t bound = 0;
    struct yk_schedule *schedule = NULL;
    YK_TRY(yk_bound_compute(graph, &bound));
    YK_TRY(find_schedule(arguments, graph, options, &schedule));
    const struct yk_schedule_report report = {
        .schedule = schedule,
        .algorithm = arguments->map ? "map" : arguments->algorithm,
        .source = source_of(arguments),
        .lower_bound = schedule->lower_bound > bound ? schedule->lower_bound : bound,
    };
    yk_status status = arguments->json ? yk_schedule_report_json(&report, out)
                                       : write_text(arguments, &report, out);
    if (status == YK_OK) {
        status = draw(arguments, &report, out);
    }
    yk_schedule_destroy(schedule);
    return status;
}

static yk_status run_all(const struct arguments *arguments, const struct yk_graph *graph,
                         const struct yk_scheduler_options *options, struct yk_text *out)
{
    struct yk_comparison comparison = {0};
    yk_status status = yk_comparison_run(graph, options, &comparison);
    yk_terminal_progress_end();
    if (status == YK_OK) {
        status = arguments->json ? yk_comparison_write_json(&comparison, out)
                                 : yk_comparison_write_text(&comparison, source_of(arguments), out);
    }
    if (status == YK_OK) {
        const struct yk_schedule_report report = {
            .schedule = comparison.schedule,
            .algorithm = comparison.best->name,
            .source = source_of(arguments),
            .lower_bound = comparison.lower_bound,
        };
        status = draw(arguments, &report, out);
    }
    yk_comparison_free(&comparison);
    return status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    struct yk_graph *graph = NULL;
    const char *const paths[] = {arguments->file, arguments->map, arguments->drawings.svg,
                                 arguments->drawings.html, arguments->drawings.trace};
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 2));
    YK_TRY(read_graph(arguments, &graph));
    const struct yk_scheduler_options options =
        yk_search_options(&arguments->search, yk_terminal_job());
    yk_terminal_progress_begin();
    const yk_status status = !arguments->map && strcmp(arguments->algorithm, ALL) == 0
                                 ? run_all(arguments, graph, &options, out)
                                 : run_one(arguments, graph, &options, out);
    yk_search_note_interruption(yk_terminal_job());
    yk_graph_destroy(graph);
    return status == YK_ERROR_NO_FIT ? yk_fail_in(status, source_of(arguments)) : status;
}

#define INPUT "Input options"

static const struct yk_option options[] = {
    {
        .name = "algorithm",
        .placeholder = "NAME",
        .help = "How to find the schedule",
        .group = YK_SEARCH_GROUP,
        .preset = "heft",
        .kind = YK_OPTION_CHOICE,
        .choices = algorithm_choices,
        .offset = offsetof(struct arguments, algorithm),
    },
    {
        .name = "map",
        .placeholder = "FILE",
        .help = "Do not search: run each task where this JSON object of task (or group) names and "
                "device names says",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, map),
    },
    YK_SEARCH_OPTIONS(
        struct arguments, search, "1",
        "How long best and exact may search, once the quick algorithms have run; 2min is "
        "understood, too",
        "Search for this many moves, or branches of exact, instead of a time: the same "
        "result every time"),
    {
        .name = "example",
        .help = "Schedule a small graph that yoke brings along, instead of FILE",
        .group = INPUT,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, example),
    },
    {
        .name = "devices",
        .placeholder = "N",
        .help = "How many devices there are, for files that do not say",
        .group = INPUT,
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_GRAPH_MAX_DEVICES,
        .offset = offsetof(struct arguments, devices),
    },
    {
        .name = "speeds",
        .placeholder = "LIST",
        .help = "How fast each device is, such as 1,2,0.5; 1 is the speed the file's times are for",
        .group = INPUT,
        .kind = YK_OPTION_LIST,
        .offset = offsetof(struct arguments, speeds),
    },
    {
        .name = "bandwidth",
        .placeholder = "RATE",
        .help = "Bandwidth between two devices, for files that give bytes but no links; "
                "1.25GB/s when neither says",
        .group = INPUT,
        .kind = YK_OPTION_UNIT,
        .unit = YK_UNIT_BYTES_PER_S,
        .offset = offsetof(struct arguments, bandwidth_bytes_per_s),
    },
    {
        .name = "latency",
        .placeholder = "TIME",
        .help = "Latency between two devices, such as 10us, for files that give bytes but no links",
        .group = INPUT,
        .kind = YK_OPTION_UNIT,
        .unit = YK_UNIT_SECONDS,
        .zero = true,
        .offset = offsetof(struct arguments, latency_s),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "width",
        .placeholder = "COLUMNS",
        .help = "Width of the printed Gantt chart; else that of the terminal, or 80",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_INTEGER,
        .least = 20,
        .most = 10000,
        .offset = offsetof(struct arguments, width),
    },
    YK_DRAWINGS_OPTIONS(struct arguments, drawings, "Also draw the Gantt chart into this file",
                        "Also write a page with chart, tables and reasons, for a browser"),
    {
        .name = "quiet",
        .help = "No notes and no progress line on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "FILE",
        .help = "The graph: yoke's own JSON, a WfCommons workflow, a standard task graph (STG) or "
                "a planted one; - is standard input",
        .offset = offsetof(struct arguments, file),
    },
};

static const struct yk_example examples[] = {
    {"yoke schedule --example", "Schedule ten tasks on three devices"},
    {"yoke schedule graph.json --algorithm all", "Compare the algorithms on your graph"},
    {"yoke schedule rand0000.stg --speeds 1,2,4 --algorithm best --svg gantt.svg",
     "Search for a short schedule on three unequal devices, and draw it"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "the algorithm finds no schedule that the devices can run and hold"},
    {YK_ERROR_INPUT, "the file cannot be read or is no graph"},
    {0, NULL},
};

const struct yk_command yk_command_schedule = {
    .name = "schedule",
    .summary = "place the tasks of a graph on unequal devices",
    .description =
        "Decides which device runs each task and when, so that the last one ends early, and prints "
        "the schedule. The lower bound printed beside it is a time no schedule can beat.\n\n"
        "A graph of your own is a JSON file like {\"yoke\": 1, \"kind\": \"graph\", \"devices\": "
        "[\"P1\", \"P2\"], \"tasks\": [{\"name\": \"a\", \"cost\": [14, 9]}, {\"name\": \"b\", "
        "\"cost\": [7, null]}], \"edges\": [{\"from\": \"a\", \"to\": \"b\", \"cost\": 18}]}: one "
        "cost "
        "for each device, null where it cannot run. graphs.md, in yoke's documentation, tells of "
        "links, memory and groups.\n\n"
        "With --algorithm all, the drawings are of the best schedule. Ctrl-C ends a search with "
        "the best it has.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
