/* Plan options: rows of option tables and operand tables that are shared by the commands for plans
 * and schedules. common_options.h explains `type` and `member`. */
#ifndef YK_CLI_OPTIONS_PLAN_OPTIONS_H
#define YK_CLI_OPTIONS_PLAN_OPTIONS_H

#include "cli/options/common_options.h"
#include "job/profile_path.h"
#include "job/workload.h"

#define YK_INPUT_OPTION_HEADING "Input options"
#define YK_SEARCH_OPTION_HEADING "Search options"

#define YK_MODEL_OPTION_HELP                                                                       \
    "A built-in model (yoke model lists them) or a Hugging Face config.json"

/* `type` and `member` cannot be put in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_MODEL_OPTION(type, member, help_)                                                       \
    {                                                                                              \
        YK_OPTION_ROW("model", "MODEL", YK_INPUT_OPTION_HEADING, help_),                           \
        YK_OPTION_INIT_TEXT(NULL), YK_OPTION_OFFSET_OF(type, member),                              \
    }

#define YK_CLUSTER_OPTION(type, member, help_)                                                     \
    {                                                                                              \
        YK_OPTION_ROW("cluster", "CLUSTER", YK_INPUT_OPTION_HEADING, help_),                       \
        YK_OPTION_INIT_TEXT(NULL), YK_OPTION_OFFSET_OF(type, member),                              \
    }

#define YK_PROFILE_OPTION(type, member)                                                            \
    {                                                                                              \
        YK_OPTION_ROW("profile", "FILE", YK_INPUT_OPTION_HEADING, YK_PROFILE_PATH_OPTION_HELP),    \
        YK_OPTION_INIT_INPUT_FILE, YK_OPTION_OFFSET_OF(type, member),                              \
    }

/* Options for the members model, cluster, profile and slowdown of a yk_planning_inputs_request. */
#define YK_PLANNING_INPUT_OPTIONS(type, member, model_help, cluster_help)                          \
    YK_MODEL_OPTION(type, member.model, model_help),                                               \
    YK_CLUSTER_OPTION(type, member.cluster, cluster_help),                                         \
    YK_PROFILE_OPTION(type, member.profile),                                                       \
    {                                                                                              \
        YK_OPTION_ROW("slowdown", "FACTOR", YK_INPUT_OPTION_HEADING,                               \
               "How much longer computation takes beside communication; "                          \
               "else as measured, or 1.1"),                                                        \
        .kind = YK_OPTION_FACTOR, YK_OPTION_OFFSET_OF(type, member.slowdown),                      \
    }

/* YK_PLANNING_INPUT_OPTIONS for commands that read a plan file. The options replace the inputs that
 * are stored in the file. */
#define YK_PLANNING_INPUT_OVERRIDE_OPTIONS(type, member)                                           \
    YK_PLANNING_INPUT_OPTIONS(type, member, "The model the plan is for, if not where it was",      \
                        "The cluster the plan is for, if not where it was")

#define YK_PLAN_FILE_OPERAND(type, member, help_)                                                  \
    {                                                                                              \
        .placeholder = "PLAN", .help = help_, .required = true, YK_OPTION_OFFSET_OF(type, member), \
    }

#define YK_MEMORY_LIMIT_OPTION(type, member)                                                       \
    {                                                                                              \
        YK_OPTION_ROW("memory", "BYTES", YK_SEARCH_OPTION_HEADING,                                 \
               "Use at most this much of every device's memory: 20GiB"),                           \
        YK_OPTION_INIT_BYTES, YK_OPTION_OFFSET_OF(type, member),                                   \
    }

/* Options for members of a struct yk_workload_request: YK_SEQUENCE_LENGTH_OPTIONS for sequence
 * lengths, YK_ADAPTER_OPTIONS for adapters, and YK_WORKLOAD_OPTIONS for all members. */
#define YK_SEQUENCE_LENGTH_OPTIONS(type, member)                                                   \
    {                                                                                              \
        YK_OPTION_ROW("seq", "TOKENS", YK_WORKLOAD_OPTION_HEADING,                                 \
               "Length of a sample; else 1024, or what the model can take if that is less"),       \
        YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, NULL),                                   \
        YK_OPTION_OFFSET_OF(type, member.sequence),                                                \
    },                                                                                             \
    {                                                                                              \
        YK_OPTION_ROW("target-seq", "TOKENS", YK_WORKLOAD_OPTION_HEADING,                          \
               "Length of what an encoder and decoder translate to; else that of the source"),     \
        YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, NULL),                                   \
        YK_OPTION_OFFSET_OF(type, member.target_sequence),                                         \
    }

#define YK_ADAPTER_OPTIONS(type, member)                                                           \
    {                                                                                              \
        YK_OPTION_ROW("lora", "RANK", YK_WORKLOAD_OPTION_HEADING,                                  \
               "Train only adapters of this rank, on all linears of the blocks"),                  \
        YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_LORA_RANK, NULL),                                \
        YK_OPTION_OFFSET_OF(type, member.lora_rank),                                               \
    },                                                                                             \
    {                                                                                              \
        YK_OPTION_ROW("nf4", NULL, YK_WORKLOAD_OPTION_HEADING,                                     \
               "Keep the frozen weights of the blocks in four bits, as QLoRA does"),               \
        YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(type, member.nf4),                                \
    }

