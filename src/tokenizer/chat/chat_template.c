#include "tokenizer/chat/chat_template.h"

#include "base/json_node.h"
#include "tokenizer/tokenizer_encoder.h"

#include <stdlib.h>
#include <string.h>

enum use {
    USE_DEFAULT,
    USE_TOOLS, /* NULL: tools have no template of their own */
    USE_COUNT
};

static const char *const use_names[USE_COUNT] = {
    [USE_DEFAULT] = "default",
    [USE_TOOLS] = "tool_use",
};

struct yk_chat_template {
    struct yk_jinja_template *templates[USE_COUNT];
    char *tools_fault;              /* what is wrong with the template for tools, or NULL */
    struct yk_json *special_tokens; /* an object */
    struct yk_json *variables;      /* an object, or NULL */
    int64_t unix_time_s;
};

/* Llama 3's format. What the assistant says and the end of its turn bear loss. */
static const char llama3_template[] =
    "{{- '<|begin_of_text|>' -}}\n"
    "{%- for message in messages -%}\n"
    "    {%- if message.role not in ['system', 'user', 'assistant'] -%}\n"
    "        {{- raise_exception('the role of a message must be system, user or assistant, not ' ~ "
    "message.role) -}}\n"
    "    {%- endif -%}\n"
    "    {%- if message.content is not string -%}\n"
    "        {{- raise_exception('the content of a message must be a string') -}}\n"
    "    {%- endif -%}\n"
    "    {{- '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\\n\\n' -}}\n"
    "    {%- if message.role == 'assistant' -%}\n"
    "        {%- generation -%}{{- message.content | trim ~ '<|eot_id|>' -}}{%- endgeneration "
    "-%}\n"
    "    {%- else -%}\n"
    "        {{- message.content | trim ~ '<|eot_id|>' -}}\n"
    "    {%- endif -%}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}\n"
    "    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}\n"
    "{%- endif -%}\n";

static const char *const llama3_tokens[] = {"<|begin_of_text|>", "<|start_header_id|>",
                                            "<|end_header_id|>", "<|eot_id|>"};

void yk_chat_template_close(struct yk_chat_template *chat)
{
    if (chat) {
        for (int i = 0; i < USE_COUNT; i++) {
            yk_jinja_template_destroy(chat->templates[i]);
        }
        free(chat->tools_fault);
        yk_json_destroy(chat->special_tokens);
        yk_json_destroy(chat->variables);
        free(chat);
    }
}

/* ---- special tokens ---- */

/* The text of a token, which is a string or an object with "content"; NULL: it is neither. */
static const struct yk_json *token_text(const struct yk_json *value)
{
    const struct yk_json *content = yk_json_get_member(value, "content");
    return yk_json_string_value(value) ? value : yk_json_string_value(content) ? content : NULL;
}

/* Adds the members with tokens whose names end in "_token" or, if `all`, all members. */
static yk_status add_tokens(const struct yk_json *object, bool all, struct yk_json *tokens)
{
    struct yk_json_member_iterator member = {0};
    while (yk_json_next_member(object, &member)) {
        const struct yk_json *text = token_text(member.value);
        if (text && (all || yk_text_ends_with(member.name, "_token")) &&
            !yk_json_node_set(tokens, member.name, text)) {
            return yk_fail_out_of_memory();
        }
    }
    return YK_OK;
}

/* The tokens of the tokenizer itself. */
static yk_status add_role_tokens(const struct yk_tokenizer *tokenizer, struct yk_json *tokens)
{
    static const struct {
        const char *name;
        enum yk_token_role role;
    } roles[] = {
        {"bos_token", YK_TOKEN_BEGIN},
        {"eos_token", YK_TOKEN_END},
        {"unk_token", YK_TOKEN_UNKNOWN},
        {"pad_token", YK_TOKEN_PAD},
    };
    struct yk_text text = {0};
    yk_status status = YK_OK;
    for (size_t i = 0; status == YK_OK && i < sizeof roles / sizeof roles[0]; i++) {
        const int32_t id = yk_tokenizer_find_role_id(tokenizer, roles[i].role);
        text.length = 0;
        if (id < 0) {
            continue;
        }
        status = yk_tokenizer_decode(tokenizer, &id, 1, false, &text);
        if (status == YK_OK &&
            !yk_json_node_set_new(tokens, roles[i].name,
                                  yk_json_node_new_string(yk_text_chars(&text), text.length))) {
            status = yk_fail_out_of_memory();
        }
    }
    yk_text_free(&text);
    return status;
}

