#include "data/bpe_file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* GPT-2's words: letters, digits and others, each with a space before, and contractions. */
static const char gpt2_words[] =
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
    "\"use_regex\": true}";

/* Llama 3's: at most three digits, any sign before letters, line ends with signs before them. */
static const char llama3_words[] =
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
    "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}, "
    "\"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", "
    "\"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": false}]}";

static const char *const pairs_specials[] = {"<pad>", "<s>", "</s>"};
static const char *const llama3_specials[] = {
    "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|eot_id|>",      "<|finetune_right_pad_id|>",
};
static const char *const bert_specials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/* A name, what it is, special tokens, how words are cut, and what frames a text. */
#define STYLE(name_, summary_, specials_, words_, before_, behind_)                                \
    {                                                                                              \
        .name = (name_), .summary = (summary_), .specials = (specials_),                           \
        .special_count = sizeof(specials_) / sizeof(specials_)[0], .pre_tokenizer = (words_),      \
        .before = (before_), .behind = (behind_),                                                  \
    }

static const struct yk_bpe_style styles[] = {
    STYLE("pairs", "<pad>, <s> before a text and </s> behind it", pairs_specials, gpt2_words, "<s>",
          "</s>"),
    STYLE("llama3", "Llama 3's, with its way of cutting words", llama3_specials, llama3_words,
          "<|begin_of_text|>", NULL),
    STYLE("bert", "[PAD], [UNK], [MASK], [CLS] before a text and [SEP] behind it", bert_specials,
          gpt2_words, "[CLS]", "[SEP]"),
    {.name = "none", .summary = "no special tokens", .pre_tokenizer = gpt2_words},
};

const struct yk_bpe_style *yk_bpe_style_at(size_t number)
{
    return number < sizeof styles / sizeof styles[0] ? &styles[number] : NULL;
}

const struct yk_bpe_style *yk_bpe_style_find(const char *name)
{
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        if (strcmp(styles[i].name, name) == 0) {
            return &styles[i];
        }
    }
    return NULL;
}

/* "…": tokens are shown as they are where yk_text_add_json() would hide '<' and '>'. */
static void add_quoted(struct yk_text *out, const char *words)
{
    yk_text_add(out, "\"");
    for (const char *c = words; *c;) {
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

static const char *token_of(const struct yk_bpe_learned *learned, int32_t id)
{
    size_t length = 0;
    return yk_token_map_token(learned->tokens, id, &length);
}

static void add_specials(const struct yk_bpe_style *style, struct yk_text *out)
{
    yk_text_add(out, "  \"added_tokens\": [");
    for (int32_t i = 0; i < style->special_count; i++) {
        yk_text_addf(out, "%s\n    {\"id\": %" PRId32 ", \"content\": ", i > 0 ? "," : "", i);
        add_quoted(out, style->specials[i]);
        yk_text_add(out, ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
                         "\"normalized\": false, \"special\": true}");
    }
    yk_text_add(out, style->special_count > 0 ? "\n  ],\n" : "],\n");
}

/* A place of a template: a special token or a text, and of which of two texts it is a part. */
static void add_place(const char *special, const char *text, int part, struct yk_text *out)
{
    yk_text_add(out, special ? "{\"SpecialToken\": {\"id\": " : "{\"Sequence\": {\"id\": ");
    add_quoted(out, special ? special : text);
    yk_text_addf(out, ", \"type_id\": %d}}", part);
}

static void add_part(const struct yk_bpe_style *style, const char *text, int part, bool first,
                     struct yk_text *out)
{
    if (style->before && first) {
        add_place(style->before, NULL, part, out);
        yk_text_add(out, ", ");
    }
    add_place(NULL, text, part, out);
    if (style->behind) {
        yk_text_add(out, ", ");
        add_place(style->behind, NULL, part, out);
    }
}

/* What a template says of a special token that stands in it; nothing where it has none. */
static void add_framed(const char *name, const struct yk_bpe_learned *learned, bool first,
                       struct yk_text *out)
{
    if (!name) {
        return;
    }
    yk_text_add(out, first ? "" : ",");
    yk_text_add(out, "\n        ");
    add_quoted(out, name);
    yk_text_add(out, ": {\"id\": ");
    add_quoted(out, name);
    yk_text_addf(out, ", \"ids\": [%" PRId32 "], \"tokens\": [",
                 yk_token_map_find(learned->tokens, name, strlen(name)));
    add_quoted(out, name);
    yk_text_add(out, "]}");
}

static void add_post_processor(const struct yk_bpe_learned *learned,
                               const struct yk_bpe_style *style, struct yk_text *out)
{
    static const char offsets[] = "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, "
                                  "\"trim_offsets\": false, \"use_regex\": true}";
    if (!style->before && !style->behind) {
        yk_text_addf(out, "  \"post_processor\": %s,\n", offsets);
        return;
    }
    yk_text_addf(out, "  \"post_processor\": {\"type\": \"Sequence\", \"processors\": [\n    %s,\n",
                 offsets);
    yk_text_add(out, "    {\"type\": \"TemplateProcessing\",\n      \"single\": [");
    add_part(style, "A", 0, true, out);
    yk_text_add(out, "],\n      \"pair\": [");
    add_part(style, "A", 0, true, out);
    yk_text_add(out, ", ");
    /* A separator divides two texts; a begin without an end comes before both. */
    add_part(style, "B", 1, !style->behind, out);
    yk_text_add(out, "],\n      \"special_tokens\": {");
    add_framed(style->before, learned, true, out);
    add_framed(style->behind, learned, !style->before, out);
    yk_text_add(out, "\n      }}\n  ]},\n");
}

static void add_model(const struct yk_bpe_learned *learned, struct yk_text *out)
{
    yk_text_add(out, "  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n"
                     "    \"unk_token\": null,\n    \"continuing_subword_prefix\": null,\n"
                     "    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n"
                     "    \"byte_fallback\": false,\n    \"ignore_merges\": false,\n"
                     "    \"vocab\": {");
    for (int32_t id = 0; id < yk_token_map_limit(learned->tokens); id++) {
        yk_text_add(out, id > 0 ? ",\n      " : "\n      ");
        add_quoted(out, token_of(learned, id));
        yk_text_addf(out, ": %" PRId32, id);
    }
    yk_text_add(out, "\n    },\n    \"merges\": [");
    for (int32_t i = 0; i < learned->rule_count; i++) {
        yk_text_add(out, i > 0 ? ",\n      [" : "\n      [");
        add_quoted(out, token_of(learned, learned->rules[i].left));
        yk_text_add(out, ", ");
        add_quoted(out, token_of(learned, learned->rules[i].right));
        yk_text_add(out, "]");
    }
    yk_text_add(out, learned->rule_count > 0 ? "\n    ]\n  }\n" : "]\n  }\n");
}

void yk_bpe_file_write(const struct yk_bpe_learned *learned, const struct yk_bpe_style *style,
                       struct yk_text *out)
{
    yk_text_add(out, "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n");
    add_specials(style, out);
    yk_text_addf(out, "  \"normalizer\": null,\n  \"pre_tokenizer\": %s,\n", style->pre_tokenizer);
    add_post_processor(learned, style, out);
    yk_text_add(out, "  \"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true, "
                     "\"trim_offsets\": true, \"use_regex\": true},\n");
    add_model(learned, out);
    yk_text_add(out, "}\n");
}
