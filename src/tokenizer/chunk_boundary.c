#include "tokenizer/chunk_boundary.h"

#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/regex/word_pattern.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <string.h>

enum {
    METASPACE = 0x2581,
    FIRST_SURROGATE = 0xd800,
    LAST_SURROGATE = 0xdfff
};

/* Stands for a space in SentencePiece's vocabularies. */
static const char metaspace[] = "\xe2\x96\x81";

/* Patterns of Split before ByteLevel. */
static const char *const known_patterns[] = {yk_word_pattern_llama3, yk_word_pattern_qwen2};

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

/* Whether a string pattern of a component is `text`. */
static bool has_pattern(const struct yk_json *node, const char *kind, const char *text)
{
    const char *pattern =
        yk_json_string_value(yk_json_get_member(yk_json_get_member(node, "pattern"), kind));
    return pattern && strcmp(pattern, text) == 0;
}

/* Calls `check` for a component or, if it is a Sequence, for each of its elements. */
static bool check_each(const struct yk_json *node, const char *key,
                       bool (*check)(const struct yk_json *node))
{
    const struct yk_json *list = yk_json_get_member(node, key);
    if (!has_type(node, "Sequence")) {
        return check(node);
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        if (!check(yk_json_array_at(list, i))) {
            return false;
        }
    }
    return true;
}

/* Whether a normalizer neither adds nor removes nor replaces white space. */
static bool keeps_white_space(const struct yk_json *node)
{
    return has_type(node, "NFC") || has_type(node, "NFD") || has_type(node, "Lowercase");
}

/* Whether a normalizer changes each character by itself or with marks. The others than those above
 * turn a character such as U+00A8 into a space and a mark, put spaces around ideographs, or remove
 * a mark between two spaces. */
static bool is_local_normalizer(const struct yk_json *node)
{
    return keeps_white_space(node) || has_type(node, "NFKC") || has_type(node, "NFKD") ||
           has_type(node, "StripAccents") || has_type(node, "BertNormalizer");
}

/* Whether a normalizer is a Replace that makes no white space and removes none but of several. */
static bool is_spaced_replace(const struct yk_json *node)
{
    const char *pattern =
        yk_json_string_value(yk_json_get_member(yk_json_get_member(node, "pattern"), "String"));
    const char *content = yk_json_string_value(yk_json_get_member(node, "content"));
    return has_type(node, "Replace") &&
           (has_pattern(node, "Regex", " {2,}") ||
            (pattern && content && *content && !has_space(pattern) && !has_space(content) &&
             !strstr(pattern, metaspace) && !strstr(content, metaspace)));
}

/* Whether a normalizer is known where texts are cut before single spaces. */
static bool is_spaced_normalizer(const struct yk_json *node)
{
    return is_local_normalizer(node) || is_spaced_replace(node) || has_type(node, "Precompiled") ||
           has_type(node, "Nmt") ||
           (has_type(node, "Strip") && !has_flag(node, "strip_left", true));
}

static bool replaces_space(const struct yk_json *node)
{
    const char *content = yk_json_string_value(yk_json_get_member(node, "content"));
    return has_type(node, "Replace") && has_pattern(node, "String", " ") && content &&
           strcmp(content, metaspace) == 0;
}

static bool is_prepended_metaspace(const struct yk_json *node)
{
    const char *content = yk_json_string_value(yk_json_get_member(node, "prepend"));
    return has_type(node, "Prepend") && content && strcmp(content, metaspace) == 0;
}

/* Whether all normalizers are known where texts are one word. Only the first of several may put "▁"
 * before a text. */
static bool are_one_word_normalizers(const struct yk_json *normalizer, bool *prepends)
{
    const struct yk_json *list = yk_json_get_member(normalizer, "normalizers");
    const bool several = has_type(normalizer, "Sequence");
    const size_t count = several ? yk_json_array_count(list) : 1;
    *prepends = several && is_prepended_metaspace(yk_json_array_at(list, 0));
    for (size_t i = *prepends; i < count; i++) {
        const struct yk_json *node = several ? yk_json_array_at(list, i) : normalizer;
        if (!is_spaced_normalizer(node) && !replaces_space(node)) {
            return false;
        }
    }
    return true;
}

static bool is_metaspace(const struct yk_json *node, bool split)
{
    const char *replacement = yk_json_string_value(yk_json_get_member(node, "replacement"));
    return has_type(node, "Metaspace") && replacement && strcmp(replacement, metaspace) == 0 &&
           has_flag(node, "split", true) == split;
}

/* Whether each space begins a word. */
static bool are_spaced_words(const struct yk_json *node)
{
    const struct yk_json *list = yk_json_get_member(node, "pretokenizers");
    if (!has_type(node, "Sequence")) {
        return is_metaspace(node, true);
    }
    const struct yk_json *last = yk_json_array_at(list, 1);
    return yk_json_array_count(list) == 2 &&
           has_type(yk_json_array_at(list, 0), "WhitespaceSplit") &&
           (is_metaspace(last, true) || is_metaspace(last, false));
}

