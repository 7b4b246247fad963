#include "base/file.h"
#include "base/folder.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/commands/launch.h"
#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/device.h"
#include "job/output_files.h"
#include "job/profiling/profile_job.h"
#include "job/training/transport.h"
#include "report/profile/report.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* Times that vary by more than this are worth a word. */
static const double noisy = 0.1;

static bool is_of_sort(const struct yk_profiler_layer_row *row,
                       const struct yk_profiler_layer_row *sort)
{
    return strcmp(row->layer.shape, sort->layer.shape) == 0 &&
           strcmp(row->layer.device, sort->layer.device) == 0 &&
           row->layer.part == sort->layer.part && row->layer.sequence == sort->layer.sequence;
}

/* The row of the same layer and batch for another pass; NULL: none. */
static const struct yk_profiler_layer_row *pass_of(const struct yk_profiler *profiler,
                                                   const struct yk_profiler_layer_row *row,
                                                   const char *pass)
{
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        const struct yk_profiler_layer_row *other = &profiler->layers[i];
        if (strcmp(other->layer.pass, pass) == 0 && other->batch == row->batch &&
            is_of_sort(other, row)) {
            return other;
        }
    }
    return NULL;
}

/* Whether no row before is of the same sort. */
static bool is_first(const struct yk_profiler *profiler, int32_t number)
{
    int32_t i = 0;
    while (!is_of_sort(&profiler->layers[i], &profiler->layers[number])) {
        i++;
    }
    return i == number;
}

/* The row of the same sort and pass with the next larger batch; NULL: none. */
static const struct yk_profiler_layer_row *
next_of(const struct yk_profiler *profiler, const struct yk_profiler_layer_row *sort, int64_t batch)
{
    const struct yk_profiler_layer_row *next = NULL;
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        const struct yk_profiler_layer_row *row = &profiler->layers[i];
        if (is_of_sort(row, sort) && strcmp(row->layer.pass, sort->layer.pass) == 0 &&
            row->batch > batch && (!next || row->batch < next->batch)) {
            next = row;
        }
    }
    return next;
}

static void add_time(struct yk_text_table *table, const struct yk_profiler_layer_row *row)
{
    yk_text_table_add_cell(
        table, "%s", row ? YK_UNITS_FORMAT_TEMPORARY(row->measurement.value, YK_UNIT_SECONDS) : "");
}

static void add_row(const struct yk_profiler *profiler, const struct yk_profiler_layer_row *row,
                    struct yk_text_table *table)
{
    yk_text_table_add_cell(table, row->layer.part < 1 ? "%s %.3g%%" : "%s", row->layer.device,
                           100 * row->layer.part);
    yk_text_table_add_cell(table, "%s", row->layer.shape);
    yk_text_table_add_cell(table, "%" PRId64, row->batch);
    add_time(table, row);
    add_time(table, pass_of(profiler, row, "backward"));
    add_time(table, pass_of(profiler, row, "update"));
    yk_text_table_add_cell(table, "%.1f %%", 100 * row->measurement.spread);
}

static yk_status add_layers(const struct yk_profiler *profiler, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"device", YK_TEXT_TABLE_LEFT},    {"layer", YK_TEXT_TABLE_LEFT},
        {"samples", YK_TEXT_TABLE_RIGHT},  {"forward", YK_TEXT_TABLE_RIGHT},
        {"backward", YK_TEXT_TABLE_RIGHT}, {"update", YK_TEXT_TABLE_RIGHT},
        {"spread", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        const struct yk_profiler_layer_row *sort = &profiler->layers[i];
        if (strcmp(sort->layer.pass, "forward") != 0 || !is_first(profiler, i)) {
            continue;
        }
        for (const struct yk_profiler_layer_row *row = next_of(profiler, sort, 0); row;
             row = next_of(profiler, sort, row->batch)) {
            add_row(profiler, row, table);
        }
    }
    return yk_text_table_write_and_destroy(table, out);
}

