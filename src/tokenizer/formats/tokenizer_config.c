#include "tokenizer/formats/tokenizer_config.h"

#include "base/array.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const option_names[YK_TOKENIZER_OPTION_COUNT] = {
    [YK_TOKENIZER_ADD_BEGIN] = "add_bos_token",
    [YK_TOKENIZER_ADD_END] = "add_eos_token",
    [YK_TOKENIZER_ADD_PREFIX_SPACE] = "add_prefix_space",
    [YK_TOKENIZER_LEGACY] = "legacy",
    [YK_TOKENIZER_LOWERCASE] = "do_lower_case",
    [YK_TOKENIZER_KEEP_ACCENTS] = "keep_accents",
    [YK_TOKENIZER_STRIP_ACCENTS] = "strip_accents",
    [YK_TOKENIZER_SPLIT_CHINESE] = "tokenize_chinese_chars",
};

static const char *const token_names[YK_NAMED_TOKEN_COUNT] = {
    [YK_NAMED_TOKEN_BEGIN] = "bos_token",   [YK_NAMED_TOKEN_END] = "eos_token",
    [YK_NAMED_TOKEN_UNKNOWN] = "unk_token", [YK_NAMED_TOKEN_SEPARATOR] = "sep_token",
    [YK_NAMED_TOKEN_PADDING] = "pad_token", [YK_NAMED_TOKEN_CLASS] = "cls_token",
    [YK_NAMED_TOKEN_MASK] = "mask_token",
};

/* The classes of models whose tokenizer_config.json names none. */
static const struct {
    const char *model; /* "model_type" of config.json */
    const char *class_name;
} model_classes[] = {
    {"albert", "AlbertTokenizer"},
    {"bart", "BartTokenizer"},
    {"big_bird", "BigBirdTokenizer"},
    {"camembert", "CamembertTokenizer"},
    {"clip", "CLIPTokenizer"},
    {"deberta", "DebertaTokenizer"},
    {"deberta-v2", "DebertaV2Tokenizer"},
    {"gemma", "GemmaTokenizer"},
    {"gemma2", "GemmaTokenizer"},
    {"gemma3_text", "GemmaTokenizer"},
    {"llama", "LlamaTokenizer"},
    {"longformer", "LongformerTokenizer"},
    {"marian", "MarianTokenizer"},
    {"mbart", "MBartTokenizer"},
    {"mistral", "LlamaTokenizer"},
    {"mt5", "T5Tokenizer"},
    {"pegasus", "PegasusTokenizer"},
    {"phi3", "LlamaTokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"rembert", "RemBertTokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"t5", "T5Tokenizer"},
    {"umt5", "T5Tokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
    {"xlnet", "XLNetTokenizer"},
};

/* Lists of special tokens without a role. */
static const char *const list_names[] = {"additional_special_tokens", "extra_special_tokens"};

enum {
    MAX_TOKENS = 1 << 14, /* tokens beside the vocabulary; each is compared with all others */
    SHOWN_BYTES = 60
};

/* The config while they grow. */
struct collection {
    struct yk_arena *arena;
    struct yk_tokenizer_config *out;
    struct yk_config_token *tokens;
    int32_t capacity;
};

static struct yk_config_token *find(const struct collection *all, const char *text)
{
    for (int32_t i = 0; i < all->out->token_count; i++) {
        if (strcmp(all->tokens[i].text, text) == 0) {
            return &all->tokens[i];
        }
    }
    return NULL;
}

/* Finds the token with this text, or adds one. */
static yk_status require(struct collection *all, const char *text, struct yk_config_token **out)
{
    *out = find(all, text);
    if (*out) {
        return YK_OK;
    }
    if (all->out->token_count >= MAX_TOKENS) {
        return yk_fail(YK_ERROR_INPUT, "there are more than %d added tokens", MAX_TOKENS);
    }
    YK_TRY_GROW_ARRAY(all->tokens, all->capacity, all->out->token_count);
    *out = &all->tokens[all->out->token_count++];
    **out = (struct yk_config_token){.id = -1};
    return yk_arena_strdup(all->arena, text, &(*out)->text);
}

/* The text of a token, which is a string or an object with "content"; NULL if it is neither. */
static const char *text_of(const struct yk_json *node)
{
    const char *text = yk_json_string_value(node);
    text = text ? text : yk_json_string_value(yk_json_get_member(node, "content"));
    return text && *text ? text : NULL;
}

static void read_flag(const struct yk_json *node, const char *name, bool *out)
{
    (void)yk_json_boolean_value(yk_json_get_member(node, name), out);
}

static void read_flags(const struct yk_json *node, struct yk_config_token *out)
{
    read_flag(node, "single_word", &out->single_word);
    read_flag(node, "lstrip", &out->strip_left);
    read_flag(node, "rstrip", &out->strip_right);
    read_flag(node, "normalized", &out->normalized);
    read_flag(node, "special", &out->special);
}

/* Adds a special token, such as the value of "bos_token" or an element of a list. */
static yk_status add_special(struct collection *all, const struct yk_json *node)
{
    struct yk_config_token *token = NULL;
    const char *text = text_of(node);
    if (!text) {
        return YK_OK;
    }
    const bool known = find(all, text) != NULL;
    YK_TRY(require(all, text, &token));
    /* "added_tokens_decoder" is read first and knows better. */
    if (!known) {
        read_flags(node, token);
    }
    token->special = true;
    return YK_OK;
}

static yk_status add_with_id(struct collection *all, const char *text, double id, bool special,
                             const struct yk_json *flags)
{
    struct yk_config_token *token = NULL;
    if (!(id >= 0 && id < INT32_MAX) || id != trunc(id)) {
        return yk_fail(YK_ERROR_INPUT, "the id of \"%.*s\" is not a whole number from 0 on",
                       SHOWN_BYTES, text);
    }
    const bool known = find(all, text) != NULL;
    YK_TRY(require(all, text, &token));
    token->id = (int64_t)id;
    if (!known) {
        token->special = special;
        token->normalized = !special;
        read_flags(flags, token);
    }
    return YK_OK;
}

/* {"0": {"content": "<unk>", "lstrip": false, …}, …} */
static yk_status read_decoder(struct collection *all, const struct yk_json *decoder)
{
    struct yk_json_member_iterator member = {0};
    if (decoder && !yk_json_is_object(decoder)) {
        return yk_fail(YK_ERROR_INPUT, "\"added_tokens_decoder\" must be an object, not %s",
                       yk_json_type_name(decoder));
    }
    while (yk_json_next_member(decoder, &member)) {
        char *end = NULL;
        const char *text = text_of(member.value);
        const double id = strtod(member.name, &end);
        if (!text || end == member.name || *end) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"added_tokens_decoder\" must map ids to objects with \"content\"");
        }
        YK_TRY(add_with_id(all, text, id, false, member.value));
    }
    return YK_OK;
}

