/*
 * Chat template: writes conversations in the form that a model was trained on, as transformers'
 * apply_chat_template() does. The template is a Jinja program (tokenizer/jinja/template.h). It
 * comes from the chat files of the tokenizer: chat_template.jinja or, if there is none,
 * "chat_template" in tokenizer_config.json, which is a string or a list of templates with names.
 * "tool_use" is for conversations with tools if it exists, "default" for all others.
 *
 * If a tokenizer has no chat files with a template, but the special tokens of Llama 3 (Dubey et
 * al., 2024), the template is yoke's own for Llama 3's format:
 *
 *   <|begin_of_text|><|start_header_id|>system<|end_header_id|>
 *
 *   You are helpful.<|eot_id|><|start_header_id|>user<|end_header_id|>
 *
 *   Hello<|eot_id|>…
 *
 * A template reads these variables; of two with the same name, the last one counts:
 *   - the special tokens of the chat files: bos_token, eos_token, pad_token … Without
 *     tokenizer_config.json and special_tokens_map.json, they are the tokenizer's tokens with these
 *     roles (enum yk_token_role).
 *   - the variables that it was opened with
 *   - the variables of the conversation
 *   - messages, tools, documents and add_generation_prompt; the tools and documents of the
 *     conversation or, if it has none, of the variables that the template was opened with
 *
 * A template is immutable: any number of threads may share it.
 */
#ifndef YK_TOKENIZER_CHAT_CHAT_TEMPLATE_H
#define YK_TOKENIZER_CHAT_CHAT_TEMPLATE_H

#include "base/json.h"
#include "base/status.h"
#include "tokenizer/chat/chat_conversation.h"
#include "tokenizer/jinja/template.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_chat_template;

struct yk_chat_template_options {
    const struct yk_json *variables; /* an object, which the template shares; NULL means: none */
    int64_t unix_time_s; /* the time that templates write as today's; 0 means: the current time */
};

/* Opens the template of a tokenizer. `options` may be NULL. Fails if there is no template; the
 * message says how to name one. The template does not refer to the tokenizer. */
yk_status yk_chat_template_open(const struct yk_tokenizer *tokenizer,
                                const struct yk_chat_template_options *options,
                                struct yk_chat_template **out) YK_MUST_USE;
void yk_chat_template_close(struct yk_chat_template *chat);

/* Returns the token that ends an answer, eos_token of the chat files, or NULL if there is none. */
const char *yk_chat_template_end_token(const struct yk_chat_template *chat);

/* Returns whether the chat files of a tokenizer have a template. */
bool yk_chat_template_is_in_files(const struct yk_tokenizer *tokenizer);

/* Parses variables that a user has typed: a JSON object, or names and values such as
 * "enable_thinking=false,style=short", where a value that is no JSON is a string. */
yk_status yk_chat_template_parse_variables(const char *text, struct yk_json **out) YK_MUST_USE;

/* Fails if "messages" or "add_generation_prompt" is among the variables, because it follows from
 * the conversation, or if "tools" or "documents" is neither a list nor null. */
yk_status yk_chat_template_check_variables(const struct yk_json *variables) YK_MUST_USE;

/* What to write of a conversation. */
struct yk_chat_template_range {
    int64_t messages; /* only so many messages, from the first on */
    bool prompt;      /* and the beginning of an answer, which a model then continues */
};

/* Renders a conversation into `out`. Fails as yk_jinja_template_render() does. */
yk_status yk_chat_template_render(const struct yk_chat_template *chat,
                                  const struct yk_chat_conversation *conversation,
                                  struct yk_chat_template_range range,
                                  struct yk_jinja_output *out) YK_MUST_USE;

/* Returns whether the template for this conversation marks what the assistant says by
 * {% generation %} blocks. */
bool yk_chat_template_has_generation(const struct yk_chat_template *chat,
                                     const struct yk_chat_conversation *conversation);

#endif