static yk_status add_links(const struct yk_profiler *profiler, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"link", YK_TEXT_TABLE_LEFT},    {"message", YK_TEXT_TABLE_LEFT},
        {"ranks", YK_TEXT_TABLE_RIGHT},  {"bytes", YK_TEXT_TABLE_RIGHT},
        {"time", YK_TEXT_TABLE_RIGHT},   {"a second", YK_TEXT_TABLE_RIGHT},
        {"spread", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        yk_text_table_add_cell(table, "%s", row->link.link);
        yk_text_table_add_cell(table, "%s", row->link.collective);
        yk_text_table_add_cell(table, "%d", (int)row->link.ranks);
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY((double)row->bytes, YK_UNIT_BYTES));
        yk_text_table_add_cell(table, "%s",
                               YK_UNITS_FORMAT_TEMPORARY(row->measurement.value, YK_UNIT_SECONDS));
        yk_text_table_add_cell(
            table, "%s",
            YK_UNITS_FORMAT_TEMPORARY((double)row->bytes / row->measurement.value,
                                      YK_UNIT_BYTES_PER_S));
        yk_text_table_add_cell(table, "%.1f %%", 100 * row->measurement.spread);
    }
    return yk_text_table_write_and_destroy(table, out);
}

static void add_facts(const struct yk_profiler *profiler, struct yk_text *out)
{
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        const struct yk_profiler_fact_row *row = &profiler->facts[i];
        if (strcmp(row->fact.fact, YK_PROFILE_FACT_CONTEXT_BYTES) == 0) {
            if (!strstr(row->fact.subject, " with ")) {
                continue; /* the same, for whatever other model */
            }
            yk_text_addf(out, "%s: a process holds %s besides what it trains\n", row->fact.subject,
                         YK_UNITS_FORMAT_TEMPORARY(row->measurement.value, YK_UNIT_BYTES));
        } else {
            yk_text_addf(out, "%s: %s take%s %.3g times as long\n", row->fact.subject,
                         row->fact.fact,
                         strcmp(row->fact.fact, YK_PROFILE_FACT_MESSAGE_SLOWDOWN) == 0 ? "" : "s",
                         row->measurement.value);
        }
    }
}

static bool has_run(const struct yk_counter_rank_data *counted)
{
    bool ran = false;
    for (int32_t i = 0; i < counted->phases.count; i++) {
        ran = ran || counted->phases.all[i].seconds > 0;
    }
    return ran;
}

/* A table for each target, with its name where there are several. */
static yk_status add_counters(const struct yk_profile_job_result *result, struct yk_text *out)
{
    bool any = false;
    for (int32_t i = 0; i < result->counted.count; i++) {
        const struct yk_counter_run_data one = {&result->counted.all[i], 1};
        if (!has_run(one.all)) {
            continue;
        }
        any = true;
        if (result->target_count > 1) {
            yk_text_addf(out, "\n%s\n", one.all->device);
        }
        YK_TRY(yk_device_counters_write_text(&one, out));
    }
    if (!any) {
        yk_text_add(out, "\nno counters: no step was run\n");
    }
    return yk_text_status(out);
}

static yk_status write_measured(const struct yk_profile_job_result *result, struct yk_text *out)
{
    const struct yk_profiler *profiler = &result->profiler;
    yk_text_add_bytes(out, yk_text_chars(&result->notes), result->notes.length);
    if (profiler->layer_count > 0) {
        yk_text_add(out, "\n");
        YK_TRY(add_layers(profiler, out));
    }
    if (profiler->link_count > 0) {
        yk_text_add(out, "\n");
        YK_TRY(add_links(profiler, out));
    }
    if (profiler->fact_count > 0) {
        yk_text_add(out, "\n");
        add_facts(profiler, out);
    }
    if (result->counters) {
        YK_TRY(add_counters(result, out));
    }
    if (result->noise > noisy) {
        yk_text_addf(out,
                     "\nthis machine was busy, or its clocks vary: a quarter of the times are off "
                     "by more than %.0f %%, and predictions say so; measure again when it is quiet "
                     "(--again)\n",
                     100 * result->noise);
    }
    if (profiler->skipped_count > 0) {
        yk_text_addf(out, "\n%lld %s known already and not measured again; --again does\n",
                     (long long)profiler->skipped_count,
                     profiler->skipped_count == 1 ? "number of samples was"
                                                  : "numbers of samples were");
    }
    yk_text_addf(out, "\nkept in %s%s\n", result->path,
                 profiler->stopped ? "; stopped before all was measured" : "");
    return yk_text_status(out);
}

static yk_status write_imported(const struct yk_profile_import_result *result, struct yk_text *out)
{
    for (int32_t i = 0; i < result->file_count; i++) {
        const struct yk_profile_import_counts *counts = &result->files[i].counts;
        const int64_t numbers = counts->added + counts->replaced + counts->left;
        yk_text_addf(out,
                     "%s: %" PRId64 " number%s, %" PRId64 " new, %" PRId64 " newer, %" PRId64
                     " no newer than what is known\n",
                     result->files[i].path, numbers, yk_text_plural_suffix(numbers), counts->added,
                     counts->replaced, counts->left);
    }
    yk_text_addf(out, "\nkept in %s\n", result->path);
    return yk_text_status(out);
}

