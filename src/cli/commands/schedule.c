#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/planning/schedule_job.h"
#include "report/schedule/gantt.h"

struct arguments {
    struct yk_schedule_job_request request;
    bool json;
    int64_t width;
    bool quiet;
};

static yk_status write_text(const struct arguments *arguments,
                            const struct yk_schedule_report *report, struct yk_text *out)
{
    const int width = arguments->width > 0 ? (int)arguments->width : yk_terminal_output_columns();
    struct yk_text summary = {0};
    yk_status status = yk_schedule_report_write_summary(report, &summary);
    /* The chart cleans the names in it: with the summary escaped, only its colours are left. */
    yk_text_add_escaped_controls(out, yk_text_chars(&summary), summary.length);
    yk_text_add(out, "\n");
    yk_text_free(&summary);
    YK_IF_OK(yk_gantt_text_write(report->schedule, width, yk_terminal_output_uses_colour(), out));
    out->coloured = yk_terminal_output_uses_colour();
    return status;
}

/* What was found: of one scheduler its schedule, of all of them how they compare. */
static yk_status show(const struct arguments *arguments,
                      const struct yk_schedule_job_result *result, struct yk_text *out)
{
    const struct yk_schedule_report *report = &result->report;
    if (result->row_count > 0) {
        return arguments->json ? yk_schedule_job_write_comparison_json(result, out)
                               : yk_schedule_job_write_comparison_text(result, out);
    }
    return arguments->json ? yk_schedule_report_write_json(report, out)
                           : write_text(arguments, report, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_schedule_job_request request = arguments->request;
    struct yk_schedule_job_result result = {0};
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_INTERRUPT);
    yk_status status = yk_schedule_job_run(&request, &result);
    YK_IF_OK(show(arguments, &result, out));
    YK_IF_OK(yk_terminal_print_unsaved_result(yk_schedule_job_write_files(&request, &result), out));
    yk_schedule_job_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, request.member)

static const struct yk_option options[] = {
    {YK_OPTION_ROW("algorithm", "NAME", YK_SEARCH_OPTION_HEADING, "How to find the schedule"),
     YK_OPTION_INIT_CHOICE(yk_schedule_job_algorithm_choice_at, "heft"), TO(algorithm)},
    {YK_OPTION_ROW(
         "map", "FILE", YK_SEARCH_OPTION_HEADING,
         "Do not search: run each task where this JSON object of task (or group) names and "
         "device names says"),
     YK_OPTION_INIT_INPUT_FILE, TO(map)},
    YK_SEARCH_OPTIONS(
        struct arguments, request.search, "1",
        "How long best and exact may search, once the quick algorithms have run; 2min is "
        "understood, too",
        "Search for this many moves, or branches of exact, instead of a time: the same "
        "result every time"),
    {YK_OPTION_ROW("example", NULL, YK_INPUT_OPTION_HEADING,
                   "Schedule a small graph that yoke brings along, instead of FILE"),
     YK_OPTION_INIT_FLAG, TO(example)},
    {YK_OPTION_ROW("devices", "N", YK_INPUT_OPTION_HEADING,
                   "How many devices there are, for files that do not say"),
     YK_OPTION_INIT_INTEGER(1, YK_GRAPH_MAX_DEVICES, NULL), TO(devices)},
    {YK_OPTION_ROW(
         "speeds", "LIST", YK_INPUT_OPTION_HEADING,
         "How fast each device is, such as 1,2,0.5; 1 is the speed the file's times are for"),
     .kind = YK_OPTION_NUMBERS, TO(speeds)},
    {YK_OPTION_ROW("bandwidth", "RATE", YK_INPUT_OPTION_HEADING,
                   "Bandwidth between two devices, for files that give bytes but no links; "
                   "1.25GB/s when neither says"),
     .kind = YK_OPTION_QUANTITY, .unit = YK_UNIT_BYTES_PER_S, TO(bandwidth_bytes_per_s)},
    {YK_OPTION_ROW(
         "latency", "TIME", YK_INPUT_OPTION_HEADING,
         "Latency between two devices, such as 10us, for files that give bytes but no links"),
     .kind = YK_OPTION_QUANTITY, .unit = YK_UNIT_SECONDS, .allows_zero = true, TO(latency_s)},
    YK_JSON_OPTION(struct arguments, json),
    {YK_OPTION_ROW("width", "COLUMNS", YK_OUTPUT_OPTION_HEADING,
                   "Width of the printed Gantt chart; else that of the terminal, or 80"),
     YK_OPTION_INIT_INTEGER(20, 10000, NULL), YK_OPTION_OFFSET_OF(struct arguments, width)},
    YK_DRAWING_PATHS_OPTIONS(struct arguments, request.drawings,
                             "Also draw the Gantt chart into this file",
                             "Also write a page with chart, tables and reasons, for a browser"),
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress line"),
};

static const struct yk_operand operands[] = {
    {
        .placeholder = "FILE",
        .help = "The graph: yoke's own JSON, a WfCommons workflow, a standard task graph (STG) or "
                "a planted one; - is standard input",
        YK_OPTION_OFFSET_OF(struct arguments, request.file),
    },
};

static const struct yk_command_example examples[] = {
    {"yoke schedule --example", "Schedule ten tasks on three devices"},
    {"yoke schedule graph.json --algorithm all", "Compare the algorithms on your graph"},
    {"yoke schedule rand0000.stg --speeds 1,2,4 --algorithm best --svg gantt.svg",
     "Search for a short schedule on three unequal devices, and draw it"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "the algorithm finds no schedule that the devices can run and hold"},
    {YK_ERROR_INPUT, "the file cannot be read or is no graph"},
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
    YK_COMMAND_INITIALIZERS(struct arguments),
};