/* As in transformers, special_tokens_map.json is only read if tokenizer_config.json does not list
 * the added tokens, and then goes before it. */
static yk_status read_special_tokens(const struct yk_tokenizer *tokenizer,
                                     const struct yk_json *config, const struct yk_json *map,
                                     struct yk_chat_template *chat)
{
    chat->special_tokens = yk_json_node_new_object();
    YK_TRY_ALLOCATED(chat->special_tokens);
    if (!config && !map) {
        return add_role_tokens(tokenizer, chat->special_tokens);
    }
    YK_TRY(add_tokens(config, false, chat->special_tokens));
    YK_TRY(
        add_tokens(yk_json_get_member(config, "extra_special_tokens"), true, chat->special_tokens));
    return yk_json_get_member(config, "added_tokens_decoder")
               ? YK_OK
               : add_tokens(map, false, chat->special_tokens);
}

/* ---- templates ---- */

static yk_status parse_template(struct yk_chat_template *chat, enum use use, const char *text,
                                size_t length, const char *source)
{
    const size_t valid = yk_utf8_valid_prefix_length(text, length);
    if (valid < length) {
        return yk_text_fail_invalid_utf8(source, yk_utf8_position_of_byte(text, valid),
                                         text[valid]);
    }
    yk_jinja_template_destroy(chat->templates[use]);
    chat->templates[use] = NULL;
    return yk_jinja_template_parse(text, length, source, &chat->templates[use]);
}

static yk_status parse_node(struct yk_chat_template *chat, enum use use, const struct yk_json *node,
                            const char *source)
{
    const char *text = yk_json_string_value(node);
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "%s: a chat template must be a string, not %s", source,
                       yk_json_type_name(node));
    }
    return parse_template(chat, use, text, strlen(text), source);
}

/* Does the same. A broken template for tools does not matter to chats without tools. */
static yk_status parse_named(struct yk_chat_template *chat, enum use use,
                             const struct yk_json *node, const char *source)
{
    const yk_status status = parse_node(chat, use, node, source);
    if (status != YK_ERROR_INPUT || use != USE_TOOLS) {
        return status;
    }
    free(chat->tools_fault);
    chat->tools_fault = strdup(yk_status_message());
    YK_TRY_ALLOCATED(chat->tools_fault);
    return YK_OK;
}

/* Reads a list of {"name": …, "template": …}. */
static yk_status parse_list(struct yk_chat_template *chat, const struct yk_json *list,
                            const char *source)
{
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const struct yk_json *entry = yk_json_array_at(list, i);
        const char *name = yk_json_string_value(yk_json_get_member(entry, "name"));
        for (int use = 0; name && use < USE_COUNT; use++) {
            if (strcmp(name, use_names[use]) == 0) {
                YK_TRY(parse_named(chat, (enum use)use, yk_json_get_member(entry, "template"),
                                   source));
            }
        }
    }
    return chat->templates[USE_DEFAULT]
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s: none of its chat templates is called \"default\"; name the one to "
                         "use by --chat-template FILE",
                         source);
}

static bool recognizes_token(const struct yk_tokenizer *tokenizer,
                             struct yk_tokenizer_encoder *encoder, const char *name)
{
    struct yk_token_ids found = {0};
    const int32_t id = yk_tokenizer_find_token_id(tokenizer, name);
    const bool recognized =
        id >= 0 &&
        yk_tokenizer_encoder_encode(encoder, name, strlen(name), name, YK_ADD_SPECIAL_TOKENS_NO,
                                    &found) == YK_OK &&
        found.count == 1 && found.items[0] == id;
    yk_token_ids_free(&found);
    return recognized;
}

/* Whether the tokenizer has Llama 3's special tokens and recognizes them in a text. */
static yk_status is_llama3(const struct yk_tokenizer *tokenizer, bool *out)
{
    struct yk_tokenizer_encoder *encoder = NULL;
    YK_TRY(yk_tokenizer_encoder_create(tokenizer, &encoder));
    *out = true;
    for (size_t i = 0; *out && i < sizeof llama3_tokens / sizeof llama3_tokens[0]; i++) {
        *out = recognizes_token(tokenizer, encoder, llama3_tokens[i]);
    }
    yk_tokenizer_encoder_destroy(encoder);
    return YK_OK;
}