static yk_status write_imported_json(const struct yk_profile_import_result *result,
                                     struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "profile", result->path);
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "imported");
    for (int32_t i = 0; i < result->file_count; i++) {
        const struct yk_profile_import_counts *counts = &result->files[i].counts;
        yk_json_write_begin_object_on_new_line(&json, 2);
        yk_json_write_string(&json, "file", result->files[i].path);
        yk_json_write_integer(&json, "new", counts->added);
        yk_json_write_integer(&json, "newer", counts->replaced);
        yk_json_write_integer(&json, "left", counts->left);
        yk_json_write_end_object(&json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}

static yk_status write_shown(const struct yk_profile_report *report, int columns,
                             struct yk_text *out)
{
    if (report->layer_row_count + report->link_row_count + report->fact_count > 0) {
        return yk_profile_report_write_text(report, columns, out);
    }
    yk_text_addf(out, "%s: %s\n", report->path,
                 report->known > 0 ? "nothing that was measured is of this device and model"
                                   : "nothing has been measured yet");
    return yk_text_status(out);
}

/* What a file is called: letters and digits of `words`, others are hyphens. */
static void add_file_name(const char *words, struct yk_text *out)
{
    for (const char *letter = words; *letter; letter++) {
        const char lower = (char)tolower((unsigned char)*letter);
        const bool plain = isalnum((unsigned char)*letter) && (unsigned char)*letter < 128;
        const bool repeats = out->length > 0 && out->bytes[out->length - 1] == '-';
        if (plain || !repeats) {
            yk_text_add_bytes(out, plain ? &lower : "-", 1);
        }
    }
}

/* Names that differ in other characters only are distinguished by their numbers. */
static yk_status write_picture(const char *folder, const char *kind, int32_t number,
                               const char *words, const struct yk_text *picture)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s-%d-", folder, kind, (int)number);
    add_file_name(words, &path);
    yk_text_add(&path, ".svg");
    yk_status status = yk_text_status(&path);
    YK_IF_OK(yk_file_write_nofollow(yk_text_chars(&path), picture));
    yk_text_free(&path);
    return status;
}

static yk_status draw_links(const struct yk_profile_report *report, const char *folder,
                            struct yk_arena *arena)
{
    yk_status status = YK_OK;
    for (int32_t i = 0, next = 0, number = 1; i < report->link_count && status == YK_OK;
         i = next, number++) {
        struct yk_text picture = {0};
        status = yk_profile_figures_draw_link_curves(report, i, arena, &picture, &next);
        YK_IF_OK(
            write_picture(folder, "link", number, report->links[i].rows[0].link.link, &picture));
        yk_text_free(&picture);
    }
    return status;
}

static yk_status draw_layers(const struct yk_profile_report *report, const char *folder,
                             struct yk_arena *arena)
{
    yk_status status = YK_OK;
    for (int32_t i = 0; i < report->layer_count && status == YK_OK; i++) {
        const struct yk_profile_layer_key *layer = &report->layers[i].rows[0].layer;
        struct yk_text picture = {0};
        struct yk_text words = {0};
        yk_profile_describe_device(layer, &words);
        yk_text_addf(&words, " %s", layer->shape);
        status = yk_profile_figures_draw_layer_times(&report->layers[i], arena, &picture);
        YK_IF_OK(write_picture(folder, "layer", i + 1, yk_text_chars(&words), &picture));
        yk_text_free(&words);
        yk_text_free(&picture);
    }
    return status;
}

static yk_status write_pictures(const struct yk_profile_report *report, const char *folder,
                                struct yk_arena *arena)
{
    YK_TRY(yk_folder_create(folder));
    YK_TRY(draw_links(report, folder, arena));
    return draw_layers(report, folder, arena);
}

enum {
    MAX_RANKS = 1024
};

struct arguments {
    struct yk_profile_job_request request;
    int64_t ranks; /* 0: not given */
    struct yk_rank_options hand;
    const char *import; /* files, with commas */
    bool show;
    const char *svg; /* a folder for pictures of what is shown */
    const char *cluster_output;
    bool json;
    bool quiet;
};

static yk_status output_measured(const struct arguments *arguments,
                                 const struct yk_profile_job_result *result, struct yk_text *out)
{
    const char *path = arguments->cluster_output;
    struct yk_output_files outputs = {0};
    YK_TRY(arguments->json ? yk_profile_job_write_json(result, out) : write_measured(result, out));
    if (path) {
        yk_output_files_drop_added_on_failure(
            &outputs,
            yk_profile_job_write_cluster_json(result, yk_output_files_add(&outputs, path)));
    }
    return yk_terminal_print_unsaved_result(yk_output_files_write_and_free(&outputs), out);
}