#define YK_WORKLOAD_OPTIONS(type, member)                                                          \
    {                                                                                              \
        YK_OPTION_ROW("batch", "N", YK_WORKLOAD_OPTION_HEADING, "Samples in a batch"),             \
        YK_OPTION_INIT_INTEGER(1, YK_WORKLOAD_MAX_TOKENS, "1"),                                    \
        YK_OPTION_OFFSET_OF(type, member.batch),                                                   \
    },                                                                                             \
    YK_SEQUENCE_LENGTH_OPTIONS(type, member),                                                      \
    {                                                                                              \
        YK_OPTION_ROW("precision", "NAME", YK_WORKLOAD_OPTION_HEADING,                             \
               "What matrix products are done in: fp32, tf32, fp16 or bf16"),                      \
        YK_OPTION_INIT_CHOICE(yk_workload_precision_choice_at, "bf16"),                            \
        YK_OPTION_OFFSET_OF(type, member.precision),                                               \
    },                                                                                             \
    YK_ADAPTER_OPTIONS(type, member),                                                              \
    {                                                                                              \
        YK_OPTION_ROW("recompute", NULL, YK_WORKLOAD_OPTION_HEADING,                               \
               "Blocks save only their input and run forward again during backward"),              \
        YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(type, member.recompute),                          \
    }

#define YK_MICRO_BATCHES_OPTION(type, member, most_, help_)                                        \
    {                                                                                              \
        YK_OPTION_ROW("micro-batches", "N", YK_WORKLOAD_OPTION_HEADING, help_),                    \
        YK_OPTION_INIT_INTEGER(1, most_, NULL), YK_OPTION_OFFSET_OF(type, member),                 \
    }

#define YK_CLIP_GRADIENTS_OPTION(type, member)                                                     \
    {                                                                                              \
        YK_OPTION_ROW("clip", NULL, YK_WORKLOAD_OPTION_HEADING,                                    \
               "Gradients are clipped by their norm: no update before all ranks have agreed on "   \
               "it"),                                                                              \
        YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(type, member),                                    \
    }

#define YK_TIME_BUDGET_OPTION(group_, type, member, seconds, help_)                                \
    {                                                                                              \
        YK_OPTION_ROW("budget", "SECONDS", group_, help_), YK_OPTION_INIT_SECONDS(seconds),        \
        YK_OPTION_OFFSET_OF(type, member),                                                         \
    }

#define YK_SEED_OPTION(type, member, help_)                                                        \
    {                                                                                              \
        YK_OPTION_ROW("seed", "N", YK_SEARCH_OPTION_HEADING, help_),                               \
        YK_OPTION_INIT_INTEGER(0, INT64_MAX, "1"), YK_OPTION_OFFSET_OF(type, member),              \
    }

/* Options for the members of a struct yk_job_search_options. */
#define YK_SEARCH_OPTIONS(type, member, seconds, budget_help, moves_help)                          \
    YK_TIME_BUDGET_OPTION(YK_SEARCH_OPTION_HEADING, type, member.budget_s, seconds, budget_help),  \
    {                                                                                              \
        YK_OPTION_ROW("moves", "N", YK_SEARCH_OPTION_HEADING, moves_help),                         \
        YK_OPTION_INIT_INTEGER(1, INT64_MAX, NULL), YK_OPTION_OFFSET_OF(type, member.moves),       \
    },                                                                                             \
    YK_SEED_OPTION(type, member.seed, "Seed of the search's random numbers")

#define YK_SVG_OPTION(type, member, help_)                                                         \
    {                                                                                              \
        YK_OPTION_ROW("svg", "FILE", YK_OUTPUT_OPTION_HEADING, help_), YK_OPTION_INIT_OUTPUT_FILE, \
        YK_OPTION_OFFSET_OF(type, member),                                                         \
    }

#define YK_TRACE_OPTION(type, member, help_)                                                       \
    {                                                                                              \
        YK_OPTION_ROW("trace", "FILE", YK_OUTPUT_OPTION_HEADING, help_),                           \
        YK_OPTION_INIT_OUTPUT_FILE, YK_OPTION_OFFSET_OF(type, member),                             \
    }

#define YK_TRACE_OPTION_HELP "Also write a trace that Perfetto and chrome://tracing open"

/* Options for the members of a struct yk_schedule_drawing_paths. */
#define YK_DRAWING_PATHS_OPTIONS(type, member, svg_help, html_help)                                \
    YK_SVG_OPTION(type, member.svg, svg_help),                                                     \
    {                                                                                              \
        YK_OPTION_ROW("html", "FILE", YK_OUTPUT_OPTION_HEADING, html_help),                        \
        YK_OPTION_INIT_OUTPUT_FILE, YK_OPTION_OFFSET_OF(type, member.html),                        \
    },                                                                                             \
    YK_TRACE_OPTION(type, member.trace, YK_TRACE_OPTION_HELP)
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
