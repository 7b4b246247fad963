#include "planner/place.h"

#include "base/units.h"
#include "cli/options/command.h"
#include "cli/options/plan_rows.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "cost/measured.h"
#include "export/accelerate.h"
#include "job/map.h"
#include "job/planning/drawings.h"
#include "job/planning/place_output.h"
#include "job/profile_path.h"
#include "job/search.h"
#include "job/workload.h"
#include "planner/remedy.h"
#include "profile/profile.h"

#include <math.h>
#include <string.h>

enum {
    MOST_MICRO_BATCHES = 1024
};

struct arguments {
    const char *model;
    const char *cluster;
    struct yk_workload_request workload;
    int64_t micro_batches;
    const char *algorithm;
    const char *map;
    const char *profile;
    struct yk_search_request search;
    bool json;
    const char *export;
    const char *output;
    struct yk_drawings drawings;
    bool quiet;
};

/* Everything the command has opened. */
struct placing {
    const struct arguments *arguments;
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_profile *profile;
    struct yk_cost_book book;
    struct yk_place_request request;
    struct yk_placements *placements;
};

static bool algorithm_choices(size_t number, struct yk_choice *out)
{
    *out = (struct yk_choice){yk_place_algorithm(number), NULL};
    return out->name != NULL;
}

static bool export_choices(size_t number, struct yk_choice *out)
{
    *out = (struct yk_choice){"accelerate", "a device_map.json for from_pretrained(device_map=…)"};
    return number == 0;
}

static const char *export_path(const struct arguments *arguments)
{
    const char *path = arguments->output ? arguments->output : "device_map.json";
    return arguments->export ? path : NULL;
}

static yk_status check(const struct arguments *arguments)
{
    if (!arguments->model || !arguments->cluster) {
        return yk_fail(YK_ERROR_USAGE,
                       "yoke place needs a --%s; to see what it does, try yoke place --model "
                       "llama3-8b --lora 32 --nf4 --batch 5 --cluster \"1xrtx6000ada + 2xrtx3090\"",
                       arguments->model ? "cluster" : "model");
    }
    if (arguments->algorithm && strcmp(arguments->algorithm, "map") == 0 && !arguments->map) {
        return yk_fail(YK_ERROR_USAGE, "--algorithm map needs a --map FILE to follow");
    }
    if (arguments->output && !arguments->export) {
        return yk_fail(YK_ERROR_USAGE,
                       "--output names what --export writes; add --export accelerate");
    }
    if (arguments->micro_batches > arguments->workload.batch) {
        return yk_fail(YK_ERROR_USAGE,
                       "--micro-batches %lld needs a --batch of at least %lld, not %lld",
                       (long long)arguments->micro_batches, (long long)arguments->micro_batches,
                       (long long)arguments->workload.batch);
    }
    const char *const paths[] = {
        arguments->model,          arguments->cluster,      arguments->map,
        arguments->profile,        arguments->drawings.svg, arguments->drawings.html,
        arguments->drawings.trace, export_path(arguments)};
    return yk_outputs_check(paths, sizeof paths / sizeof paths[0], 4);
}

static yk_status prepare(struct placing *placing)
{
    const struct arguments *arguments = placing->arguments;
    const char *profile = NULL;
    YK_TRY(yk_arena_create(&placing->arena));
    YK_TRY(yk_model_config_open(arguments->model, placing->arena, &placing->request.config));
    YK_TRY(yk_cluster_open(arguments->cluster, &placing->cluster));
    YK_TRY(yk_profile_path_settle(arguments->profile, placing->arena, &profile));
    if (profile) {
        YK_TRY(yk_profile_open(profile, &placing->profile));
    }
    YK_TRY(yk_cost_settle(placing->profile, placing->request.config->name, placing->cluster));
    YK_TRY(yk_workload_read(&arguments->workload, placing->request.config,
                            &placing->request.workload));
    placing->book = (struct yk_cost_book){
        .cluster = placing->cluster,
        .profile = placing->profile,
    };
    placing->request.book = &placing->book;
    placing->request.micro_batches = (int32_t)arguments->micro_batches;
    placing->request.algorithm = arguments->algorithm;
    placing->request.search = yk_search_options(&arguments->search, yk_terminal_job());
    return arguments->map
               ? yk_map_open(arguments->map, placing->request.config,
                             placing->cluster->device_count, placing->arena, &placing->request.map)
               : YK_OK;
}