static yk_status measure(const struct arguments *arguments, struct yk_text *out)
{
    struct yk_profile_job_request request = arguments->request;
    struct yk_profile_job_result result = {0};
    struct yk_launcher launcher;
    bool launches = false;
    YK_TRY(yk_command_launch_detect_rank(&arguments->hand, arguments->ranks, &launcher, &launches));
    if (launches) {
        YK_TRY(yk_profile_job_check_request(&request, (int32_t)arguments->ranks));
        return yk_command_launch_ranks_and_wait(arguments->ranks);
    }
    request.launcher = &launcher;
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_TERMINATION);
    yk_status status = yk_profile_job_run(&request, &result);
    if (status == YK_OK && result.rank == 0) {
        status = output_measured(arguments, &result, out);
    }
    yk_profile_job_result_free(&result);
    return status;
}

static yk_status import(const struct arguments *arguments, struct yk_text *out)
{
    const struct yk_profile_import_request request = {
        .files = arguments->import,
        .profile = arguments->request.profile,
    };
    struct yk_profile_import_result result = {0};
    yk_status status = yk_profile_import_run(&request, &result);
    YK_IF_OK(arguments->json ? write_imported_json(&result, out) : write_imported(&result, out));
    yk_profile_import_result_free(&result);
    return status;
}

static yk_status output_shown(const struct arguments *arguments,
                              const struct yk_profile_show_result *result, struct yk_text *out)
{
    const struct yk_profile_report *report = &result->report;
    YK_TRY(arguments->json ? yk_profile_report_write_json(report, out)
                           : write_shown(report, yk_terminal_output_columns(), out));
    if (!arguments->svg) {
        return YK_OK;
    }
    return yk_terminal_print_unsaved_result(write_pictures(report, arguments->svg, result->arena),
                                            out);
}

static yk_status show(const struct arguments *arguments, struct yk_text *out)
{
    struct yk_profile_show_result result = {0};
    yk_status status = yk_profile_show_run(&arguments->request, &result);
    YK_IF_OK(output_shown(arguments, &result, out));
    yk_profile_show_result_free(&result);
    return status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    const char *const paths[] = {arguments->request.cluster, arguments->request.profile,
                                 arguments->cluster_output};
    if (arguments->svg && !arguments->show) {
        return yk_fail(YK_ERROR_USAGE, "--svg draws what --show shows; say both");
    }
    if (arguments->show) {
        return show(arguments, out);
    }
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 1));
    return arguments->import ? import(arguments, out) : measure(arguments, out);
}

