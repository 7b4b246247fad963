#include "job/profiling/profile.h"
#include "cli/commands/launch.h"
#include "cli/commands/profile_output.h"
#include "cli/commands/profile_pictures.h"
#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/counters.h"
#include "job/outputs.h"
#include "job/profiling/profile_import.h"
#include "job/profiling/profile_show.h"
#include "job/training/transport.h"

enum {
    MOST_RANKS = 1024
};

struct arguments {
    struct yk_profile_request request;
    int64_t ranks; /* 0: not given */
    struct yk_rank_choice hand;
    const char *import; /* files, with commas */
    bool show;
    const char *svg; /* a folder for pictures of what is shown */
    const char *cluster_output;
    bool json;
    bool quiet;
};

static yk_status write_measured(const struct arguments *arguments,
                                const struct yk_profile_result *result, struct yk_text *out)
{
    const char *path = arguments->cluster_output;
    struct yk_outputs outputs = {0};
    YK_TRY(arguments->json ? yk_profile_write_json(result, out)
                           : yk_profile_output_measured(result, out));
    if (path) {
        yk_outputs_finish(&outputs,
                          yk_profile_write_cluster(result, yk_outputs_add(&outputs, path)));
    }
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

static yk_status measure(const struct arguments *arguments, struct yk_text *out)
{
    struct yk_profile_request request = arguments->request;
    struct yk_profile_result result = {0};
    struct yk_launcher launcher;
    bool launches = false;
    YK_TRY(yk_command_launch_find(&arguments->hand, arguments->ranks, &launcher, &launches));
    if (launches) {
        YK_TRY(yk_profile_check(&request, (int32_t)arguments->ranks));
        return yk_command_launch(arguments->ranks);
    }
    request.launcher = &launcher;
    request.job = yk_terminal_job_ranks();
    yk_status status = yk_profile_run(&request, &result);
    if (status == YK_OK && result.rank == 0) {
        status = write_measured(arguments, &result, out);
    }
    yk_profile_result_free(&result);
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
    if (status == YK_OK) {
        status = arguments->json ? yk_profile_output_imported_json(&result, out)
                                 : yk_profile_output_imported(&result, out);
    }
    yk_profile_import_result_free(&result);
    return status;
}

static yk_status write_shown(const struct arguments *arguments,
                             const struct yk_profile_show_result *result, struct yk_text *out)
{
    const struct yk_profile_report *report = &result->report;
    YK_TRY(arguments->json ? yk_profile_report_json(report, out)
                           : yk_profile_output_shown(report, yk_terminal_width(), out));
    if (!arguments->svg) {
        return YK_OK;
    }
    return yk_terminal_print_despite(
        yk_profile_pictures_write(report, arguments->svg, result->arena), out);
}

static yk_status show(const struct arguments *arguments, struct yk_text *out)
{
    struct yk_profile_show_result result = {0};
    yk_status status = yk_profile_show_run(&arguments->request, &result);
    if (status == YK_OK) {
        status = write_shown(arguments, &result, out);
    }
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
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 1));
    return arguments->import ? import(arguments, out) : measure(arguments, out);
}

#define MEASURING "Measuring options"
#define INSTEAD "Instead of measuring"
#define TO(member) YK_TO(struct arguments, member)

