#include "tokenizer/formats/bpe_file.h"

#include "tokenizer/formats/tokenizer_json.h"
#include "tokenizer/regex/word_pattern.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static const char *const pairs_specials[] = {"<pad>", "<s>", "</s>"};
static const char *const llama3_specials[] = {
    "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|eot_id|>",      "<|finetune_right_pad_id|>",
};
static const char *const bert_specials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/* Name, summary, special tokens, word pattern, and the tokens around a text. */
#define STYLE(name_, summary_, specials_, word_pattern_, prefix_, suffix_)                         \
    {                                                                                              \
        .name = (name_), .summary = (summary_), .specials = (specials_),                           \
        .special_count = sizeof(specials_) / sizeof(specials_)[0],                                 \
        .word_pattern = (word_pattern_), .prefix_token = (prefix_), .suffix_token = (suffix_),     \
    }

static const struct yk_bpe_file_preset styles[] = {
    STYLE("pairs", "<pad>, <s> before a text and </s> behind it", pairs_specials, NULL, "<s>",
          "</s>"),
    STYLE("llama3", "Llama 3's, with its way of cutting words", llama3_specials,
          yk_word_pattern_llama3, "<|begin_of_text|>", NULL),
    STYLE("bert", "[PAD], [UNK], [MASK], [CLS] before a text and [SEP] behind it", bert_specials,
          NULL, "[CLS]", "[SEP]"),
    {.name = "none", .summary = "no special tokens"},
};

const struct yk_bpe_file_preset *yk_bpe_file_preset_at(size_t number)
{
    return number < sizeof styles / sizeof styles[0] ? &styles[number] : NULL;
}

const struct yk_bpe_file_preset *yk_bpe_file_find_preset(const char *name)
{
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        if (strcmp(styles[i].name, name) == 0) {
            return &styles[i];
        }
    }
    return NULL;
}

/* Adds a JSON string in which '<' and '>' are not escaped, unlike yk_text_add_json_string(). */
static void add_quoted(struct yk_text *out, const char *text)
{
    yk_text_add(out, "\"");
    for (const char *c = text; *c;) {
        const size_t plain = strcspn(c, "\"\\\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d"
                                        "\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b"
                                        "\x1c\x1d\x1e\x1f");
        yk_text_add_bytes(out, c, plain);
        c += plain;
        if (*c == '"' || *c == '\\') {
            yk_text_addf(out, "\\%c", *c++);
        } else if (*c) {
            yk_text_addf(out, "\\u%04x", (unsigned)*c++);
        }
    }
    yk_text_add(out, "\"");
}

static const char *token_of(const struct yk_bpe_trainer_result *result, int32_t id)
{
    size_t length = 0;
    return yk_token_map_get_token(result->tokens, id, &length);
}

static void write_token(struct yk_json_writer *json, const char *key, const char *token)
{
    yk_json_write_key(json, key);
    add_quoted(json->text, token);
}

/* Begins a member whose key is a token. The caller adds its value. */
static void write_token_key(struct yk_json_writer *json, const char *token)
{
    write_token(json, NULL, token);
    yk_text_add(json->text, ": ");
}

static void write_specials(const struct yk_bpe_file_preset *style, struct yk_json_writer *json)
{
    static const char *const off[] = {"single_word", "lstrip", "rstrip", "normalized"};
    yk_json_write_begin_array(json, "added_tokens");
    json->line_indent = 0;
    for (int32_t i = 0; i < style->special_count; i++) {
        yk_json_write_begin_object_on_new_line(json, 4);
        yk_json_write_integer(json, "id", i);
        write_token(json, "content", style->specials[i]);
        for (size_t k = 0; k < sizeof off / sizeof off[0]; k++) {
            yk_json_write_bool(json, off[k], false);
        }
        yk_json_write_bool(json, "special", true);
        yk_json_write_end_object(json);
    }
    if (style->special_count > 0) {
        yk_json_write_newline(json, 2);
    }
    yk_json_write_end_array(json);
    json->line_indent = 2;
}

