#include "base/log.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "export/export.h"
#include "job/map.h"
#include "job/outputs.h"
#include "job/plan_devices.h"
#include "job/planning.h"
#include "job/planning/plan_output.h"
#include "job/search.h"
#include "planner/place.h"
#include "planner/placed.h"
#include "planner/planned.h"
#include "planner/planned_facts.h"

#include <string.h>

enum {
    MOST_MICRO_BATCHES = 4096
};

struct arguments {
    struct yk_planning_request planning;
    struct yk_workload_request workload;
    int64_t micro_batches;
    bool clip;
    const char *devices;
    const char *only;
    const char *strategy;
    const char *placement;
    const char *map;
    double budget_s;
    int64_t trials;
    int64_t seed;
    bool json;
    bool quiet;
    const char *output;
    const char *export;
    const char *export_output;
};

static bool strategy_choices(size_t number, struct yk_choice *out)
{
    *out = (struct yk_choice){"random", NULL};
    if (number < YK_STRATEGY_COUNT) {
        out->name = yk_strategy_name((enum yk_strategy)number);
    }
    return number <= YK_STRATEGY_COUNT;
}

/* The ways of yoke place that never divide a layer. */
static bool placement_choices(size_t number, struct yk_choice *out)
{
    const char *name = yk_place_algorithm(number);
    *out = (struct yk_choice){name, NULL};
    return name && yk_placed_knows(name);
}

static bool export_choices(size_t number, struct yk_choice *out)
{
    if (number >= yk_exporter_count) {
        return false;
    }
    *out = (struct yk_choice){yk_exporters[number]->name, yk_exporters[number]->summary};
    return true;
}

/* "shares,order" as bits. */
static yk_status read_decisions(const char *words, uint32_t *out)
{
    *out = 0;
    for (const char *word = words; *word;) {
        const size_t length = strcspn(word, ",");
        int32_t found = 0;
        while (found < YK_DECISION_COUNT && (strlen(yk_decision_name(found)) != length ||
                                             strncmp(yk_decision_name(found), word, length) != 0)) {
            found++;
        }
        if (found == YK_DECISION_COUNT) {
            return yk_fail(YK_ERROR_USAGE,
                           "--only: there is no decision \"%.*s\"; there are shares, parts, "
                           "strategies, block, order, placement and recomputation, with commas "
                           "between them",
                           (int)length, word);
        }
        *out |= (uint32_t)1 << found;
        word += length + (word[length] == ',' ? 1 : 0);
    }
    return YK_OK;
}

static yk_status read_strategy(const struct arguments *arguments, struct yk_plan_request *request)
{
    request->strategy = YK_STRATEGY_COUNT;
    request->random_strategies = arguments->strategy && strcmp(arguments->strategy, "random") == 0;
    for (int32_t s = 0; arguments->strategy && s < YK_STRATEGY_COUNT; s++) {
        if (strcmp(arguments->strategy, yk_strategy_name((enum yk_strategy)s)) == 0) {
            request->strategy = (enum yk_strategy)s;
        }
    }
    return arguments->only ? read_decisions(arguments->only, &request->decisions) : YK_OK;
}

static const struct yk_exporter *exporter_of(const struct arguments *arguments)
{
    for (size_t i = 0; arguments->export && i < yk_exporter_count; i++) {
        if (strcmp(yk_exporters[i]->name, arguments->export) == 0) {
            return yk_exporters[i];
        }
    }
    return NULL;
}

static const char *export_path(const struct arguments *arguments)
{
    const struct yk_exporter *exporter = exporter_of(arguments);
    return arguments->export_output || !exporter ? arguments->export_output : exporter->file;
}

static yk_status check(const struct arguments *arguments)
{
    if (arguments->micro_batches > arguments->workload.batch) {
        return yk_fail(YK_ERROR_USAGE,
                       "--micro-batches %lld needs a --batch of at least %lld, not %lld",
                       (long long)arguments->micro_batches, (long long)arguments->micro_batches,
                       (long long)arguments->workload.batch);
    }
    if (arguments->placement && (strcmp(arguments->placement, "map") == 0) != !!arguments->map) {
        return arguments->map
                   ? yk_fail(YK_ERROR_USAGE,
                             "--map FILE and --placement %s both say where layers go; leave one "
                             "of them out",
                             arguments->placement)
                   : yk_fail(YK_ERROR_USAGE, "--placement map needs a --map FILE to follow");
    }
    if (arguments->export_output && !arguments->export) {
        return yk_fail(YK_ERROR_USAGE,
                       "--export-output names what --export writes; add --export fsdp, for one");
    }
    const char *const paths[] = {arguments->planning.model,   arguments->planning.cluster,
                                 arguments->planning.profile, arguments->map,
                                 arguments->output,           export_path(arguments)};
    return yk_outputs_check(paths, sizeof paths / sizeof paths[0], 4);
}