/* The placement that lacks least names the device; the remedy is looked for. */
static yk_status fail_no_fit(const struct placing *placing, const struct yk_place_output *output)
{
    const struct yk_placements *all = placing->placements;
    const struct yk_placement *nearest = NULL;
    struct yk_text words = {0};
    struct yk_text remedy = {0};
    for (int32_t i = 0; i < all->count; i++) {
        const struct yk_placement *placement = &all->placements[i];
        if (placement->schedule &&
            (!nearest || placement->fit.missing_bytes < nearest->fit.missing_bytes)) {
            nearest = placement;
        }
    }
    nearest = nearest ? nearest : &all->placements[0];
    yk_status status = yk_remedy_find(&placing->request, &all->deadline, &remedy);
    if (status == YK_OK) {
        const char *violation = yk_place_violation(output, nearest, &words);
        const char *model = placing->request.config->name;
        const char *way = nearest->name;
        const char *cure = yk_text_chars(&remedy);
        status =
            all->cut_short
                ? yk_fail(YK_ERROR_NO_FIT,
                          "no placement of %s that fits was found within the budget of %.3g s "
                          "(--budget): by %s, the nearest to fit, %s; %s",
                          model, placing->request.search.budget_s, way, violation, cure)
            : placing->request.algorithm
                ? yk_fail(YK_ERROR_NO_FIT, "%s does not fit by %s: %s; %s", model, way, violation,
                          cure)
                : yk_fail(YK_ERROR_NO_FIT, "%s fits nowhere: by %s, the nearest to fit, %s; %s",
                          model, way, violation, cure);
    }
    yk_text_free(&words);
    yk_text_free(&remedy);
    return status;
}

/* Names what was exported, and what of it a device_map does not say. */
static void note_export(const char *path, const struct yk_placement *exported,
                        const struct yk_placement *fastest)
{
    const int32_t micro_batches = exported->step->micro_batch_count;
    char time[YK_UNITS_SIZE];
    yk_units_format(exported->step_s, YK_UNIT_SECONDS, time);
    if (exported != fastest) {
        yk_log(YK_LOG_NOTE,
               "%s is the map of %s, %s a step: %s is faster, but has layers on several devices, "
               "which a device_map cannot say",
               path, exported->name, time, fastest->name);
    } else {
        yk_log(YK_LOG_NOTE, "%s is the map of %s, %s a step", path, exported->name, time);
    }
    if (micro_batches > 1) {
        yk_log(YK_LOG_NOTE,
               "that is with %d micro-batches; Accelerate sends the batch through whole, for which "
               "--micro-batches 1 finds the best map",
               (int)micro_batches);
    }
}

/* The map of the row that is shown as the fastest or, where a map cannot say that one, of the
 * fastest with one device a layer. */
static yk_status export_map(const struct placing *placing, const struct yk_placement *fastest,
                            struct yk_outputs *outputs)
{
    const char *path = export_path(placing->arguments);
    if (!path) {
        return YK_OK;
    }
    const struct yk_placement *exported =
        fastest->divided ? yk_placements_undivided(placing->placements) : fastest;
    if (!exported) {
        return placing->request.algorithm
                   ? yk_fail(YK_ERROR_USAGE,
                             "%s has layers on several devices, which a device_map cannot say; "
                             "leave out --algorithm %s, or add --micro-batches 1",
                             fastest->name, placing->request.algorithm)
                   : yk_fail(YK_ERROR_NO_FIT,
                             "no map with one device a layer fits, and a device_map can say no "
                             "other; accumulate gradients over smaller batches");
    }
    note_export(path, exported, fastest);
    return yk_export_accelerate(exported->map, placing->arguments->output
                                                   ? yk_outputs_add(outputs, path)
                                                   : yk_outputs_add_own(outputs, path));
}

/* The page compares all placements; the picture and the trace are of the one shown. */
static void draw(const struct placing *placing, const struct yk_place_output *output,
                 struct yk_outputs *outputs)
{
    struct yk_drawings drawings = placing->arguments->drawings;
    const struct yk_placement *shown = output->shown;
    const struct yk_schedule_report report = {
        .schedule = shown->schedule,
        .algorithm = shown->name,
        .source = placing->request.config->name,
        .lower_bound = llround(shown->bound_s * shown->step->graph->ticks_per_unit),
        .kinds = shown->step->kinds,
    };
    if (drawings.html) {
        yk_outputs_made(outputs,
                        yk_place_write_page(output, yk_outputs_add(outputs, drawings.html)));
        drawings.html = NULL;
    }
    yk_drawings_make(&drawings, &report, outputs);
}

/* A measured time that is for no layer of the model is probably misspelt. */
static void warn_of_unused_times(const struct placing *placing)
{
    const struct yk_model *model = placing->placements->steps[0]->model;
    for (int32_t p = 0; p < placing->cluster->device_count; p++) {
        const struct yk_device *device = &placing->cluster->devices[p];
        const struct yk_measured_layer *unused = yk_measured_unused(device, model);
        if (unused) {
            yk_log(YK_LOG_WARNING,
                   "%s: the measured time of \"%s\" is for no layer of %s; its layers are of the "
                   "kinds that yoke model %s --json tells",
                   device->name, unused->layer, model->config->name, model->config->name);
            return;
        }
    }
}

