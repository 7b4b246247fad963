/* The option table of yk_train_request. */
#include "job/device.h"
#include "job/profile_path.h"
#include "job/training/request.h"
#include "job/training/transport.h"
#include "job/workload.h"

#include <stddef.h>

enum {
    MAX_MICRO_BATCHES = 4096,
    MAX_STEPS = 1000000000,
    MAX_THREADS = 4096,
    MAX_RANKS = 4096,
};

#define SOURCE_GROUP "What to train"
#define OPTIMIZER_GROUP "Optimizer options"
#define RUN_GROUP "Run options"
#define PLAN_GROUP "Plan options"
#define OUTPUT_GROUP "Output options"

static bool optimizer_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"adamw", "Adam with weight decay apart from the gradient"},
        {"sgd", "the gradient itself, with --momentum"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static bool rate_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"constant", "the same to the end"},
        {"cosine", "down to --least-rate along half a cosine"},
        {"inverse-root", "down with the square root of the step"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static bool attention_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"best", "cuDNN's or yoke's own, whichever is faster; the same bits every time"},
        {"cudnn", "cuDNN's, where it has some: faster still, but last bits vary from run to run"},
        {"own", "yoke's own"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static bool qkv_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"fused", "by one product"},
        {"streams", "by three, side by side on streams of their own"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static bool graphs_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"off", "kernel by kernel"},
        {"on", "as one graph for a layer's pass, once it was the same a few times"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static bool reduce_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"16bit", "as they are: half the bytes"},
        {"fp32", "as fp32, rounded once"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

static bool faulty_choices(size_t number, struct yk_option_choice *out)
{
    static const struct yk_option_choice choices[] = {
        {"refuse", "the first is named by its line, and nothing is trained"},
        {"skip", "they are left out and counted"},
    };
    return YK_OPTION_CHOICE_FROM_ARRAY(choices);
}

#define TO(member_) YK_OPTION_OFFSET_OF(struct yk_train_request, member_)
/* From 0 on; from 0 to below 1. */
#define NUMBER_OR_ZERO(preset_) YK_OPTION_INIT_NUMBER(preset_), .allows_zero = true
#define FRACTION(preset_)                                                                          \
    YK_OPTION_INIT_NUMBER(preset_), .allows_zero = true, .max_is_exclusive = true, .max_value = 1

static const struct yk_option options[] = {
    {YK_OPTION_ROW(
         "model", "MODEL", SOURCE_GROUP,
         "A built-in model (yoke model lists them), a config.json, or a folder with one; else that "
         "of --weights, else gpt-mini"),
     YK_OPTION_INIT_TEXT(NULL), TO(model)},
    {YK_OPTION_ROW(
         "weights", "PATH", SOURCE_GROUP,
         "Start from these weights: a .safetensors file, a folder of Hugging Face's or a "
         "checkpoint; else from random ones. \"random\": from numbers that repeat, which even a "
         "large model has at once, to try out shapes, plans and speeds"),
     YK_OPTION_INIT_INPUT_FILE, TO(weights)},
    {YK_OPTION_ROW("adapter", "FOLDER", SOURCE_GROUP,
                   "Start from this adapter, as PEFT keeps them"),
     YK_OPTION_INIT_INPUT_FILE, TO(adapter)},
    {YK_OPTION_ROW(
         "data", "PATH", SOURCE_GROUP,
         "Text, a folder of texts, token shards (.bin), instructions (.jsonl, .json), with "
         "--target sentences, one a line, or images: a folder for each class, CIFAR-10 or IDX"),
     YK_OPTION_INIT_INPUT_FILE, TO(data)},
    {YK_OPTION_ROW("target", "PATH", SOURCE_GROUP,
                   "The translations of those sentences, line by line"),
     YK_OPTION_INIT_INPUT_FILE, TO(target)},
    {YK_OPTION_ROW(
         "tokenizer", "PATH", SOURCE_GROUP,
         "The tokenizer that cuts text into tokens: a tokenizer.json (yoke tokenize learns one), a "
         "tokenizer.model or a folder with one; else that beside --weights, else text is learned "
         "by character"),
     YK_OPTION_INIT_INPUT_FILE, TO(tokenizer)},
    {YK_OPTION_ROW("chat-template", "FILE", SOURCE_GROUP, YK_CHAT_TEMPLATE_OPTION_HELP),
     YK_OPTION_INIT_INPUT_FILE, .not_saved = true, TO(chat.template_path)},
    {YK_OPTION_ROW("chat-template-kwargs", "VARIABLES", SOURCE_GROUP,
                   YK_CHAT_VARIABLES_OPTION_HELP),
     YK_OPTION_INIT_TEXT(NULL), TO(chat.variables)},
    {YK_OPTION_ROW("data-part", "PART", SOURCE_GROUP,
                   "Use only this much of the data, from its beginning"),
     YK_OPTION_INIT_PERCENT(1, "100%"), TO(data_fraction)},
    {YK_OPTION_ROW("eval-part", "PART", SOURCE_GROUP, "Keep the last part of that for evaluation"),
     YK_OPTION_INIT_PERCENT(1, "10%"), .allows_zero = true, .max_is_exclusive = true,
     TO(eval_fraction)},
    {YK_OPTION_ROW("eval-data", "PATH", SOURCE_GROUP, "Evaluate on this instead"),
     YK_OPTION_INIT_INPUT_FILE, TO(eval_data)},
    {YK_OPTION_ROW("eval-target", "PATH", SOURCE_GROUP, "With --target: the translations of that"),
     YK_OPTION_INIT_INPUT_FILE, TO(eval_target)},
    {YK_OPTION_ROW("faulty", "NAME", SOURCE_GROUP,
                   "Pairs and instructions that are empty or longer than the model can take, and "
                   "broken images"),
     YK_OPTION_INIT_CHOICE(faulty_choices, "refuse"), TO(faulty)},
    {YK_OPTION_ROW("augment", "LIST", SOURCE_GROUP,
                   "Change images at random while training: flip, pad-crop=N, resized-crop, or "
                   "several with commas; else they stay as they are"),
     YK_OPTION_INIT_TEXT(NULL), TO(augment)},
    {YK_OPTION_ROW("packed", NULL, SOURCE_GROUP,
                   "Put several instructions into one sample, each seeing those before it"),
     YK_OPTION_INIT_FLAG, TO(packed)},

    {YK_OPTION_ROW("steps", "N", YK_WORKLOAD_OPTION_HEADING,
                   "Train for this many steps; else 1000"),
     YK_OPTION_INIT_INTEGER(1, MAX_STEPS, NULL), .excludes = "epochs", TO(steps)},
    {YK_OPTION_ROW("epochs", "N", YK_WORKLOAD_OPTION_HEADING,
                   "Train until the data has been seen this many times"),
     YK_OPTION_INIT_NUMBER(NULL), .excludes = "steps", TO(epochs)},
    {YK_OPTION_ROW("batch", "N", YK_WORKLOAD_OPTION_HEADING, "Samples in a step"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, "16"), TO(batch)},
    {YK_OPTION_ROW(
         "batch-tokens", "N", YK_WORKLOAD_OPTION_HEADING,
         "The tokens of a step, which goes before --batch: of pairs, at most so many on either "
         "side"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, NULL), TO(batch_tokens)},
    {YK_OPTION_ROW(
         "seq", "TOKENS", YK_WORKLOAD_OPTION_HEADING,
         "Length of a sample; else 1024 (instructions 512, masked text 128), or what the model can "
         "take if that is less. Pairs, which come with others of like length, are planned as if "
         "all had this length; else 32"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, NULL), TO(sequence)},
    {YK_OPTION_ROW(
         "longest", "TOKENS", YK_WORKLOAD_OPTION_HEADING,
         "The most tokens of a sentence of pairs; else what the model and a micro-batch can take"),
     YK_OPTION_INIT_INTEGER(2, YK_WORKLOAD_MAX_TOKENS, NULL), TO(max_sentence_tokens)},
    {YK_OPTION_ROW("micro-batches", "N", YK_WORKLOAD_OPTION_HEADING,
                   "Split the batch into this many parts; else as many as memory asks for"),
     YK_OPTION_INIT_INTEGER(1, MAX_MICRO_BATCHES, NULL), TO(micro_batches)},
    {YK_OPTION_ROW("precision", "NAME", YK_WORKLOAD_OPTION_HEADING,
                   "What matrix products are done in: fp32, tf32, fp16 or bf16"),
     YK_OPTION_INIT_CHOICE(yk_workload_precision_choice_at, "fp32"), TO(precision)},
    {YK_OPTION_ROW("lora", "RANK", YK_WORKLOAD_OPTION_HEADING,
                   "Train only adapters of this rank, on all linears of the blocks"),
     YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_LORA_RANK, NULL), TO(lora_rank)},
    {YK_OPTION_ROW("lora-alpha", "NUMBER", YK_WORKLOAD_OPTION_HEADING,
                   "Adapters are scaled by this over their rank; else twice the rank"),
     YK_OPTION_INIT_NUMBER(NULL), TO(lora_alpha)},
    {YK_OPTION_ROW("nf4", NULL, YK_WORKLOAD_OPTION_HEADING,
                   "Keep the frozen weights of the blocks in four bits, as QLoRA does"),
     YK_OPTION_INIT_FLAG, TO(nf4)},
    {YK_OPTION_ROW("recompute", NULL, YK_WORKLOAD_OPTION_HEADING,
                   "Blocks save only their input and run forward again during backward"),
     YK_OPTION_INIT_FLAG, TO(recompute)},
    {YK_OPTION_ROW("dropout", "P", YK_WORKLOAD_OPTION_HEADING, "How likely a number is left out"),
     FRACTION("0"), TO(dropout)},
    {YK_OPTION_ROW("label-smoothing", "P", YK_WORKLOAD_OPTION_HEADING,
                   "What of the target is spread over all tokens"),
     FRACTION("0"), TO(label_smoothing)},

    {YK_OPTION_ROW("optimizer", "NAME", OPTIMIZER_GROUP, "How gradients become new weights"),
     YK_OPTION_INIT_CHOICE(optimizer_choices, "adamw"), TO(optimizer)},
    {YK_OPTION_ROW("rate", "NUMBER", OPTIMIZER_GROUP,
                   "The highest learning rate; else 0.001, with adapters 0.0002, with SGD 0.1"),
     YK_OPTION_INIT_NUMBER(NULL), TO(lr)},
    {YK_OPTION_ROW("rate-rule", "NAME", OPTIMIZER_GROUP, "What the rate does after the warm-up"),
     YK_OPTION_INIT_CHOICE(rate_choices, "cosine"), TO(lr_schedule)},
    {YK_OPTION_ROW("warmup", "STEPS", OPTIMIZER_GROUP,
                   "Steps in which the rate rises; else a tenth of all, at most 100"),
     YK_OPTION_INIT_INTEGER(0, MAX_STEPS, NULL), .missing_value = -1, TO(warmup)},
    {YK_OPTION_ROW("least-rate", "NUMBER", OPTIMIZER_GROUP,
                   "The rate at the end; else a tenth of --rate"),
     NUMBER_OR_ZERO(NULL), TO(min_lr)},
    {YK_OPTION_ROW("beta1", "NUMBER", OPTIMIZER_GROUP,
                   "Of AdamW: how slowly the mean gradient changes"),
     FRACTION("0.9"), TO(beta1)},
    {YK_OPTION_ROW("beta2", "NUMBER", OPTIMIZER_GROUP,
                   "Of AdamW: how slowly its mean square changes"),
     FRACTION("0.95"), TO(beta2)},
    {YK_OPTION_ROW("epsilon", "NUMBER", OPTIMIZER_GROUP,
                   "Of AdamW: added to the root of the mean square"),
     YK_OPTION_INIT_NUMBER("1e-8"), TO(epsilon)},
    {YK_OPTION_ROW("decay", "NUMBER", OPTIMIZER_GROUP,
                   "Weight decay of parameters with two dimensions"),
     NUMBER_OR_ZERO("0.1"), TO(weight_decay)},
    {YK_OPTION_ROW("momentum", "NUMBER", OPTIMIZER_GROUP, "Of SGD"), FRACTION("0.9"), TO(momentum)},
    {YK_OPTION_ROW("clip", "NORM", OPTIMIZER_GROUP,
                   "Gradients of a larger norm are scaled down to it; 0: none are"),
     NUMBER_OR_ZERO("1"), TO(clip)},
    {YK_OPTION_ROW("seed", "N", OPTIMIZER_GROUP, "Seed of weights, order of samples and dropout"),
     YK_OPTION_INIT_INTEGER(0, INT64_MAX, "1"), TO(seed)},

    {YK_OPTION_ROW("out", "FOLDER", RUN_GROUP, "Where the run is kept; else runs/MODEL"),
     YK_OPTION_INIT_OUTPUT_FILE, .not_saved = true, TO(out)},
    {YK_OPTION_ROW("resume", NULL, RUN_GROUP,
                   "Go on from the newest checkpoint in that folder, with its settings"),
     YK_OPTION_INIT_FLAG, .not_saved = true, TO(resume)},
    {YK_OPTION_ROW("eval-every", "STEPS", RUN_GROUP,
                   "Evaluate so often; 0: only after the last step"),
     YK_OPTION_INIT_INTEGER(0, MAX_STEPS, "250"), TO(eval_every)},
    {YK_OPTION_ROW("eval-samples", "N", RUN_GROUP, "On at most so many samples; 0: on all"),
     YK_OPTION_INIT_INTEGER(0, INT64_MAX, "128"), TO(eval_samples)},
    {YK_OPTION_ROW("save-every", "STEPS", RUN_GROUP,
                   "Write a checkpoint so often; 0: only after the last step"),
     YK_OPTION_INIT_INTEGER(0, MAX_STEPS, "500"), TO(save_every)},
    {YK_OPTION_ROW("keep", "N", RUN_GROUP,
                   "Keep the newest so many checkpoints; 0: write none at all"),
     YK_OPTION_INIT_INTEGER(0, INT32_MAX, "2"), TO(keep)},

    {YK_OPTION_ROW("device", "DEVICE", PLAN_GROUP, YK_DEVICE_OPTION_HELP),
     YK_OPTION_INIT_TEXT("auto"), TO(device)},
    {YK_OPTION_ROW(
         "cluster", "CLUSTER", PLAN_GROUP,
         "What to plan for: cpu:8, h200, or a cluster file with a device for each rank; else the "
         "ranks' GPUs or cores"),
     YK_OPTION_INIT_TEXT(NULL), TO(cluster)},
    {YK_OPTION_ROW("threads", "N", PLAN_GROUP,
                   "Compute with so many threads; else one for each core"),
     YK_OPTION_INIT_INTEGER(1, MAX_THREADS, NULL), TO(threads)},
    {YK_OPTION_ROW("attention", "NAME", PLAN_GROUP, "Of a GPU: whose kernels attend"),
     YK_OPTION_INIT_CHOICE(attention_choices, "best"), TO(attention)},
    {YK_OPTION_ROW("qkv", "NAME", PLAN_GROUP,
                   "Of a GPU: how queries, keys and values are computed"),
     YK_OPTION_INIT_CHOICE(qkv_choices, "fused"), TO(qkv)},
    {YK_OPTION_ROW("graphs", "NAME", PLAN_GROUP, "Of a GPU: how its work is launched"),
     YK_OPTION_INIT_CHOICE(graphs_choices, "off"), TO(graphs)},
    {YK_OPTION_ROW(
         "ranks", "N", PLAN_GROUP,
         "Start so many processes on this machine with mpirun; else those that a launcher has "
         "started, or one"),
     YK_OPTION_INIT_INTEGER(1, MAX_RANKS, NULL), .not_saved = true, TO(ranks)},
    {YK_OPTION_ROW("rank", "R", PLAN_GROUP, YK_RANK_OPTION_HELP),
     YK_OPTION_INIT_INTEGER(0, MAX_RANKS - 1, NULL), .missing_value = -1, .not_saved = true,
     TO(rank_options.rank)},
    {YK_OPTION_ROW("world", "N", PLAN_GROUP, YK_RANK_WORLD_OPTION_HELP),
     YK_OPTION_INIT_INTEGER(1, MAX_RANKS, NULL), .not_saved = true, TO(rank_options.world)},
    {YK_OPTION_ROW("master", "HOST:PORT", PLAN_GROUP, YK_RANK_MASTER_OPTION_HELP),
     YK_OPTION_INIT_TEXT(NULL), .not_saved = true, TO(rank_options.master)},
    {YK_OPTION_ROW("wire", "NAME", PLAN_GROUP, YK_TRAIN_TRANSPORT_OPTION_HELP),
     YK_OPTION_INIT_CHOICE(yk_train_transport_choice_at, "auto"), TO(wire)},
    {YK_OPTION_ROW(
         "slow", "RANK:FACTOR", PLAN_GROUP,
         "Let ranks compute so many times more slowly, to try out unequal devices: 1:2.5,3:4"),
     YK_OPTION_INIT_TEXT(NULL), TO(slow)},
    {YK_OPTION_ROW("reduce", "PRECISION", PLAN_GROUP,
                   "Sum up gradients of 16 bits as they are, or as fp32"),
     YK_OPTION_INIT_CHOICE(reduce_choices, "16bit"), TO(reduce)},
    {YK_OPTION_ROW(
         "rebalance", NULL, PLAN_GROUP,
         "When a rank turns out slower than planned, divide the samples anew between two steps"),
     YK_OPTION_INIT_FLAG, TO(rebalance)},
    {YK_OPTION_ROW("profile", "FILE", PLAN_GROUP, YK_PROFILE_PATH_OPTION_HELP),
     YK_OPTION_INIT_INPUT_FILE, TO(profile)},
    {YK_OPTION_ROW("memory", "BYTES", PLAN_GROUP, "Use at most this much memory: 4GiB"),
     YK_OPTION_INIT_BYTES, TO(memory_bytes)},
    {YK_OPTION_ROW("plan", "FILE", PLAN_GROUP, "Train by this plan instead of searching for one"),
     YK_OPTION_INIT_INPUT_FILE, TO(plan)},
    {YK_OPTION_ROW(
         "shuffle", "SEED", PLAN_GROUP,
         "Run another valid program of the plan, its ops in random order, to see what the order is "
         "worth: weights come out the same, steps take longer"),
     YK_OPTION_INIT_INTEGER(1, INT32_MAX, NULL), TO(shuffle)},
    {YK_OPTION_ROW("dry-run", NULL, PLAN_GROUP,
                   "Print the plan, its memory and how long it will take, and train nothing"),
     YK_OPTION_INIT_FLAG, .not_saved = true, TO(dry_run)},

    {YK_OPTION_ROW(
         "config",
         "FILE", OUTPUT_GROUP,
         "Take options from this JSON object, named like them; the command line goes first"),
     YK_OPTION_INIT_INPUT_FILE, .not_saved = true, TO(config)},
    {YK_OPTION_ROW("log-every", "STEPS", OUTPUT_GROUP,
                   "After the first ten steps, keep a line of every so many"),
     YK_OPTION_INIT_INTEGER(1, MAX_STEPS, "10"), TO(log_every)},
    {YK_OPTION_ROW("counters", NULL, OUTPUT_GROUP, YK_DEVICE_COUNTERS_OPTION_HELP),
     YK_OPTION_INIT_FLAG, .not_saved = true, TO(counters)},
    {YK_OPTION_ROW("json", NULL, OUTPUT_GROUP, "Print the summary as JSON"), YK_OPTION_INIT_FLAG,
     .not_saved = true, TO(json)},
    {YK_OPTION_ROW("quiet", NULL, OUTPUT_GROUP, "No notes and no lines of steps on standard error"),
     YK_OPTION_INIT_FLAG, .not_saved = true, TO(quiet)},
};

const struct yk_option_table yk_train_option_table = {options, sizeof options / sizeof options[0]};
