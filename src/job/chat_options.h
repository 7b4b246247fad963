/*
 * Chat options: what a user says about the chats of a model: another template than the model's, and
 * values for the variables of templates. Not thread-safe.
 */
#ifndef YK_JOB_CHAT_OPTIONS_H
#define YK_JOB_CHAT_OPTIONS_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/tokenizer.h"

/* NULL means: not given. */
struct yk_chat_options {
    const char *template_path; /* a .jinja file */
    const char *variables;     /* see yk_chat_template_parse_variables() */
    const char *tools;         /* path of a JSON list of functions */
};

#define YK_CHAT_TEMPLATE_OPTION_HELP "Write chats by this Jinja template; else by the model's own"
#define YK_CHAT_VARIABLES_OPTION_HELP                                                              \
    "Variables of the chat template: enable_thinking=false, or a JSON object"
#define YK_CHAT_TOOLS_OPTION_HELP                                                                  \
    "A JSON list of functions that chats may call, where they do not bring their own"

/* Sets the chat template of a tokenizer, if one is given. `tokenizer` may be NULL, which is an
 * error then. */
yk_status yk_chat_options_apply_template(const struct yk_chat_options *options,
                                         struct yk_tokenizer *tokenizer) YK_MUST_USE;

/* Set `*out` to an object with the variables, and to the list of tools. NULL means: none are given.
 * The caller destroys them. */
yk_status yk_chat_options_read_variables(const struct yk_chat_options *options,
                                         struct yk_json **out) YK_MUST_USE;
yk_status yk_chat_options_read_tools(const struct yk_chat_options *options,
                                     struct yk_json **out) YK_MUST_USE;

#endif