static yk_status prepare(const struct arguments *arguments, struct yk_planning *planning)
{
    const struct yk_search_request search = {
        .budget_s = arguments->budget_s, .moves = arguments->trials, .seed = arguments->seed};
    YK_TRY(yk_planning_open(&arguments->planning, planning));
    struct yk_plan_request *request = &planning->request;
    YK_TRY(yk_workload_read(&arguments->workload, request->config, &request->workload));
    YK_TRY(read_strategy(arguments, request));
    if (arguments->workload.recompute) {
        request->decisions &= ~(uint32_t)YK_DECIDE_RECOMPUTATION;
    }
    if (arguments->devices) {
        YK_TRY(yk_plan_devices_read(arguments->devices, planning->cluster, planning->arena,
                                    &request->left_out));
    }
    request->micro_batches = (int32_t)arguments->micro_batches;
    request->clip = arguments->clip;
    request->search = yk_search_options(&search, yk_terminal_job());
    return YK_OK;
}

/* What the export at `path` does not say, a line each. */
static void log_notes(const char *path, const struct yk_text *notes)
{
    for (const char *line = yk_text_chars(notes); *line;) {
        const size_t length = strcspn(line, "\n");
        yk_log(YK_LOG_NOTE, "%s: %.*s", path, (int)length, line);
        line += length + (line[length] == '\n' ? 1 : 0);
    }
}

static yk_status export_plan(const struct arguments *arguments, const struct yk_planned *planned,
                             struct yk_outputs *outputs)
{
    const struct yk_exporter *exporter = exporter_of(arguments);
    const char *path = export_path(arguments);
    struct yk_text notes = {0};
    struct yk_text *text = arguments->export_output ? yk_outputs_add(outputs, path)
                                                    : yk_outputs_add_own(outputs, path);
    const yk_status status = exporter->write(planned->plan, planned->study->model,
                                             planned->study->cluster, text, &notes);
    if (status == YK_OK) {
        log_notes(path, &notes);
    }
    yk_text_free(&notes);
    return status;
}