static yk_status use_own_template(struct yk_chat_template *chat,
                                  const struct yk_tokenizer *tokenizer)
{
    bool has_tokens = false;
    YK_TRY(is_llama3(tokenizer, &has_tokens));
    return has_tokens
               ? parse_template(chat, USE_DEFAULT, llama3_template, strlen(llama3_template),
                                "the chat template of Llama 3")
               : yk_fail(YK_ERROR_INPUT,
                         "the model has no chat template: neither is there a chat_template.jinja "
                         "beside its tokenizer nor a \"chat_template\" in its "
                         "tokenizer_config.json; name one by --chat-template FILE");
}

static yk_status read_templates(const struct yk_tokenizer *tokenizer, const struct yk_json *config,
                                struct yk_chat_template *chat)
{
    const struct yk_chat_files *files = yk_tokenizer_get_chat_files(tokenizer);
    const struct yk_text *text = &files->texts[YK_CHAT_FILE_TEMPLATE];
    const char *source = yk_text_chars(&files->sources[YK_CHAT_FILE_CONFIG]);
    const struct yk_json *node = yk_json_get_member(config, "chat_template");
    if (files->exists[YK_CHAT_FILE_TEMPLATE]) {
        return parse_template(chat, USE_DEFAULT, yk_text_chars(text), text->length,
                              yk_text_chars(&files->sources[YK_CHAT_FILE_TEMPLATE]));
    }
    if (!node || yk_json_is_null(node)) {
        return use_own_template(chat, tokenizer);
    }
    return yk_json_is_array(node) ? parse_list(chat, node, source)
                                  : parse_node(chat, USE_DEFAULT, node, source);
}

bool yk_chat_template_is_in_files(const struct yk_tokenizer *tokenizer)
{
    const struct yk_chat_files *files = yk_tokenizer_get_chat_files(tokenizer);
    const struct yk_text *text = &files->texts[YK_CHAT_FILE_CONFIG];
    struct yk_json *config = NULL;
    if (files->exists[YK_CHAT_FILE_TEMPLATE] || !files->exists[YK_CHAT_FILE_CONFIG] ||
        yk_json_parse_foreign(yk_text_chars(text), text->length, &config) != YK_OK) {
        return files->exists[YK_CHAT_FILE_TEMPLATE];
    }
    const struct yk_json *node = yk_json_get_member(config, "chat_template");
    const bool found = node && !yk_json_is_null(node);
    yk_json_destroy(config);
    return found;
}

/* ---- opening ---- */

/* Whether there are added tokens decides which file has the special tokens. */
static yk_status check_root(const struct yk_json *root)
{
    const struct yk_json *decoder = yk_json_get_member(root, "added_tokens_decoder");
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "it must be an object, not %s", yk_json_type_name(root));
    }
    return !decoder || yk_json_is_object(decoder)
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"added_tokens_decoder\" must be an object, not %s",
                         yk_json_type_name(decoder));
}

/* Parses a file with an object; `*out` stays NULL if there is no file. */
static yk_status parse_file(const struct yk_chat_files *files, enum yk_chat_file file,
                            struct yk_json **out)
{
    const struct yk_text *text = &files->texts[file];
    if (!files->exists[file]) {
        return YK_OK;
    }
    yk_status status = yk_json_parse_foreign(yk_text_chars(text), text->length, out);
    YK_IF_OK(check_root(*out));
    return yk_status_prefix_message(status, yk_text_chars(&files->sources[file]));
}

static yk_status fill(struct yk_chat_template *chat, const struct yk_tokenizer *tokenizer)
{
    const struct yk_chat_files *files = yk_tokenizer_get_chat_files(tokenizer);
    struct yk_json *config = NULL;
    struct yk_json *map = NULL;
    yk_status status = parse_file(files, YK_CHAT_FILE_CONFIG, &config);
    YK_IF_OK(parse_file(files, YK_CHAT_FILE_SPECIAL_TOKENS, &map));
    YK_IF_OK(read_special_tokens(tokenizer, config, map, chat));
    YK_IF_OK(read_templates(tokenizer, config, chat));
    yk_json_destroy(config);
    yk_json_destroy(map);
    return status;
}