static yk_status read_special_tokens(struct collection *all, const struct yk_json *root)
{
    for (int i = 0; i < YK_NAMED_TOKEN_COUNT; i++) {
        const struct yk_json *node = yk_json_get_member(root, token_names[i]);
        const char *text = text_of(node);
        if (text) {
            YK_TRY(yk_arena_strdup(all->arena, text, &all->out->named[i]));
            YK_TRY(add_special(all, node));
        }
    }
    for (size_t i = 0; i < sizeof list_names / sizeof *list_names; i++) {
        const struct yk_json *list = yk_json_get_member(root, list_names[i]);
        for (size_t j = 0; j < yk_json_array_count(list); j++) {
            YK_TRY(add_special(all, yk_json_array_at(list, j)));
        }
    }
    return YK_OK;
}

static yk_status read_class(const struct yk_json *root, struct collection *all)
{
    const char *name = yk_json_string_value(yk_json_get_member(root, "tokenizer_class"));
    const char *end = name ? strstr(name, "Fast") : NULL;
    if (name) {
        const size_t length = end && !end[strlen("Fast")] ? (size_t)(end - name) : strlen(name);
        all->out->class_name = yk_arena_copy_text(all->arena, name, length);
        YK_TRY_ALLOCATED(all->out->class_name);
    }
    return YK_OK;
}

/* Options that decide the tokens of every text. Other members are ignored if they have another type
 * than expected: real files vary. */
static yk_status check_options(const struct yk_json *root)
{
    const char *lowercase = option_names[YK_TOKENIZER_LOWERCASE];
    const char *accents = option_names[YK_TOKENIZER_STRIP_ACCENTS];
    const struct yk_json *node = yk_json_get_member(root, accents);
    bool value = false;
    YK_TRY(yk_json_get_bool(root, lowercase, &value));
    return !node || yk_json_is_null(node) || yk_json_boolean_value(node, &value)
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" must be true, false or null, not %s", accents,
                         yk_json_type_name(node));
}