/* An element of a template: a special token or a text, and the number of the text it belongs to. */
static void write_place(const char *special, const char *text, int part,
                        struct yk_json_writer *json)
{
    yk_json_write_begin_object(json, NULL);
    yk_json_write_begin_object(json, special ? "SpecialToken" : "Sequence");
    write_token(json, "id", special ? special : text);
    yk_json_write_integer(json, "type_id", part);
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void write_part(const struct yk_bpe_file_preset *style, const char *text, int part,
                       bool first, struct yk_json_writer *json)
{
    if (style->prefix_token && first) {
        write_place(style->prefix_token, NULL, part, json);
    }
    write_place(NULL, text, part, json);
    if (style->suffix_token) {
        write_place(style->suffix_token, NULL, part, json);
    }
}

/* The entry of a special token that the template uses; nothing if `name` is NULL. */
static void write_framed(const char *name, const struct yk_bpe_trainer_result *result,
                         struct yk_json_writer *json)
{
    if (!name) {
        return;
    }
    yk_json_write_newline(json, 8);
    write_token_key(json, name);
    struct yk_json_writer value = {.text = json->text, .spaced = true};
    yk_json_write_begin_object(&value, NULL);
    write_token(&value, "id", name);
    yk_json_write_begin_array(&value, "ids");
    yk_json_write_integer(&value, NULL, yk_token_map_find_id(result->tokens, name, strlen(name)));
    yk_json_write_end_array(&value);
    yk_json_write_begin_array(&value, "tokens");
    write_token(&value, NULL, name);
    yk_json_write_end_array(&value);
    yk_json_write_end_object(&value);
}

/* The templates for one text and for two, and the special tokens that they use. */
static void write_template(const struct yk_bpe_trainer_result *result,
                           const struct yk_bpe_file_preset *style, struct yk_json_writer *json)
{
    yk_json_write_begin_object(json, NULL);
    yk_json_write_string(json, "type", "TemplateProcessing");
    yk_json_write_newline(json, 6);
    yk_json_write_begin_array(json, "single");
    write_part(style, "A", 0, true, json);
    yk_json_write_end_array(json);
    yk_json_write_newline(json, 6);
    yk_json_write_begin_array(json, "pair");
    write_part(style, "A", 0, true, json);
    /* A separator divides two texts. A begin token without an end token is added before both. */
    write_part(style, "B", 1, !style->suffix_token, json);
    yk_json_write_end_array(json);
    yk_json_write_newline(json, 6);
    yk_json_write_begin_object(json, "special_tokens");
    write_framed(style->prefix_token, result, json);
    write_framed(style->suffix_token, result, json);
    yk_json_write_newline(json, 6);
    yk_json_write_end_object(json);
    yk_json_write_end_object(json);
}

static void write_post_processor(const struct yk_bpe_trainer_result *result,
                                 const struct yk_bpe_file_preset *style,
                                 struct yk_json_writer *json)
{
    const struct yk_tokenizer_json_byte_level added = {.add_prefix_space = true, .use_regex = true};
    if (!style->prefix_token && !style->suffix_token) {
        yk_tokenizer_json_write_byte_level(json, "post_processor", added);
        return;
    }
    yk_json_write_begin_object(json, "post_processor");
    json->line_indent = 0;
    yk_json_write_string(json, "type", "Sequence");
    yk_json_write_begin_array(json, "processors");
    yk_json_write_newline(json, 4);
    yk_tokenizer_json_write_byte_level(json, NULL, added);
    yk_json_write_newline(json, 4);
    write_template(result, style, json);
    yk_json_write_newline(json, 2);
    yk_json_write_end_array(json);
    yk_json_write_end_object(json);
    json->line_indent = 2;
}

static void write_model(const struct yk_bpe_trainer_result *result, struct yk_json_writer *json)
{
    static const char *const none[] = {"dropout", "unk_token", "continuing_subword_prefix",
                                       "end_of_word_suffix"};
    static const char *const off[] = {"fuse_unk", "byte_fallback", "ignore_merges"};
    yk_json_write_begin_object(json, "model");
    json->line_indent = 4;
    yk_json_write_string(json, "type", "BPE");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        yk_json_write_null(json, none[i]);
    }
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        yk_json_write_bool(json, off[i], false);
    }
    yk_json_write_begin_object(json, "vocab");
    json->line_indent = 6;
    for (int32_t id = 0; id < yk_token_map_id_limit(result->tokens); id++) {
        write_token_key(json, token_of(result, id));
        yk_text_addf(json->text, "%" PRId32, id);
    }
    yk_json_write_newline(json, 4);
    yk_json_write_end_object(json);
    json->line_indent = 4;
    yk_json_write_begin_array(json, "merges");
    json->line_indent = 0;
    for (int32_t i = 0; i < result->rule_count; i++) {
        yk_json_write_newline(json, 6);
        yk_json_write_begin_array(json, NULL);
        write_token(json, NULL, token_of(result, result->rules[i].left));
        write_token(json, NULL, token_of(result, result->rules[i].right));
        yk_json_write_end_array(json);
    }
    if (result->rule_count > 0) {
        yk_json_write_newline(json, 4);
    }
    yk_json_write_end_array(json);
    yk_json_write_newline(json, 2);
    yk_json_write_end_object(json);
}

static void write_pre_tokenizer(const struct yk_bpe_file_preset *style, struct yk_json_writer *json,
                                const char *key)
{
    if (style->word_pattern) {
        yk_tokenizer_json_write_word_pattern(json, key, style->word_pattern);
        return;
    }
    yk_tokenizer_json_write_byte_level(
        json, key, (struct yk_tokenizer_json_byte_level){.trim_offsets = true, .use_regex = true});
}

yk_status yk_bpe_file_create_pre_tokenizer(const struct yk_bpe_file_preset *style,
                                           struct yk_json **out)
{
    struct yk_text text = {0};
    struct yk_json_writer json = {.text = &text};
    write_pre_tokenizer(style, &json, NULL);
    yk_status status = yk_text_status(&text);
    YK_IF_OK(yk_json_parse(text.bytes, text.length, out));
    yk_text_free(&text);
    return status;
}

void yk_bpe_file_append_contents(const struct yk_bpe_trainer_result *result,
                                 const struct yk_bpe_file_preset *style, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_string(&json, "version", "1.0");
    yk_json_write_null(&json, "truncation");
    yk_json_write_null(&json, "padding");
    write_specials(style, &json);
    yk_json_write_null(&json, "normalizer");
    write_pre_tokenizer(style, &json, "pre_tokenizer");
    write_post_processor(result, style, &json);
    yk_tokenizer_json_write_byte_level(
        &json, "decoder",
        (struct yk_tokenizer_json_byte_level){
            .add_prefix_space = true, .trim_offsets = true, .use_regex = true});
    write_model(result, &json);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}