yk_status yk_chat_template_open(const struct yk_tokenizer *tokenizer,
                                const struct yk_chat_template_options *options,
                                struct yk_chat_template **out)
{
    struct yk_chat_template *chat = calloc(1, sizeof *chat);
    YK_TRY_ALLOCATED(chat);
    if (options) {
        chat->variables = options->variables ? yk_json_node_share(options->variables) : NULL;
        chat->unix_time_s = options->unix_time_s;
    }
    YK_TRY_OR_CLEAN_UP(fill(chat, tokenizer), yk_chat_template_close(chat));
    *out = chat;
    return YK_OK;
}

const char *yk_chat_template_end_token(const struct yk_chat_template *chat)
{
    return yk_json_string_value(yk_json_get_member(chat->special_tokens, "eos_token"));
}

/* ---- variables that a user has typed ---- */

/* Variables that are lists or null. */
static const char *const list_names[] = {"tools", "documents"};

/* A value that is JSON, else a string. */
static struct yk_json *parse_value(const char *text, size_t length)
{
    struct yk_json *list = NULL;
    struct yk_json *value = NULL;
    struct yk_text wrapped = {0}; /* as an element of a list, any value can be parsed */
    yk_text_add(&wrapped, "[");
    yk_text_add_bytes(&wrapped, text, length);
    yk_text_add(&wrapped, "]");
    if (yk_text_status(&wrapped) == YK_OK &&
        yk_json_parse(wrapped.bytes, wrapped.length, &list) == YK_OK &&
        yk_json_array_count(list) == 1) {
        value = yk_json_node_share(yk_json_array_at(list, 0));
    }
    yk_json_destroy(list);
    yk_text_free(&wrapped);
    return value ? value : yk_json_node_new_string(text, length);
}

static yk_status add_assignment(const char *text, size_t length, struct yk_json *object)
{
    const char *equals = memchr(text, '=', length);
    struct yk_text name = {0};
    if (!equals || equals == text) {
        return yk_fail(YK_ERROR_USAGE,
                       "\"%.*s\" is neither a JSON object nor a name and a value, such as "
                       "enable_thinking=false",
                       (int)(length < 60 ? length : 60), text);
    }
    const size_t name_length = (size_t)(equals - text);
    yk_text_add_bytes(&name, text, name_length);
    yk_status status = yk_text_status(&name);
    if (status == YK_OK &&
        !yk_json_node_set_new(object, yk_text_chars(&name),
                              parse_value(equals + 1, length - name_length - 1))) {
        status = yk_fail_out_of_memory();
    }
    yk_text_free(&name);
    return status;
}

/* The length of the first assignment of a list, up to a comma that is not inside of JSON. */
static size_t assignment_length(const char *text)
{
    size_t at = 0;
    int32_t depth = 0;
    bool quoted = false;
    for (; text[at] && (text[at] != ',' || depth > 0 || quoted); at++) {
        if (quoted && text[at] == '\\' && text[at + 1]) {
            at++;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += (text[at] == '[' || text[at] == '{') - (text[at] == ']' || text[at] == '}');
        }
    }
    return at;
}

static yk_status parse_object(const char *text, struct yk_json **out)
{
    yk_status status = yk_json_parse(text, strlen(text), out);
    return status == YK_ERROR_INPUT ? yk_fail(YK_ERROR_USAGE, "%s", yk_status_message()) : status;
}

/* transformers refuse these, too: they are what the template is applied to. */
static yk_status refuse_own_variables(const struct yk_json *variables)
{
    static const char *const own[] = {"messages", "add_generation_prompt"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (yk_json_get_member(variables, own[i])) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" cannot be set; it follows from the conversation",
                           own[i]);
        }
    }
    return YK_OK;
}

yk_status yk_chat_template_check_variables(const struct yk_json *variables)
{
    for (size_t i = 0; i < sizeof list_names / sizeof *list_names; i++) {
        const struct yk_json *node = yk_json_get_member(variables, list_names[i]);
        if (node && !yk_json_is_null(node)) {
            YK_TRY(yk_json_check_is_array(node, list_names[i]));
        }
    }
    return refuse_own_variables(variables);
}