/* Whether the last normalizer replaces each space with "▁". */
static bool ends_with_replaced_spaces(const struct yk_json *normalizer)
{
    const struct yk_json *list = yk_json_get_member(normalizer, "normalizers");
    const size_t count = yk_json_array_count(list);
    return has_type(normalizer, "Sequence")
               ? count > 0 && replaces_space(yk_json_array_at(list, count - 1))
               : replaces_space(normalizer);
}

static bool is_empty_member(const struct yk_json *node, const char *key)
{
    const struct yk_json *member = yk_json_get_member(node, key);
    const char *text = yk_json_string_value(member);
    return !member || yk_json_is_null(member) || (text && !*text);
}

/* Whether no rule of a BPE merges across the place before "▁"; see tokenizer/models/bpe.h. */
static bool has_no_merge_across_spaces(const struct yk_json *model)
{
    const struct yk_json *merges = yk_json_get_member(model, "merges");
    const char *unknown = yk_json_string_value(yk_json_get_member(model, "unk_token"));
    const size_t unit = strlen(metaspace);
    if (!yk_json_is_array(merges) || !is_empty_member(model, "continuing_subword_prefix") ||
        !is_empty_member(model, "end_of_word_suffix") || has_flag(model, "ignore_merges", false) ||
        !yk_json_get_member(yk_json_get_member(model, "vocab"), metaspace) ||
        (unknown && strncmp(unknown, metaspace, unit) == 0)) {
        return false;
    }
    for (size_t i = 0; i < yk_json_array_count(merges); i++) {
        const struct yk_json *rule = yk_json_array_at(merges, i);
        const char *left =
            yk_json_string_value(yk_json_is_array(rule) ? yk_json_array_at(rule, 0) : rule);
        const char *right = yk_json_string_value(yk_json_array_at(rule, 1));
        const char *space = left && !right ? strchr(left, ' ') : NULL;
        right = space ? space + 1 : right;
        while (left && strncmp(left, metaspace, unit) == 0) {
            left += unit;
        }
        const bool alone = left && (*left == '\0' || left == space);
        if (!left || !right || (strncmp(right, metaspace, unit) == 0 && !alone)) {
            return false;
        }
    }
    return true;
}

/* Whether a text is one word for BPE, with "▁" for each space. */
static bool is_one_spaced_word(const struct yk_json *root)
{
    const struct yk_json *words = yk_json_get_member(root, "pre_tokenizer");
    const struct yk_json *normalizer = yk_json_get_member(root, "normalizer");
    const bool none = !words || yk_json_is_null(words);
    /* Where no space is left, nothing is split at spaces. */
    const bool idle = none || (has_type(words, "Split") && has_pattern(words, "String", " "));
    return ((idle && ends_with_replaced_spaces(normalizer)) || is_metaspace(words, false)) &&
           has_no_merge_across_spaces(yk_json_get_member(root, "model"));
}

/* Whether the text at one of the two ends of a normalized character is no white space. */
static bool is_visible(const char *text, size_t length)
{
    uint32_t character = 0;
    return yk_utf8_decode(text, length, &character) > 0 && !yk_unicode_is_space(character) &&
           character != METASPACE && !yk_unicode_is_in_category(character, YK_UNICODE_EXTENDING);
}

/* Whether a character may be next to the space or newline that a text is cut at. */
static yk_status try_neighbour(const struct yk_normalizer *normalizer,
                               struct yk_normalizer_workspace *workspace, uint32_t character,
                               bool prepends, bool *out)
{
    char bytes[YK_UTF8_MAX_BYTES];
    struct yk_aligned_segment text = {0};
    int32_t state = 0;
    const size_t length = yk_utf8_encode(character, bytes);
    *out = false;
    /* A character that joins with the one behind it may be replaced together with it. */
    if (!is_visible(bytes, length) || !begins_word(bytes, length) ||
        !yk_unicode_is_grapheme_boundary(character, ' ', &state)) {
        return YK_OK;
    }
    YK_TRY(yk_normalizer_run(normalizer, workspace, bytes, length, 0, false, &text));
    if (prepends) {
        text.bytes += strlen(metaspace);
        text.length -= strlen(metaspace);
    }
    const size_t last =
        text.length > 0 ? yk_utf8_previous_character_start(text.bytes, text.length) : 0;
    *out = text.length > 0 && is_visible(text.bytes, text.length) &&
           is_visible(text.bytes + last, text.length - last);
    return YK_OK;
}

/* Whether a normalizer leaves a newline as it is. BertNormalizer makes it a space. */
static yk_status try_newline(const struct yk_normalizer *normalizer,
                             struct yk_normalizer_workspace *workspace, bool *out)
{
    struct yk_aligned_segment text = {0};
    YK_TRY(yk_normalizer_run(normalizer, workspace, "\n", 1, 0, false, &text));
    *out = text.length == 1 && text.bytes[0] == '\n';
    return YK_OK;
}

