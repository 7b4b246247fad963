#include "tokenizer/chunk_boundary.h"

#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <string.h>

/* Patterns of Split before ByteLevel: Llama 3's (the same as GPT-4's), and Qwen 2's. */
static const char *const known_patterns[] = {
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

static bool has_type(const struct yk_json *node, const char *type)
{
    const char *there = yk_json_string_value(yk_json_get_member(node, "type"));
    return there && strcmp(there, type) == 0;
}

static bool has_flag(const struct yk_json *node, const char *key, bool usual)
{
    bool there = usual;
    (void)yk_json_boolean_value(yk_json_get_member(node, key), &there);
    return there;
}

static bool is_known_split(const struct yk_json *node)
{
    const char *pattern =
        yk_json_string_value(yk_json_get_member(yk_json_get_member(node, "pattern"), "Regex"));
    const char *behaviour = yk_json_string_value(yk_json_get_member(node, "behavior"));
    if (!has_type(node, "Split") || has_flag(node, "invert", false) || !pattern || !behaviour ||
        strcmp(behaviour, "Isolated") != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof known_patterns / sizeof known_patterns[0]; i++) {
        if (strcmp(pattern, known_patterns[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool are_known_words(const struct yk_json *node)
{
    if (has_type(node, "BertPreTokenizer")) {
        return true;
    }
    /* add_prefix_space adds no space to a text that begins with one, as all chunks except the first
     * do. */
    if (has_type(node, "ByteLevel")) {
        return has_flag(node, "use_regex", true);
    }
    const struct yk_json *list = yk_json_get_member(node, "pretokenizers");
    return has_type(node, "Sequence") && yk_json_array_count(list) == 2 &&
           is_known_split(yk_json_array_at(list, 0)) &&
           has_type(yk_json_array_at(list, 1), "ByteLevel") &&
           !has_flag(yk_json_array_at(list, 1), "use_regex", true) &&
           !has_flag(yk_json_array_at(list, 1), "add_prefix_space", true);
}

void yk_chunk_boundary_rules_from_pre_tokenizer(const struct yk_json *pre_tokenizer,
                                                struct yk_chunk_boundary_rules *out)
{
    const bool prefixed =
        has_type(pre_tokenizer, "ByteLevel") && has_flag(pre_tokenizer, "add_prefix_space", true);
    *out = (struct yk_chunk_boundary_rules){.possible = are_known_words(pre_tokenizer),
                                            .lines = !prefixed};
}

static bool has_space(const char *words)
{
    const size_t length = strlen(words);
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(words + at, length - at, &character);
        if (used == 0 || yk_unicode_is_space(character)) {
            return true;
        }
        at += used;
    }
    return false;
}

/* Whether a normalizer does not change the character that begins or ends with this byte. */
static bool is_fixed(char byte)
{
    return byte > ' ' && byte < 0x7f && !(byte >= 'A' && byte <= 'Z') &&
           !(byte >= 'a' && byte <= 'z');
}

/* Stores where an added token prevents cuts. Returns false if that is unknown. */
static bool add_token(const struct yk_json *token, bool normalized,
                      struct yk_chunk_boundary_rules *out)
{
    const char *content = yk_json_string_value(yk_json_get_member(token, "content"));
    if (!content || !*content || has_space(content)) {
        return false;
    }
    const char first = content[0];
    const char last = content[strlen(content) - 1];
    if (normalized && has_flag(token, "normalized", true) && !(is_fixed(first) && is_fixed(last))) {
        return false;
    }
    out->begins_token[(unsigned char)first] = true;
    if (has_flag(token, "rstrip", false)) {
        out->strips_right = true;
        out->ends_token[(unsigned char)last] = true;
    }
    return true;
}

void yk_chunk_boundary_rules_from_json(const struct yk_json *root,
                                       struct yk_chunk_boundary_rules *out)
{
    const struct yk_json *added = yk_json_get_member(root, "added_tokens");
    const struct yk_json *normalizer = yk_json_get_member(root, "normalizer");
    const bool normalized = normalizer && !yk_json_is_null(normalizer);
    yk_chunk_boundary_rules_from_pre_tokenizer(yk_json_get_member(root, "pre_tokenizer"), out);
    for (size_t i = 0; out->possible && i < yk_json_array_count(added); i++) {
        out->possible = add_token(yk_json_array_at(added, i), normalized, out);
    }
}

yk_status yk_chunk_boundary_rules_from_tokenizer(const struct yk_tokenizer *tokenizer,
                                                 struct yk_chunk_boundary_rules *out)
{
    struct yk_text file = {0};
    struct yk_json *root = NULL;
    *out = (struct yk_chunk_boundary_rules){0};
    if (yk_tokenizer_get_character_vocabulary(tokenizer)) {
        return YK_OK;
    }
    yk_tokenizer_append_file_contents(tokenizer, &file);
    yk_status status = yk_text_status(&file);
    YK_IF_OK(yk_json_parse(yk_text_chars(&file), file.length, &root));
    yk_text_free(&file);
    if (status == YK_OK) {
        yk_chunk_boundary_rules_from_json(root, out);
        yk_json_destroy(root);
    }
    return status;
}

/* Whether the first character is definitely not white space. For some characters that differs
 * between versions of Unicode and between libraries. */
static bool begins_word(const char *text, size_t length)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        return first > ' ' && first < 0x7f;
    }
    uint32_t character = 0;
    return yk_utf8_decode(text, length, &character) > 0 && character > 0xa0 &&
           character != 0x180e && !yk_unicode_is_space(character) &&
           !yk_unicode_is_in_category(character, YK_UNICODE_DROPPED);
}

/* Whether a newline ends before `at`, between two characters that are not white space. */
static bool is_behind_line(const struct yk_chunk_boundary_rules *cut, const char *text,
                           size_t length, size_t at)
{
    if (!cut->lines || at < 2 || text[at - 1] != '\n' ||
        cut->begins_token[(unsigned char)text[at]]) {
        return false;
    }
    const size_t before = yk_utf8_previous_character_start(text, at - 1);
    return begins_word(text + before, at - 1 - before) && begins_word(text + at, length - at);
}

size_t yk_chunk_boundary_find_last(const struct yk_chunk_boundary_rules *cut, const char *text,
                                   size_t length)
{
    if (!cut->possible || length < 3) {
        return 0;
    }
    for (size_t at = length - 2; at > 0; at--) {
        const unsigned char before = (unsigned char)text[at - 1];
        if (is_behind_line(cut, text, length, at)) {
            return at;
        }
        if (text[at] != ' ' || cut->begins_token[(unsigned char)text[at + 1]] ||
            !begins_word(text + at + 1, length - at - 1)) {
            continue;
        }
        /* If a token may have stripped white space, the white space must begin with this space. */
        if (cut->strips_right && (before <= ' ' || before >= 0x7f || cut->ends_token[before])) {
            continue;
        }
        return at;
    }
    return 0;
}
