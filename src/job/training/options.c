#include "job/counters.h"
#include "job/profile_path.h"
#include "job/training/train.h"

#include "cli/options/rows.h"
#include "job/device.h"
#include "job/training/wire.h"
#include "job/workload.h"
#include "nn/optimizer.h"

#include <stddef.h>

enum {
    MOST_MICRO_BATCHES = 4096,
    MOST_STEPS = 1000000000,
    MOST_THREADS = 4096,
    MOST_RANKS = 4096,
};

#define SOURCE_GROUP "What to train"
#define OPTIMIZER_GROUP "Optimizer options"
#define RUN_GROUP "Run options"
#define PLAN_GROUP "Plan options"

static bool optimizer_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"adamw", "Adam with weight decay apart from the gradient"},
        {"sgd", "the gradient itself, with --momentum"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static bool rate_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"constant", "the same to the end"},
        {"cosine", "down to --least-rate along half a cosine"},
        {"inverse-root", "down with the square root of the step"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static bool attention_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"best", "cuDNN's or yoke's own, whichever is faster; the same bits every time"},
        {"cudnn", "cuDNN's, where it has some: faster still, but last bits vary from run to run"},
        {"own", "yoke's own"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static bool qkv_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"fused", "by one product"},
        {"streams", "by three, side by side on streams of their own"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static bool graphs_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"off", "kernel by kernel"},
        {"on", "as one graph for a layer's pass, once it was the same a few times"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static bool reduce_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"16bit", "as they are: half the bytes"},
        {"fp32", "as fp32, rounded once"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

static bool faulty_choices(size_t number, struct yk_choice *out)
{
    static const struct yk_choice choices[] = {
        {"refuse", "the first is named by its line, and nothing is trained"},
        {"skip", "they are left out and counted"},
    };
    if (number >= sizeof choices / sizeof choices[0]) {
        return false;
    }
    *out = choices[number];
    return true;
}

/* The beginning of a row, and its end. A placeholder of NULL goes with a flag. */
#define ROW(name_, placeholder_, group_, help_)                                                    \
    .name = (name_), .placeholder = (placeholder_), .group = (group_), .help = (help_)
#define TO(member_) .offset = offsetof(struct yk_train_words, member_)
#define FLAG .kind = YK_OPTION_FLAG
#define TEXT .kind = YK_OPTION_TEXT
#define INPUT .kind = YK_OPTION_INPUT
#define CHOICE(choices_, preset_)                                                                  \
    .kind = YK_OPTION_CHOICE, .choices = (choices_), .preset = (preset_)
#define INTEGER(least_, most_, preset_)                                                            \
    .kind = YK_OPTION_INTEGER, .least = (least_), .most = (most_), .preset = (preset_)
#define NUMBER(preset_) .kind = YK_OPTION_NUMBER, .preset = (preset_)
/* From 0 on; from 0 to below 1. */
#define NUMBER_OR_ZERO(preset_) .kind = YK_OPTION_NUMBER, .zero = true, .preset = (preset_)
#define FRACTION(preset_)                                                                          \
    .kind = YK_OPTION_NUMBER, .zero = true, .below = true, .ceiling = 1, .preset = (preset_)

static const struct yk_option options[] = {
    {ROW("model", "MODEL", SOURCE_GROUP,
         "A built-in model (yoke model lists them), a config.json, or a folder with one; else that "
         "of --weights, else gpt-mini"),
     TEXT, TO(model)},
    {ROW("weights", "PATH", SOURCE_GROUP,
         "Start from these weights: a .safetensors file, a folder of Hugging Face's or a "
         "checkpoint; else from random ones. \"random\": from numbers that repeat, which even a "
         "large model has at once, to try out shapes, plans and speeds"),
     INPUT, TO(weights)},
    {ROW("adapter", "FOLDER", SOURCE_GROUP, "Start from this adapter, as PEFT keeps them"), INPUT,
     TO(adapter)},
    {ROW("data", "PATH", SOURCE_GROUP,
         "Text, a folder of texts, token shards (.bin), instructions (.jsonl, .json), or with "
         "--target sentences, one a line"),
     INPUT, TO(data)},
    {ROW("target", "PATH", SOURCE_GROUP, "The translations of those sentences, line by line"),
     INPUT, TO(target)},
    {ROW("tokenizer", "PATH", SOURCE_GROUP,
         "The tokenizer.json that cuts text into tokens (yoke tokenize learns one); else that "
         "beside --weights, else text is learned by character"),
     INPUT, TO(tokenizer)},
    {ROW("data-part", "PART", SOURCE_GROUP, "Use only this much of the data, from its beginning"),
     .kind = YK_OPTION_PERCENT, .ceiling = 1, .preset = "100%", TO(data_part)},
    {ROW("eval-part", "PART", SOURCE_GROUP, "Keep the last part of that for evaluation"),
     .kind = YK_OPTION_PERCENT, .zero = true, .below = true, .ceiling = 1, .preset = "10%",
     TO(eval_part)},
    {ROW("eval-data", "PATH", SOURCE_GROUP, "Evaluate on this instead"), INPUT, TO(eval_data)},
    {ROW("eval-target", "PATH", SOURCE_GROUP, "With --target: the translations of that"), INPUT,
     TO(eval_target)},
    {ROW("faulty", "NAME", SOURCE_GROUP,
         "Pairs and instructions that are empty or longer than the model can take"),
     CHOICE(faulty_choices, "refuse"), TO(faulty)},
    {ROW("packed", NULL, SOURCE_GROUP,
         "Put several instructions into one sample, each seeing those before it"),
     FLAG, TO(packed)},

    {ROW("steps", "N", YK_WORKLOAD_GROUP, "Train for this many steps; else 1000"),
     INTEGER(1, MOST_STEPS, NULL), .rival = "epochs", TO(steps)},
    {ROW("epochs", "N", YK_WORKLOAD_GROUP, "Train until the data has been seen this many times"),
     NUMBER(NULL), .rival = "steps", TO(epochs)},
    {ROW("batch", "N", YK_WORKLOAD_GROUP, "Samples in a step"),
     INTEGER(1, YK_WORKLOAD_MOST_TOKENS, "16"), TO(batch)},
    {ROW("batch-tokens", "N", YK_WORKLOAD_GROUP,
         "The tokens of a step, which goes before --batch: of pairs, at most so many on either "
         "side"),
     INTEGER(1, YK_WORKLOAD_MOST_TOKENS, NULL), TO(batch_tokens)},
    {ROW("seq", "TOKENS", YK_WORKLOAD_GROUP,
         "Length of a sample; else 1024 (instructions 512, masked text 128), or what the model can "
         "take if that is less. Pairs, which come with others of like length, are planned as if "
         "all had this length; else 32"),
     INTEGER(1, YK_WORKLOAD_MOST_TOKENS, NULL), TO(sequence)},
    {ROW("longest", "TOKENS", YK_WORKLOAD_GROUP,
         "The most tokens of a sentence of pairs; else what the model and a micro-batch can take"),
     INTEGER(2, YK_WORKLOAD_MOST_TOKENS, NULL), TO(longest)},
    {ROW("micro-batches", "N", YK_WORKLOAD_GROUP,
         "Split the batch into this many parts; else as many as memory asks for"),
     INTEGER(1, MOST_MICRO_BATCHES, NULL), TO(micro_batches)},
    {ROW("precision", "NAME", YK_WORKLOAD_GROUP,
         "What matrix products are done in: fp32, tf32, fp16 or bf16"),
     CHOICE(yk_workload_precisions, "fp32"), TO(precision)},
    {ROW("lora", "RANK", YK_WORKLOAD_GROUP,
         "Train only adapters of this rank, on all linears of the blocks"),
     INTEGER(1, YK_WORKLOAD_MOST_RANK, NULL), TO(lora_rank)},
    {ROW("lora-alpha", "NUMBER", YK_WORKLOAD_GROUP,
         "Adapters are scaled by this over their rank; else twice the rank"),
     NUMBER(NULL), TO(lora_alpha)},
    {ROW("nf4", NULL, YK_WORKLOAD_GROUP,
         "Keep the frozen weights of the blocks in four bits, as QLoRA does"),
     FLAG, TO(nf4)},
    {ROW("recompute", NULL, YK_WORKLOAD_GROUP,
         "Blocks save only their input and run forward again during backward"),
     FLAG, TO(recompute)},
    {ROW("dropout", "P", YK_WORKLOAD_GROUP, "How likely a number is left out"), FRACTION("0"),
     TO(dropout)},
    {ROW("label-smoothing", "P", YK_WORKLOAD_GROUP, "What of the target is spread over all tokens"),
     FRACTION("0"), TO(label_smoothing)},

    {ROW("optimizer", "NAME", OPTIMIZER_GROUP, "How gradients become new weights"),
     CHOICE(optimizer_choices, "adamw"), TO(optimizer)},
    {ROW("rate", "NUMBER", OPTIMIZER_GROUP,
         "The highest learning rate; else 0.001, with adapters 0.0002, with SGD 0.1"),
     NUMBER(NULL), TO(rate)},
    {ROW("rate-rule", "NAME", OPTIMIZER_GROUP, "What the rate does after the warm-up"),
     CHOICE(rate_choices, "cosine"), TO(rate_rule)},
    {ROW("warmup", "STEPS", OPTIMIZER_GROUP,
         "Steps in which the rate rises; else a tenth of all, at most 100"),
     INTEGER(0, MOST_STEPS, NULL), .missing = -1, TO(warmup)},
    {ROW("least-rate", "NUMBER", OPTIMIZER_GROUP, "The rate at the end; else a tenth of --rate"),
     NUMBER_OR_ZERO(NULL), TO(least_rate)},
    {ROW("beta1", "NUMBER", OPTIMIZER_GROUP, "Of AdamW: how slowly the mean gradient changes"),
     FRACTION("0.9"), TO(beta1)},
    {ROW("beta2", "NUMBER", OPTIMIZER_GROUP, "Of AdamW: how slowly its mean square changes"),
     FRACTION("0.95"), TO(beta2)},
    {ROW("epsilon", "NUMBER", OPTIMIZER_GROUP, "Of AdamW: added to the root of the mean square"),
     NUMBER("1e-8"), TO(epsilon)},
    {ROW("decay", "NUMBER", OPTIMIZER_GROUP, "Weight decay of parameters with two dimensions"),
     NUMBER_OR_ZERO("0.1"), TO(decay)},
    {ROW("momentum", "NUMBER", OPTIMIZER_GROUP, "Of SGD"), FRACTION("0.9"), TO(momentum)},
    {ROW("clip", "NORM", OPTIMIZER_GROUP,
         "Gradients of a larger norm are scaled down to it; 0: none are"),
     NUMBER_OR_ZERO("1"), TO(clip)},
    {ROW("seed", "N", OPTIMIZER_GROUP, "Seed of weights, order of samples and dropout"),
     INTEGER(0, INT64_MAX, "1"), TO(seed)},

    {ROW("out", "FOLDER", RUN_GROUP, "Where the run is kept; else runs/MODEL"),
     .kind = YK_OPTION_FILE, .momentary = true, TO(out)},
    {ROW("resume", NULL, RUN_GROUP,
         "Go on from the newest checkpoint in that folder, with its settings"),
     FLAG, .momentary = true, TO(resume)},
    {ROW("eval-every", "STEPS", RUN_GROUP, "Evaluate so often; 0: only after the last step"),
     INTEGER(0, MOST_STEPS, "250"), TO(eval_every)},
    {ROW("eval-samples", "N", RUN_GROUP, "On at most so many samples; 0: on all"),
     INTEGER(0, INT64_MAX, "128"), TO(eval_samples)},
    {ROW("save-every", "STEPS", RUN_GROUP,
         "Write a checkpoint so often; 0: only after the last step"),
     INTEGER(0, MOST_STEPS, "500"), TO(save_every)},
    {ROW("keep", "N", RUN_GROUP, "Keep the newest so many checkpoints; 0: write none at all"),
     INTEGER(0, INT32_MAX, "2"), TO(keep)},

    {ROW("device", "DEVICE", PLAN_GROUP, YK_DEVICE_HELP), TEXT, .preset = "auto", TO(device)},
    {ROW("cluster", "CLUSTER", PLAN_GROUP,
         "What to plan for: cpu:8, h200, or a cluster file with a device for each rank; else the "
         "ranks' GPUs or cores"),
     TEXT, TO(cluster)},
    {ROW("threads", "N", PLAN_GROUP, "Compute with so many threads; else one for each core"),
     INTEGER(1, MOST_THREADS, NULL), TO(threads)},
    {ROW("attention", "NAME", PLAN_GROUP, "Of a GPU: whose kernels attend"),
     CHOICE(attention_choices, "best"), TO(attention)},
    {ROW("qkv", "NAME", PLAN_GROUP, "Of a GPU: how queries, keys and values are computed"),
     CHOICE(qkv_choices, "fused"), TO(qkv)},
    {ROW("graphs", "NAME", PLAN_GROUP, "Of a GPU: how its work is launched"),
     CHOICE(graphs_choices, "off"), TO(graphs)},
    {ROW("ranks", "N", PLAN_GROUP,
         "Start so many processes on this machine with mpirun; else those that a launcher has "
         "started, or one"),
     INTEGER(1, MOST_RANKS, NULL), .momentary = true, TO(ranks)},
    {ROW("rank", "R", PLAN_GROUP, YK_LAUNCH_RANK_HELP), INTEGER(0, MOST_RANKS - 1, NULL),
     .missing = -1, .momentary = true, TO(hand.rank)},
    {ROW("world", "N", PLAN_GROUP, YK_LAUNCH_WORLD_HELP), INTEGER(1, MOST_RANKS, NULL),
     .momentary = true, TO(hand.world)},
    {ROW("master", "HOST:PORT", PLAN_GROUP, YK_LAUNCH_MASTER_HELP), TEXT, .momentary = true,
     TO(hand.master)},
    {ROW("wire", "NAME", PLAN_GROUP, YK_TRAIN_WIRE_HELP), CHOICE(yk_train_wire_choices, "auto"),
     TO(wire)},
    {ROW("slow", "RANK:FACTOR", PLAN_GROUP,
         "Let ranks compute so many times more slowly, to try out unequal devices: 1:2.5,3:4"),
     TEXT, TO(slow)},
    {ROW("reduce", "PRECISION", PLAN_GROUP, "Sum up gradients of 16 bits as they are, or as fp32"),
     CHOICE(reduce_choices, "16bit"), TO(reduce)},
    {ROW("rebalance", NULL, PLAN_GROUP,
         "When a rank turns out slower than planned, divide the samples anew between two steps"),
     FLAG, TO(rebalance)},
    {ROW("profile", "FILE", PLAN_GROUP, YK_PROFILE_PATH_HELP), INPUT, TO(profile)},
    {ROW("memory", "BYTES", PLAN_GROUP, "Use at most this much memory: 4GiB"),
     .kind = YK_OPTION_UNIT, .unit = YK_UNIT_BYTES, TO(memory_bytes)},
    {ROW("plan", "FILE", PLAN_GROUP, "Train by this plan instead of searching for one"), INPUT,
     TO(plan)},
    {ROW("shuffle", "SEED", PLAN_GROUP,
         "Run another valid program of the plan, its ops in random order, to see what the order is "
         "worth: weights come out the same, steps take longer"),
     INTEGER(1, INT32_MAX, NULL), TO(shuffle)},
    {ROW("dry-run", NULL, PLAN_GROUP,
         "Print the plan, its memory and how long it will take, and train nothing"),
     FLAG, .momentary = true, TO(dry_run)},

    {ROW("config", "FILE", YK_OUTPUT_GROUP,
         "Take options from this JSON object, named like them; the command line goes first"),
     INPUT, .momentary = true, TO(config)},
    {ROW("log-every", "STEPS", YK_OUTPUT_GROUP,
         "After the first ten steps, keep a line of every so many"),
     INTEGER(1, MOST_STEPS, "10"), TO(log_every)},
    {ROW("counters", NULL, YK_OUTPUT_GROUP, YK_COUNTERS_HELP), FLAG, .momentary = true,
     TO(counters)},
    {ROW("json", NULL, YK_OUTPUT_GROUP, "Print the summary as JSON"), FLAG, .momentary = true,
     TO(json)},
    {ROW("quiet", NULL, YK_OUTPUT_GROUP, "No notes and no lines of steps on standard error"), FLAG,
     .momentary = true, TO(quiet)},
};

const struct yk_option_table yk_train_options = {options, sizeof options / sizeof options[0]};
