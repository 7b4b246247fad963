#include "job/profiling/profile.h"

#include "cli/commands/launch.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "job/outputs.h"
#include "job/workload.h"

#include <stddef.h>

enum {
    MOST_RANKS = 1024
};

static yk_status write_results(const struct yk_profiling *profiling, struct yk_text *out)
{
    const char *path = profiling->words.cluster_output;
    struct yk_outputs outputs = {0};
    YK_TRY(profiling->words.json ? yk_profiling_write_json(profiling, out)
                                 : yk_profiling_write_text(profiling, out));
    if (path) {
        yk_outputs_made(&outputs,
                        yk_cluster_write(profiling->cluster, yk_outputs_add(&outputs, path)));
    }
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

static yk_status measure(struct yk_profiling *profiling, struct yk_text *out)
{
    const int64_t wanted = profiling->words.ranks;
    struct yk_launcher launcher;
    bool launches = false;
    YK_TRY(yk_command_launch_find(&profiling->words.hand, wanted, &launcher, &launches));
    YK_TRY(yk_profiling_open(profiling, launches ? (int32_t)wanted : launcher.size));
    if (launches) {
        return yk_command_launch(wanted);
    }
    YK_TRY(yk_profiling_run(profiling, &launcher));
    return launcher.rank == 0 ? write_results(profiling, out) : YK_OK;
}

static yk_status run(const void *given, struct yk_text *out)
{
    struct yk_profiling profiling = {.words = *(const struct yk_profile_words *)given};
    const char *const paths[] = {profiling.words.cluster, profiling.words.profile,
                                 profiling.words.cluster_output};
    if (profiling.words.quiet) {
        yk_terminal_be_quiet();
    }
    if (profiling.words.svg && !profiling.words.show) {
        return yk_fail(YK_ERROR_USAGE, "--svg draws what --show shows; say both");
    }
    if (profiling.words.show) {
        return yk_profile_show_run(&profiling.words, out);
    }
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 1));
    if (profiling.words.import) {
        return yk_profile_import_run(&profiling.words, out);
    }
    const yk_status status = measure(&profiling, out);
    yk_profiling_close(&profiling);
    return status;
}

#define TO(field) .offset = offsetof(struct yk_profile_words, field)