static yk_status show(const struct placing *placing, struct yk_text *out)
{
    const struct yk_placements *all = placing->placements;
    struct yk_place_output output = {.request = &placing->request, .placements = all};
    warn_of_unused_times(placing);
    output.shown = all->winner < 0 ? NULL : &all->placements[all->winner];
    YK_TRY(placing->arguments->json ? yk_place_write_json(&output, out)
                                    : yk_place_write_text(&output, out));
    if (!output.shown) {
        return fail_no_fit(placing, &output);
    }
    struct yk_outputs outputs = {0};
    draw(placing, &output, &outputs);
    yk_outputs_made(&outputs, export_map(placing, output.shown, &outputs));
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct placing placing = {.arguments = arguments};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    YK_TRY(check(arguments));
    yk_status status = prepare(&placing);
    if (status == YK_OK) {
        yk_terminal_progress_begin();
        status = yk_place_compare(&placing.request, &placing.placements);
        yk_terminal_progress_end();
    }
    if (status == YK_OK) {
        yk_search_note_interruption(yk_terminal_job());
        status = show(&placing, out);
    }
    yk_placements_destroy(placing.placements);
    yk_profile_close(placing.profile);
    yk_cluster_destroy(placing.cluster);
    yk_arena_destroy(placing.arena);
    return status;
}

#define INPUT "Input options"

static const struct yk_option options[] = {
    {
        .name = "model",
        .placeholder = "MODEL",
        .help = "A built-in model (yoke model lists them) or a Hugging Face config.json",
        .group = INPUT,
        .kind = YK_OPTION_TEXT,
        .offset = offsetof(struct arguments, model),
    },
    {
        .name = "cluster",
        .placeholder = "CLUSTER",
        .help = "A cluster file, or a line such as \"1xrtx6000ada + 2xrtx3090 @ 32GB/s\"",
        .group = INPUT,
        .kind = YK_OPTION_TEXT,
        .offset = offsetof(struct arguments, cluster),
    },
    {
        .name = "map",
        .placeholder = "FILE",
        .help = "Also evaluate this device_map.json",
        .group = INPUT,
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, map),
    },
    {
        .name = "profile",
        .placeholder = "FILE",
        .help = YK_PROFILE_PATH_HELP,
        .group = INPUT,
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, profile),
    },
    YK_WORKLOAD_OPTIONS(struct arguments, workload),
    {
        .name = "micro-batches",
        .placeholder = "N",
        .help =
            "Split the batch into this many parts; else pipeline and best choose, and the others "
            "take it whole",
        .group = YK_WORKLOAD_GROUP,
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = MOST_MICRO_BATCHES,
        .offset = offsetof(struct arguments, micro_batches),
    },
    {
        .name = "algorithm",
        .placeholder = "NAME",
        .help = "Only this way of placing: auto (Accelerate's rule), map, heft, heft-memory, "
                "pipeline or best",
        .group = YK_SEARCH_GROUP,
        .kind = YK_OPTION_CHOICE,
        .choices = algorithm_choices,
        .offset = offsetof(struct arguments, algorithm),
    },
    YK_SEARCH_OPTIONS(struct arguments, search, "4",
                      "How long pipeline and best may search, a quarter of it for annealing; 2min "
                      "is understood, too",
                      "Anneal for this many moves instead of a time: the same result every time"),
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
        .help =
            "Also write the map of the fastest for another tool: accelerate; --algorithm chooses "
            "another row",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_CHOICE,
        .choices = export_choices,
        .offset = offsetof(struct arguments, export),
    },
    {
        .name = "output",
        .placeholder = "FILE",
        .help = "What --export writes; else device_map.json",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, output),
    },
    YK_DRAWINGS_OPTIONS(struct arguments, drawings, "Also draw the winner's step as a Gantt chart",
                        "Also write a page that compares all placements, for a browser"),
    {
        .name = "quiet",
        .help = "No notes and no progress line on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke place --model llama3-8b --lora 32 --nf4 --batch 5 --seq 1024 --cluster \"1xrtx6000ada + "
     "2xrtx3090 @ 32GB/s\"",
     "Fine-tune Llama-3-8B on three unequal cards"},
    {"yoke place --model gpt2-xl --batch 8 --micro-batches 8 --cluster \"4xrtx3090\" --html "
     "place.html",
     "Compare pipelines of eight micro-batches, and draw them"},
    {"yoke place --model ./config.json --cluster cluster.json --export accelerate",
     "Write a device_map.json for your own model and machines"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_NO_FIT, "no placement fits the devices' memory"},
    {YK_ERROR_INPUT, "the model, the cluster, the map or the profile makes no sense"},
    {0, NULL},
};

const struct yk_command yk_command_place = {
    .name = "place",
    .summary = "decide which device has which layer of a model",
    .description =
        "Compares ways to place the layers of a model on devices that need not match: Accelerate's "
        "device_map=\"auto\", HEFT (each task where it ends first), HEFT that looks at memory, "
        "pipelines of unequal stages, a map of your own, and the best that a search finds, each by "
        "the predicted time of one training step and the memory it takes on every device. The map "
        "of the fastest that fits is printed.\n\n"
        "One step is a graph: forward and backward of every layer for every micro-batch, then the "
        "updates, with activations and their gradients between them. With several micro-batches "
        "the layers become a pipeline, and a layer may serve some of them on one device and some "
        "on another where its weights fit in both. The bound is a time that no placement with as "
        "many "
        "micro-batches can beat.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