static const struct yk_option options[] = {
    YK_MODEL_OPTION(struct arguments, request.model,
                    "The model whose layers are measured: a name, a config.json, or a folder with "
                    "one"),
    YK_CLUSTER_OPTION(struct arguments, request.cluster,
                      "The devices, one for each rank; else this machine's, shared evenly"),
    {YK_ROW("ranks", "N", YK_INPUT_GROUP,
            "How many ranks measure at the same time, and the links between them"),
     YK_INTEGER(1, MOST_RANKS, NULL), TO(ranks)},
    {YK_ROW("rank", "R", YK_INPUT_GROUP, YK_RANK_NUMBER_HELP), YK_INTEGER(0, MOST_RANKS - 1, NULL),
     .missing = -1, TO(hand.rank)},
    {YK_ROW("world", "N", YK_INPUT_GROUP, YK_RANK_WORLD_HELP), YK_INTEGER(1, MOST_RANKS, NULL),
     TO(hand.world)},
    {YK_ROW("master", "HOST:PORT", YK_INPUT_GROUP, YK_RANK_MASTER_HELP), YK_TEXT(NULL),
     TO(hand.master)},
    {YK_ROW("batch", "N", YK_WORKLOAD_GROUP,
            "The most samples that a rank may take at once: 1, 2, 4 … up to it are measured"),
     YK_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, "8"), TO(request.workload.batch)},
    YK_SEQUENCE_OPTIONS(struct arguments, request.workload),
    {YK_ROW("precision", "NAME", YK_WORKLOAD_GROUP,
            "What matrix products are done in: fp32, tf32, fp16, bf16, or several with commas; "
            "else fp32 on a CPU, bf16 on a GPU"),
     YK_TEXT(NULL), TO(request.workload.precision)},
    YK_ADAPTER_OPTIONS(struct arguments, request.workload),
    {YK_ROW("slow", "RANK:FACTOR", MEASURING,
            "Let a rank compute so many times as slowly, as in 1:2.5; several with commas"),
     YK_TEXT(NULL), TO(request.slow)},
    {YK_ROW("device", "NAME", MEASURING,
            "Which devices: cpu, cuda (the first GPU; of several ranks each its own), cuda:1 …, or "
            "all that can be had"),
     YK_TEXT("all"), TO(request.device)},
    {YK_ROW("wire", "NAME", MEASURING, YK_TRAIN_TRANSPORT_HELP),
     YK_CHOICE(yk_train_transport_choices, "auto"), TO(request.wire)},
    {YK_ROW("seconds", "TIME", MEASURING,
            "About how long the layers of a device and precision are measured; a few rounds are "
            "made in any case"),
     YK_SECONDS("20s"), TO(request.seconds)},
    {YK_ROW("again", NULL, MEASURING, "Also measure what is known already, and not stale"), YK_FLAG,
     TO(request.again)},
    {YK_ROW("counters", NULL, MEASURING, YK_COUNTERS_HELP), YK_FLAG, TO(request.counters)},
    {YK_ROW("import", "FILE", INSTEAD,
            "Measure nothing; add what this profile of another machine knows; several with "
            "commas"),
     YK_TEXT(NULL), TO(import)},
    {YK_ROW("show", NULL, INSTEAD,
            "Measure nothing; show what is known: tables, and curves of links with their knee"),
     YK_FLAG, TO(show)},
    {YK_ROW("svg", "FOLDER", INSTEAD, "With --show, also write the curves as pictures"), YK_FILE,
     TO(svg)},
    {YK_ROW("profile", "FILE", YK_OUTPUT_GROUP,
            "Keep the measurements here, beside what is there; else in the usual profile"),
     YK_FILE, TO(request.profile)},
    {YK_ROW("cluster-out", "FILE", YK_OUTPUT_GROUP, "Also write the devices as a cluster file"),
     YK_FILE, TO(cluster_output)},
    YK_JSON_OPTION(struct arguments, json),
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress"),
};

static const struct yk_example examples[] = {
    {"yoke profile --model gpt2 --batch 4 --seq 256", "Measure the layers of GPT-2 on all cores"},
    {"yoke profile --model gpt2 --batch 16 --device cuda --precision bf16,fp32",
     "On the first GPU, in two precisions"},
    {"yoke profile --model gpt-mini --batch 8 --ranks 2",
     "Measure two ranks at a time, and the links between them"},
    {"yoke profile --model gpt-mini --ranks 2 --slow 1:2.5 --cluster-out two.json",
     "Two unequal ranks, and the cluster file to plan for them"},
    {"yoke profile --show", "What is known by now"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "a device cannot hold even two of the model's blocks"},
    {YK_ERROR_INPUT, "the model or the cluster makes no sense, or a file is no profile"},
    {YK_ERROR_LOST, "a rank was lost"},
    {0, NULL},
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
    .examples = examples,
    YK_OPTIONS(options),
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .by_ranks = true,
    .run = run,
};