static yk_status find_neighbours(const struct yk_json *node, struct yk_chunk_boundary_rules *out)
{
    struct yk_normalizer *normalizer = NULL;
    struct yk_normalizer_workspace workspace = {0};
    bool keeps_newline = false;
    yk_status status = yk_normalizer_from_json(node, &normalizer);
    YK_IF_OK(yk_regex_workspace_create(&workspace.regex));
    YK_IF_OK(try_newline(normalizer, &workspace, &keeps_newline));
    out->lines = out->lines && keeps_newline;
    for (uint32_t i = 1; i < YK_CHUNK_BOUNDARY_CHARACTERS && status == YK_OK; i++) {
        bool allowed = false;
        if (i < FIRST_SURROGATE || i > LAST_SURROGATE) {
            status = try_neighbour(normalizer, &workspace, i, out->omits_space, &allowed);
        }
        out->neighbours[i / 8] |= (unsigned char)(allowed << i % 8);
    }
    yk_regex_workspace_destroy(workspace.regex);
    yk_normalizer_workspace_free(&workspace);
    yk_normalizer_destroy(normalizer);
    return status;
}

yk_status yk_chunk_boundary_rules_from_json(const struct yk_json *root,
                                            struct yk_chunk_boundary_rules *out)
{
    const struct yk_json *added = yk_json_get_member(root, "added_tokens");
    const struct yk_json *normalizer = yk_json_get_member(root, "normalizer");
    const struct yk_json *words = yk_json_get_member(root, "pre_tokenizer");
    const bool normalized = normalizer && !yk_json_is_null(normalizer);
    bool prepends = false;
    yk_chunk_boundary_rules_from_pre_tokenizer(words, out);
    out->possible = out->possible &&
                    (!normalized || check_each(normalizer, "normalizers", is_local_normalizer));
    out->tests_neighbours = out->possible && normalized && !has_type(words, "BertPreTokenizer") &&
                            !check_each(normalizer, "normalizers", keeps_white_space);
    const bool spaced_words =
        are_spaced_words(words) &&
        (!normalized || check_each(normalizer, "normalizers", is_spaced_normalizer));
    const bool one_word = is_one_spaced_word(root) &&
                          (!normalized || are_one_word_normalizers(normalizer, &prepends));
    if (!out->possible && (spaced_words || one_word)) {
        out->possible = true;
        out->single_spaces = true;
        out->tests_neighbours = true;
        out->omits_space = one_word && prepends;
        out->lines = false;
    }
    for (size_t i = 0; out->possible && i < yk_json_array_count(added); i++) {
        out->possible = add_token(yk_json_array_at(added, i), normalized, out);
    }
    return out->possible && out->tests_neighbours ? find_neighbours(normalizer, out) : YK_OK;
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
    YK_IF_OK(yk_json_parse_foreign(yk_text_chars(&file), file.length, &root));
    yk_text_free(&file);
    YK_IF_OK(yk_chunk_boundary_rules_from_json(root, out));
    yk_json_destroy(root);
    return status;
}

/* Whether the first character of a text may be next to a cut. */
static bool can_be_neighbour(const struct yk_chunk_boundary_rules *cut, const char *text,
                             size_t length)
{
    uint32_t character = 0;
    if (!cut->tests_neighbours) {
        return begins_word(text, length);
    }
    return yk_utf8_decode(text, length, &character) > 0 &&
           character < YK_CHUNK_BOUNDARY_CHARACTERS &&
           (cut->neighbours[character / 8] >> character % 8 & 1);
}

/* Whether the character before `at` may be next to a cut. */
static bool is_behind_neighbour(const struct yk_chunk_boundary_rules *cut, const char *text,
                                size_t at)
{
    const size_t before = yk_utf8_previous_character_start(text, at);
    return can_be_neighbour(cut, text + before, at - before);
}

/* Whether a newline ends before `at`, and the characters on both sides may be next to a cut. */
static bool is_behind_line(const struct yk_chunk_boundary_rules *cut, const char *text,
                           size_t length, size_t at)
{
    if (!cut->lines || at < 2 || text[at - 1] != '\n' ||
        cut->begins_token[(unsigned char)text[at]]) {
        return false;
    }
    return is_behind_neighbour(cut, text, at - 1) && can_be_neighbour(cut, text + at, length - at);
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
            !can_be_neighbour(cut, text + at + 1, length - at - 1)) {
            continue;
        }
        /* If a token may have stripped white space, the white space must begin with this space. */
        if (cut->strips_right && (before <= ' ' || before >= 0x7f || cut->ends_token[before])) {
            continue;
        }
        if (cut->single_spaces && !is_behind_neighbour(cut, text, at)) {
            continue;
        }
        return at;
    }
    return 0;
}