#define MEASURING "Measuring options"
#define INSTEAD "Instead of measuring"
#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_option options[] = {
    YK_MODEL_OPTION(struct arguments, request.model,
                    "The model whose layers are measured: a name, a config.json, or a folder with "
                    "one"),
    YK_CLUSTER_OPTION(struct arguments, request.cluster,
                      "The devices, one for each rank; else this machine's, shared evenly"),
    {YK_OPTION_ROW("ranks", "N", YK_INPUT_OPTION_HEADING,
                   "How many ranks measure at the same time, and the links between them"),
     YK_OPTION_INIT_INTEGER(1, MAX_RANKS, NULL), TO(ranks)},
    {YK_OPTION_ROW("rank", "R", YK_INPUT_OPTION_HEADING, YK_RANK_OPTION_HELP),
     YK_OPTION_INIT_INTEGER(0, MAX_RANKS - 1, NULL), .missing_value = -1, TO(hand.rank)},
    {YK_OPTION_ROW("world", "N", YK_INPUT_OPTION_HEADING, YK_RANK_WORLD_OPTION_HELP),
     YK_OPTION_INIT_INTEGER(1, MAX_RANKS, NULL), TO(hand.world)},
    {YK_OPTION_ROW("master", "HOST:PORT", YK_INPUT_OPTION_HEADING, YK_RANK_MASTER_OPTION_HELP),
     YK_OPTION_INIT_TEXT(NULL), TO(hand.master)},
    {YK_OPTION_ROW(
         "batch", "N", YK_WORKLOAD_OPTION_HEADING,
         "The most samples that a rank may take at once: 1, 2, 4 … up to it are measured"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, "8"), TO(request.workload.batch)},
    YK_SEQUENCE_LENGTH_OPTIONS(struct arguments, request.workload),
    {YK_OPTION_ROW(
         "precision", "NAME", YK_WORKLOAD_OPTION_HEADING,
         "What matrix products are done in: fp32, tf32, fp16, bf16, or several with commas; "
         "else fp32 on a CPU, bf16 on a GPU"),
     YK_OPTION_INIT_TEXT(NULL), TO(request.workload.precision)},
    YK_ADAPTER_OPTIONS(struct arguments, request.workload),
    {YK_OPTION_ROW("slow", "RANK:FACTOR", MEASURING,
                   "Let a rank compute so many times as slowly, as in 1:2.5; several with commas"),
     YK_OPTION_INIT_TEXT(NULL), TO(request.slow)},
    {YK_OPTION_ROW(
         "device", "NAME", MEASURING,
         "Which devices: cpu, cuda (the first GPU; of several ranks each its own), cuda:1 …, or "
         "all that can be had"),
     YK_OPTION_INIT_TEXT("all"), TO(request.device)},
    {YK_OPTION_ROW("wire", "NAME", MEASURING, YK_TRAIN_TRANSPORT_OPTION_HELP),
     YK_OPTION_INIT_CHOICE(yk_train_transport_choice_at, "auto"), TO(request.wire)},
    {YK_OPTION_ROW(
         "seconds", "TIME", MEASURING,
         "About how long the layers of a device and precision are measured; a few rounds are "
         "made in any case"),
     YK_OPTION_INIT_SECONDS("20s"), TO(request.seconds)},
    {YK_OPTION_ROW("again", NULL, MEASURING, "Also measure what is known already, and not stale"),
     YK_OPTION_INIT_FLAG, TO(request.again)},
    {YK_OPTION_ROW("counters", NULL, MEASURING, YK_DEVICE_COUNTERS_OPTION_HELP),
     YK_OPTION_INIT_FLAG, TO(request.counters)},
    {YK_OPTION_ROW("import", "FILE", INSTEAD,
                   "Measure nothing; add what this profile of another machine knows; several with "
                   "commas"),
     YK_OPTION_INIT_TEXT(NULL), TO(import)},
    {YK_OPTION_ROW(
         "show", NULL, INSTEAD,
         "Measure nothing; show what is known: tables, and curves of links with their knee"),
     YK_OPTION_INIT_FLAG, TO(show)},
    {YK_OPTION_ROW("svg", "FOLDER", INSTEAD, "With --show, also write the curves as pictures"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(svg)},
    {YK_OPTION_ROW("profile", "FILE", YK_OUTPUT_OPTION_HEADING,
                   "Keep the measurements here, beside what is there; else in the usual profile"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(request.profile)},
    {YK_OPTION_ROW("cluster-out", "FILE", YK_OUTPUT_OPTION_HEADING,
                   "Also write the devices as a cluster file"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(cluster_output)},
    YK_JSON_OPTION(struct arguments, json),
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress"),
};

static const struct yk_command_example examples[] = {
    {"yoke profile --model gpt2 --batch 4 --seq 256", "Measure the layers of GPT-2 on all cores"},
    {"yoke profile --model gpt2 --batch 16 --device cuda --precision bf16,fp32",
     "On the first GPU, in two precisions"},
    {"yoke profile --model gpt-mini --batch 8 --ranks 2",
     "Measure two ranks at a time, and the links between them"},
    {"yoke profile --model gpt-mini --ranks 2 --slow 1:2.5 --cluster-out two.json",
     "Two unequal ranks, and the cluster file to plan for them"},
    {"yoke profile --show", "What is known by now"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "a device cannot hold even two of the model's blocks"},
    {YK_ERROR_INPUT, "the model or the cluster makes no sense, or a file is no profile"},
    {YK_ERROR_LOST, "a rank was lost"},
};

const struct yk_command yk_command_profile = {
    .name = "profile",
    .summary = "measure layers and links here, so that plans are made from times",
    .description =
        "Runs real training steps on random tokens, on every GPU and on the CPU, or on all ranks "
        "at the same time, and keeps how long each sort of layer takes forward and backward for 1, "
        "2, 4 … samples, how long its update takes, how long messages between the ranks and copies "
        "to "
        "a GPU take, and how much computation and messages hold each other up. Commands that plan "
        "take times from there (--profile) before datasheets. What is known and not stale is not "
        "measured again. Ctrl-C ends it with what was measured by then.",
    YK_COMMAND_INITIALIZERS_NO_OPERANDS(struct arguments),
    .by_ranks = true,
};