/* A plan that another tool cannot follow is a plan nonetheless. */
static yk_status write_files(const struct arguments *arguments, const struct yk_planning *planning,
                             const struct yk_planned *planned, struct yk_text *out)
{
    struct yk_plan_context context = yk_planning_context(planning);
    struct yk_outputs outputs = {0};
    if (arguments->output) {
        context.path = arguments->output;
        yk_outputs_made(&outputs, yk_plan_file_write(planned->plan, &context,
                                                     yk_outputs_add(&outputs, arguments->output)));
    }
    if (arguments->export) {
        const yk_status status = export_plan(arguments, planned, &outputs);
        yk_outputs_made(&outputs, status == YK_OK ? status : yk_fail_in(status, "not exported"));
    }
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

/* The plan of a placement, and what is to be said about it. */
static yk_status follow(const struct arguments *arguments, const struct yk_planning *planning,
                        struct yk_planned **out)
{
    const struct yk_module_map *map = NULL;
    struct yk_placed placed = {0};
    const char *way = arguments->placement ? arguments->placement : "map";
    if (arguments->map) {
        YK_TRY(yk_map_open(arguments->map, planning->request.config,
                           planning->cluster->device_count, planning->arena, &map));
    }
    YK_TRY(yk_placed_find(&planning->request, way, map, planning->arena, &placed));
    YK_TRY(yk_planned_examine(&planning->request, placed.plan, false, out));
    (*out)->trials = placed.trials;
    (*out)->cut_short = placed.cut_short;
    return YK_OK;
}

static yk_status find_and_show(const struct arguments *arguments,
                               const struct yk_planning *planning, struct yk_text *out)
{
    struct yk_planned *planned = NULL;
    yk_terminal_progress_begin();
    const bool placed = arguments->placement || arguments->map;
    yk_status status = placed ? follow(arguments, planning, &planned)
                              : yk_planned_find(&planning->request, &planned);
    yk_terminal_progress_end();
    if (status != YK_OK) {
        return status;
    }
    yk_search_note_interruption(yk_terminal_job());
    status =
        arguments->json ? yk_plan_output_json(planned, out) : yk_plan_output_text(planned, out);
    if (status == YK_OK && planned->plan) {
        status = yk_planned_fail_unfit(planned);
    }
    if (status == YK_OK) {
        status = planned->plan ? write_files(arguments, planning, planned, out)
                               : yk_planned_fail_unfound(planned);
    }
    yk_planned_destroy(planned);
    return status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_planning planning = {0};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    YK_TRY(check(arguments));
    yk_status status = prepare(arguments, &planning);
    if (status == YK_OK) {
        status = find_and_show(arguments, &planning, out);
    }
    yk_planning_close(&planning);
    return status;
}

static const struct yk_option options[] = {
    YK_PLANNING_OPTIONS(struct arguments, planning,
                        "A built-in model (yoke model lists them) or a Hugging Face config.json",
                        "A cluster file, or a line such as \"1xrtx6000ada + 2xrtx3090 @ 32GB/s\""),
    YK_WORKLOAD_OPTIONS(struct arguments, workload),
    {
        .name = "micro-batches",
        .placeholder = "N",
        .help = "Split the batch into this many parts; else the search chooses",
        .group = YK_WORKLOAD_GROUP,
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = MOST_MICRO_BATCHES,
        .offset = offsetof(struct arguments, micro_batches),
    },
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
        .name = "devices",
        .placeholder = "NAMES",
        .help = "Use none but these devices, with commas between them: gpu0,gpu2",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_TEXT,
        .offset = offsetof(struct arguments, devices),
    },
    {
        .name = "only",
        .placeholder = "WORDS",
        .help = "Decide only these, with commas between them: shares, parts, strategies, block, "
                "order, placement, recomputation; all else is as plain as it can be",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_TEXT,
        .offset = offsetof(struct arguments, only),
    },
    {
        .name = "strategy",
        .placeholder = "NAME",
        .help = "One strategy for all layers: replicated, sharded-state, kept or fully-sharded; or "
                "random, one drawn for each layer by the seed",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_CHOICE,
        .choices = strategy_choices,
        .offset = offsetof(struct arguments, strategy),
    },
    {
        .name = "placement",
        .placeholder = "NAME",
        .help = "Search for nothing; take each layer to one device as yoke place does: auto "
                "(Accelerate's rule), map, heft, heft-memory or pipeline",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_CHOICE,
        .choices = placement_choices,
        .offset = offsetof(struct arguments, placement),
    },
    {
        .name = "map",
        .placeholder = "FILE",
        .help = "Search for nothing; take each layer where this device_map.json says",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, map),
    },
    {
        .name = "budget",
        .placeholder = "SECONDS",
        .help = "How long to search; 2min is understood, too",
        .group = YK_SEARCH_GROUP,
        .preset = "8",
        .kind = YK_OPTION_SECONDS,
        .offset = offsetof(struct arguments, budget_s),
    },
    {
        .name = "trials",
        .placeholder = "N",
        .help = "Look at this many plans instead, and at no integer program: the same result every "
                "time",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = INT64_MAX,
        .offset = offsetof(struct arguments, trials),
    },
    {
        .name = "seed",
        .placeholder = "N",
        .help = "Seed of random strategies",
        .group = YK_SEARCH_GROUP,
        .preset = "1",
        .kind = YK_OPTION_INTEGER,
        .most = INT64_MAX,
        .offset = offsetof(struct arguments, seed),
    },
    {
        .name = "output",
        .letter = 'o',
        .placeholder = "FILE",
        .help = "Write the plan, for yoke simulate and yoke report, and to be edited",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, output),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "export",
        .placeholder = "FORM",
        .help = "Also write the plan in another tool's words",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_CHOICE,
        .choices = export_choices,
        .offset = offsetof(struct arguments, export),
    },
    {
        .name = "export-output",
        .placeholder = "FILE",
        .help = "What --export writes; else a name that suits the form",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, export_output),
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
    {"yoke plan --model gpt2-xl --batch 16 --cluster \"1xrtx6000ada + 2xrtx3090 @ 32GB/s\" -o "
     "plan.json",
     "Plan a fine-tuning of GPT-2 XL on three unequal cards"},
    {"yoke plan --model llama3-8b --lora 32 --nf4 --batch 16 --cluster cluster.json --memory 20GiB",
     "Use at most 20 GiB of every device"},
    {"yoke plan --model bert-large --batch 64 --cluster \"4xrtx3090\" --only shares,order "
     "--strategy fully-sharded",
     "Decide shares and the order of communication only"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "no plan fits the devices' memory"},
    {YK_ERROR_INPUT, "the model, the cluster or the profile makes no sense"},
    {0, NULL},
};

const struct yk_command yk_command_plan = {
    .name = "plan",
    .summary = "decide who holds which layer, takes which samples, and sends what when",
    .description =
        "Searches for the fastest way to train a model on devices that need not match, within the "
        "memory of each: data parallelism with unequal shares, layers replicated or sharded each "
        "in its own way, pipelines of unequal stages, mixtures of these, micro-batches, "
        "recomputation, and the order of communication. Each candidate is compiled to the program "
        "that would run and simulated.\n\n"
        "Printed are the predicted step and where its times come from, a bound that no plan beats, "
        "what every device computes, waits for and holds, what binds, what the usual ways would "
        "take, and what leaving a device out would change. Ctrl-C ends the search with the best "
        "plan so far.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