static yk_status parse_assignments(const char *text, struct yk_json *object)
{
    for (const char *at = text; *at;) {
        const size_t length = assignment_length(at);
        YK_TRY(add_assignment(at, length, object));
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return YK_OK;
}

yk_status yk_chat_template_parse_variables(const char *text, struct yk_json **out)
{
    struct yk_json *object = NULL;
    yk_status status = YK_OK;
    if (text[strspn(text, " \t\n")] == '{') {
        status = parse_object(text, &object);
    } else {
        object = yk_json_node_new_object();
        status = object ? parse_assignments(text, object) : yk_fail_out_of_memory();
    }
    if (status == YK_OK && yk_chat_template_check_variables(object) != YK_OK) {
        status = yk_fail(YK_ERROR_USAGE, "%s", yk_status_message());
    }
    YK_TRY_OR_CLEAN_UP(status, yk_json_destroy(object));
    *out = object;
    return YK_OK;
}

/* ---- rendering ---- */

/* The list of the conversation or, if it has none, the one of the variables; NULL: there is none.
 */
static const struct yk_json *find_list(const struct yk_chat_template *chat,
                                       const struct yk_json *own, const char *name)
{
    const struct yk_json *given = yk_json_get_member(chat->variables, name);
    return own ? own : yk_json_is_array(given) ? given : NULL;
}

static const struct yk_json *find_tools(const struct yk_chat_template *chat,
                                        const struct yk_chat_conversation *conversation)
{
    return find_list(chat, conversation->tools, "tools");
}

static const struct yk_jinja_template *choose(const struct yk_chat_template *chat,
                                              const struct yk_chat_conversation *conversation)
{
    return find_tools(chat, conversation) && chat->templates[USE_TOOLS]
               ? chat->templates[USE_TOOLS]
               : chat->templates[USE_DEFAULT];
}

static bool set_or_null(struct yk_json *object, const char *name, const struct yk_json *value)
{
    return value ? yk_json_node_set(object, name, value)
                 : yk_json_node_set_new(object, name, yk_json_node_new_null());
}

/* The variables that every template has; NULL: memory is exhausted. */
static struct yk_json *make_variables(const struct yk_chat_template *chat,
                                      const struct yk_chat_conversation *conversation,
                                      struct yk_chat_template_range range)
{
    struct yk_json *object = yk_json_node_new_object();
    struct yk_json *messages = yk_json_node_new_array();
    bool made = object && messages;
    for (int64_t i = 0; made && i < range.messages; i++) {
        made = yk_json_node_append(messages, yk_json_array_at(conversation->messages, (size_t)i));
    }
    made =
        made && yk_json_node_set(object, "messages", messages) &&
        set_or_null(object, "tools", find_tools(chat, conversation)) &&
        set_or_null(object, "documents", find_list(chat, conversation->documents, "documents")) &&
        yk_json_node_set_new(object, "add_generation_prompt", yk_json_node_new_bool(range.prompt));
    yk_json_destroy(messages);
    if (!made) {
        yk_json_destroy(object);
        return NULL;
    }
    return object;
}

yk_status yk_chat_template_render(const struct yk_chat_template *chat,
                                  const struct yk_chat_conversation *conversation,
                                  struct yk_chat_template_range range, struct yk_jinja_output *out)
{
    if (find_tools(chat, conversation) && chat->tools_fault) {
        return yk_fail(YK_ERROR_INPUT, "%s", chat->tools_fault);
    }
    struct yk_json *own = make_variables(chat, conversation, range);
    YK_TRY_ALLOCATED(own);
    const struct yk_jinja_variables variables = {
        .objects = {chat->special_tokens, chat->variables, conversation->variables, own},
        .unix_time_s = chat->unix_time_s,
    };
    const yk_status status =
        yk_jinja_template_render(choose(chat, conversation), &variables, NULL, out);
    yk_json_destroy(own);
    return status;
}

bool yk_chat_template_has_generation(const struct yk_chat_template *chat,
                                     const struct yk_chat_conversation *conversation)
{
    return yk_jinja_template_has_generation(choose(chat, conversation));
}
