/*
 * Common options: rows of option tables and operand tables that several commands share. `type` is
 * the struct that receives the value (the command's arguments or its job request). `member` is the
 * member of this struct that receives the value. A file that uses YK_LOADED_MODEL_OPTIONS must
 * include job/device.h.
 */
#ifndef YK_CLI_OPTIONS_COMMON_OPTIONS_H
#define YK_CLI_OPTIONS_COMMON_OPTIONS_H

#include "base/option.h"
#include "cli/options/options.h"

#define YK_OUTPUT_OPTION_HEADING "Output options"
#define YK_LOADED_MODEL_OPTION_HEADING "Model options"
#define YK_DATA_OPTION_HEADING "Data options"

/* `type` and `member` cannot be put in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_JSON_OPTION(type, member)                                                               \
    {                                                                                              \
        YK_OPTION_ROW("json", NULL, YK_OUTPUT_OPTION_HEADING, "Print JSON instead of text"),       \
        YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(type, member),                                    \
    }

/* `what` is a string literal that says what --quiet suppresses, such as "notes". */
#define YK_QUIET_OPTION(type, member, what)                                                        \
    {                                                                                              \
        YK_OPTION_ROW("quiet", NULL, YK_OUTPUT_OPTION_HEADING, "No " what " on standard error"),   \
        YK_OPTION_INIT_FLAG, YK_OPTION_OFFSET_OF(type, member),                                    \
    }

/* The option --output (-o). */
#define YK_OUTPUT_OPTION(type, member, placeholder_, help_)                                        \
    {                                                                                              \
        YK_OPTION_ROW("output", placeholder_, YK_OUTPUT_OPTION_HEADING, help_),                    \
        .letter = 'o', YK_OPTION_INIT_OUTPUT_FILE, YK_OPTION_OFFSET_OF(type, member),              \
    }

/* Options of a command that loads a trained model. `member` is a struct yk_loaded_model_request. */
#define YK_LOADED_MODEL_OPTIONS(type, member)                                                      \
    {                                                                                              \
        YK_OPTION_ROW("weights", "PATH", YK_LOADED_MODEL_OPTION_HEADING,                           \
               "The weights that an adapter is for, if not where they were"),                      \
        YK_OPTION_INIT_INPUT_FILE, YK_OPTION_OFFSET_OF(type, member.weights),                      \
    },                                                                                             \
    {                                                                                              \
        YK_OPTION_ROW("device", "DEVICE", YK_LOADED_MODEL_OPTION_HEADING, YK_DEVICE_OPTION_HELP),  \
        YK_OPTION_INIT_TEXT("auto"), YK_OPTION_OFFSET_OF(type, member.device),                     \
    },                                                                                             \
    {                                                                                              \
        YK_OPTION_ROW("threads", "N", YK_LOADED_MODEL_OPTION_HEADING,                              \
               "Compute with so many threads; else one for each core"),                            \
        YK_OPTION_INIT_INTEGER(1, 4096, NULL), YK_OPTION_OFFSET_OF(type, member.threads),          \
    }

/* Options for the chat template. `member` is a struct yk_chat_options. A file that uses them must
 * include job/chat_options.h. */
#define YK_CHAT_OPTIONS(type, member, heading)                                                     \
    {                                                                                              \
        YK_OPTION_ROW("chat-template", "FILE", heading, YK_CHAT_TEMPLATE_OPTION_HELP),             \
        YK_OPTION_INIT_INPUT_FILE, YK_OPTION_OFFSET_OF(type, member.template_path),                \
    },                                                                                             \
    {                                                                                              \
        YK_OPTION_ROW("chat-template-kwargs", "VARIABLES", heading,                                \
               YK_CHAT_VARIABLES_OPTION_HELP),                                                     \
        YK_OPTION_INIT_TEXT(NULL), YK_OPTION_OFFSET_OF(type, member.variables),                    \
    }

/* The operand with the path of the trained model. */
#define YK_LOADED_MODEL_OPERAND(type, member)                                                      \
    {                                                                                              \
        .placeholder = "CHECKPOINT",                                                               \
        .help = "A checkpoint, the folder of a run (its newest checkpoint), or a folder of "       \
                "Hugging Face's",                                                                  \
        .required = true,                                                                          \
        YK_OPTION_OFFSET_OF(type, member.path),                                                    \
    }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