static const struct yk_option options[] = {
    {
        .name = "model",
        .placeholder = "MODEL",
        .help = "The model whose layers are measured: a name, a config.json, or a folder with one",
        .group = "Input options",
        .kind = YK_OPTION_TEXT,
        TO(model),
    },
    {
        .name = "cluster",
        .placeholder = "CLUSTER",
        .help = "The devices, one for each rank; else this machine's, shared evenly",
        .kind = YK_OPTION_TEXT,
        TO(cluster),
    },
    {
        .name = "ranks",
        .placeholder = "N",
        .help = "How many ranks measure at the same time, and the links between them",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = MOST_RANKS,
        TO(ranks),
    },
    {
        .name = "rank",
        .placeholder = "R",
        .help = YK_LAUNCH_RANK_HELP,
        .kind = YK_OPTION_INTEGER,
        .least = 0,
        .most = MOST_RANKS - 1,
        .missing = -1,
        TO(hand.rank),
    },
    {
        .name = "world",
        .placeholder = "N",
        .help = YK_LAUNCH_WORLD_HELP,
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = MOST_RANKS,
        TO(hand.world),
    },
    {
        .name = "master",
        .placeholder = "HOST:PORT",
        .help = YK_LAUNCH_MASTER_HELP,
        .kind = YK_OPTION_TEXT,
        TO(hand.master),
    },
    {
        .name = "batch",
        .placeholder = "N",
        .help = "The most samples that a rank may take at once: 1, 2, 4 … up to it are measured",
        .group = YK_WORKLOAD_GROUP,
        .preset = "8",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_TOKENS,
        TO(batch),
    },
    {
        .name = "seq",
        .placeholder = "TOKENS",
        .help = "Length of a sample; else 1024, or what the model can take if that is less",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_TOKENS,
        TO(sequence),
    },
    {
        .name = "target-seq",
        .placeholder = "TOKENS",
        .help = "Length of what an encoder and decoder translate to; else that of the source",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_TOKENS,
        TO(target_sequence),
    },
    {
        .name = "precision",
        .placeholder = "NAME",
        .help = "What matrix products are done in: fp32, tf32, fp16, bf16, or several with commas; "
                "else fp32 on a CPU, bf16 on a GPU",
        .kind = YK_OPTION_TEXT,
        TO(precision),
    },
    {
        .name = "lora",
        .placeholder = "RANK",
        .help = "Train only adapters of this rank, on all linears of the blocks",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = YK_WORKLOAD_MOST_RANK,
        TO(lora_rank),
    },
    {
        .name = "nf4",
        .help = "Keep the frozen weights of the blocks in four bits, as QLoRA does",
        .kind = YK_OPTION_FLAG,
        TO(nf4),
    },
    {
        .name = "slow",
        .placeholder = "RANK:FACTOR",
        .help = "Let a rank compute so many times as slowly, as in 1:2.5; several with commas",
        .group = "Measuring options",
        .kind = YK_OPTION_TEXT,
        TO(slow),
    },
    {
        .name = "device",
        .placeholder = "NAME",
        .help = "Which devices: cpu, cuda (the first GPU; of several ranks each its own), cuda:1 "
                "…, or all that can be had",
        .preset = "all",
        .kind = YK_OPTION_TEXT,
        TO(device),
    },
    {
        .name = "wire",
        .placeholder = "NAME",
        .help = YK_TRAIN_WIRE_HELP,
        .preset = "auto",
        .kind = YK_OPTION_CHOICE,
        .choices = yk_train_wire_choices,
        TO(wire),
    },
    {
        .name = "seconds",
        .placeholder = "TIME",
        .help =
            "About how long the layers of a device and precision are measured; a few rounds are "
            "made in any case",
        .preset = "20s",
        .kind = YK_OPTION_SECONDS,
        TO(seconds),
    },
    {
        .name = "again",
        .help = "Also measure what is known already, and not stale",
        .kind = YK_OPTION_FLAG,
        TO(again),
    },
    {
        .name = "counters",
        .help = YK_COUNTERS_HELP,
        .kind = YK_OPTION_FLAG,
        TO(counters),
    },
    {
        .name = "import",
        .placeholder = "FILE",
        .help =
            "Measure nothing; add what this profile of another machine knows; several with commas",
        .group = "Instead of measuring",
        .kind = YK_OPTION_TEXT,
        TO(import),
    },
    {
        .name = "show",
        .help = "Measure nothing; show what is known: tables, and curves of links with their knee",
        .kind = YK_OPTION_FLAG,
        TO(show),
    },
    {
        .name = "svg",
        .placeholder = "FOLDER",
        .help = "With --show, also write the curves as pictures",
        .kind = YK_OPTION_FILE,
        TO(svg),
    },
    {
        .name = "profile",
        .placeholder = "FILE",
        .help = "Keep the measurements here, beside what is there; else in the usual profile",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        TO(profile),
    },
    {
        .name = "cluster-out",
        .placeholder = "FILE",
        .help = "Also write the devices as a cluster file",
        .kind = YK_OPTION_FILE,
        TO(cluster_output),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .kind = YK_OPTION_FLAG,
        TO(json),
    },
    {
        .name = "quiet",
        .help = "No notes and no progress on standard error",
        .kind = YK_OPTION_FLAG,
        TO(quiet),
    },
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
        "2, "
        "4 … samples, how long its update takes, how long messages between the ranks and copies to "
        "a GPU take, and how much computation and messages hold each other up. Commands that plan "
        "take times from there (--profile) before datasheets. What is known and not stale is not "
        "measured again. Ctrl-C ends it with what was measured by then.",
    .examples = examples,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct yk_profile_words),
    .by_ranks = true,
    .run = run,
};
