#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/planning/placement_job.h"

enum {
    MAX_MICRO_BATCHES = 1024
};

struct arguments {
    struct yk_placement_job_request request;
    bool json;
    bool quiet;
};

static bool export_choices(size_t number, struct yk_option_choice *out)
{
    *out = (struct yk_option_choice){"accelerate",
                                     "a device_map.json for from_pretrained(device_map=…)"};
    return number == 0;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_placement_job_request request = arguments->request;
    struct yk_placement_job_result result = {0};
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_INTERRUPT);
    yk_status status = yk_placement_job_run(&request, &result);
    YK_IF_OK(arguments->json ? yk_placement_comparison_write_json(&result.output, out)
                             : yk_placement_comparison_write_text(&result.output, out));
    YK_IF_OK(
        yk_terminal_print_unsaved_result(yk_placement_job_write_files(&request, &result), out));
    yk_placement_job_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, request.member)

static const struct yk_option options[] = {
    YK_MODEL_OPTION(struct arguments, request.planning.model, YK_MODEL_OPTION_HELP),
    YK_CLUSTER_OPTION(struct arguments, request.planning.cluster,
                      "A cluster file, or a line such as \"1xrtx6000ada + 2xrtx3090 @ 32GB/s\""),
    {YK_OPTION_ROW("map", "FILE", YK_INPUT_OPTION_HEADING, "Also evaluate this device_map.json"),
     YK_OPTION_INIT_INPUT_FILE, TO(map)},
    YK_PROFILE_OPTION(struct arguments, request.planning.profile),
    YK_WORKLOAD_OPTIONS(struct arguments, request.workload),
    YK_MICRO_BATCHES_OPTION(struct arguments, request.micro_batches, MAX_MICRO_BATCHES,
                            "Split the batch into this many parts; else pipeline and best choose, "
                            "and the others take it whole"),
    {YK_OPTION_ROW("algorithm", "NAME", YK_SEARCH_OPTION_HEADING,
                   "Only this way of placing: auto (Accelerate's rule), map, heft, heft-memory, "
                   "pipeline or best"),
     YK_OPTION_INIT_CHOICE(yk_placement_job_algorithm_choice_at, NULL), TO(algorithm)},
    YK_SEARCH_OPTIONS(struct arguments, request.search, "4",
                      "How long pipeline and best may search, a quarter of it for annealing; 2min "
                      "is understood, too",
                      "Anneal for this many moves instead of a time: the same result every time"),
    YK_JSON_OPTION(struct arguments, json),
    {YK_OPTION_ROW(
         "export", "FORM", YK_OUTPUT_OPTION_HEADING,
         "Also write the map of the fastest for another tool: accelerate; --algorithm chooses "
         "another row"),
     YK_OPTION_INIT_CHOICE(export_choices, NULL), TO(export)},
    {YK_OPTION_ROW("output", "FILE", YK_OUTPUT_OPTION_HEADING,
                   "What --export writes; else device_map.json"),
     YK_OPTION_INIT_OUTPUT_FILE, TO(output)},
    YK_DRAWING_PATHS_OPTIONS(struct arguments, request.drawings,
                             "Also draw the winner's step as a Gantt chart",
                             "Also write a page that compares all placements, for a browser"),
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress line"),
};

static const struct yk_command_example examples[] = {
    {"yoke place --model llama3-8b --lora 32 --nf4 --batch 5 --seq 1024 --cluster \"1xrtx6000ada + "
     "2xrtx3090 @ 32GB/s\"",
     "Fine-tune Llama-3-8B on three unequal cards"},
    {"yoke place --model gpt2-xl --batch 8 --micro-batches 8 --cluster \"4xrtx3090\" --html "
     "place.html",
     "Compare pipelines of eight micro-batches, and draw them"},
    {"yoke place --model ./config.json --cluster cluster.json --export accelerate",
     "Write a device_map.json for your own model and machines"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_NO_FIT, "no placement fits the devices' memory"},
    {YK_ERROR_INPUT, "the model, the cluster, the map or the profile makes no sense"},
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
    YK_COMMAND_INITIALIZERS_NO_OPERANDS(struct arguments),
};