static yk_status read_config(struct collection *all, const struct yk_json *root)
{
    YK_TRY(read_class(root, all));
    YK_TRY(check_options(root));
    for (int i = 0; i < YK_TOKENIZER_OPTION_COUNT; i++) {
        bool value = false;
        if (yk_json_boolean_value(yk_json_get_member(root, option_names[i]), &value)) {
            all->out->given[i] = value ? 1 : -1;
        }
    }
    double extra = 0;
    if (yk_json_number_value(yk_json_get_member(root, "extra_ids"), &extra)) {
        if (!(extra >= 0 && extra <= MAX_TOKENS)) {
            return yk_fail(YK_ERROR_INPUT, "\"extra_ids\" must be from 0 to %d", MAX_TOKENS);
        }
        all->out->extra_ids = (int64_t)extra;
    }
    YK_TRY(read_decoder(all, yk_json_get_member(root, "added_tokens_decoder")));
    return read_special_tokens(all, root);
}

/* {"<new>": 32000, …} */
static yk_status read_added(struct collection *all, const struct yk_json *root)
{
    struct yk_json_member_iterator member = {0};
    while (yk_json_next_member(root, &member)) {
        double id = -1;
        (void)yk_json_number_value(member.value, &id);
        if (*member.name) {
            YK_TRY(add_with_id(all, member.name, id, false, NULL));
        }
    }
    return YK_OK;
}

/* config.json of the model. */
static yk_status read_model(struct collection *all, const struct yk_json *root)
{
    const char *model = yk_json_string_value(yk_json_get_member(root, "model_type"));
    for (size_t i = 0; model && i < sizeof model_classes / sizeof *model_classes; i++) {
        if (!*all->out->class_name && strcmp(model, model_classes[i].model) == 0) {
            all->out->class_name = model_classes[i].class_name;
        }
    }
    return YK_OK;
}

static const struct {
    const char *name;
    yk_status (*read)(struct collection *all, const struct yk_json *root);
} files[] = {
    {"tokenizer_config.json", read_config},
    {"special_tokens_map.json", read_special_tokens},
    {"added_tokens.json", read_added},
    {"config.json", read_model},
};

static yk_status read_root(size_t index, const struct yk_json *root, struct collection *all)
{
    return yk_json_is_object(root)
               ? files[index].read(all, root)
               : yk_fail(YK_ERROR_INPUT, "it must be an object, not %s", yk_json_type_name(root));
}

static yk_status parse_file(size_t index, const char *path, const struct yk_text *text,
                            struct collection *all)
{
    YK_TRY_WITH_PARSED_FOREIGN_JSON(root, yk_text_chars(text), text->length, path,
                                    read_root(index, root, all));
    return YK_OK;
}

static yk_status read_file(size_t index, const char *folder, struct collection *all)
{
    const char *path = NULL;
    struct yk_text text = {0};
    if (!yk_folder_contains(folder, files[index].name)) {
        return YK_OK;
    }
    YK_TRY(yk_folder_join_path(folder, files[index].name, all->arena, &path));
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(parse_file(index, path, &text, all));
    yk_text_free(&text);
    return status;
}

yk_status yk_tokenizer_config_read(const char *folder, struct yk_arena *arena,
                                   struct yk_tokenizer_config *out)
{
    struct collection all = {.arena = arena, .out = out};
    yk_status status = YK_OK;
    *out = (struct yk_tokenizer_config){.class_name = "", .extra_ids = -1};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        YK_IF_OK(read_file(i, folder, &all));
    }
    if (status == YK_OK && out->token_count > 0) {
        out->tokens = yk_arena_allocate(arena, (size_t)out->token_count, sizeof *out->tokens);
        status = out->tokens ? YK_OK : yk_fail_out_of_memory();
    }
    if (status == YK_OK && out->token_count > 0) {
        memcpy(out->tokens, all.tokens, (size_t)out->token_count * sizeof *out->tokens);
    }
    free(all.tokens);
    return status;
}

bool yk_tokenizer_config_get(const struct yk_tokenizer_config *config,
                             enum yk_tokenizer_option option, bool otherwise)
{
    return config->given[option] == 0 ? otherwise : config->given[option] > 0;
}

const char *yk_tokenizer_config_get_name(const struct yk_tokenizer_config *config,
                                         enum yk_named_token name, const char *otherwise)
{
    return config->named[name] ? config->named[name] : otherwise;
}
