#include "tokenizer/regex/text_pattern.h"

#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <string.h>

enum {
    ASCII = 128,
    WORD_BITS = 64
};

struct yk_text_pattern
yk_text_pattern_of_class(bool (*matches)(uint32_t character, uint32_t argument), uint32_t argument)
{
    struct yk_text_pattern class = {.matches = matches, .argument = argument};
    for (uint32_t character = 0; character < ASCII; character++) {
        class.ascii[character / WORD_BITS] |= (uint64_t)matches(character, argument)
                                              << character % WORD_BITS;
    }
    return class;
}

yk_status yk_text_pattern_read_regex(const struct yk_json *node, const char *type,
                                     struct yk_regex **out)
{
    const struct yk_json *pattern = yk_json_get_member(node, "pattern");
    const char *expression = yk_json_string_value(yk_json_get_member(pattern, "Regex"));
    const char *text =
        expression ? expression : yk_json_string_value(yk_json_get_member(pattern, "String"));
    if (!text) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"pattern\" of %s must be an object with a \"Regex\" or a \"String\"",
                       type);
    }
    return yk_regex_create(text, strlen(text), !expression, out);
}

/* Regular expressions see older characters instead of those that PCRE2 may not know. */
yk_status yk_text_pattern_begin(const struct yk_text_pattern *pattern,
                                struct yk_regex_workspace *workspace, const char *text,
                                size_t length, struct yk_text *buffer,
                                struct yk_text_pattern_search *out)
{
    *out = (struct yk_text_pattern_search){
        .pattern = *pattern, .workspace = workspace, .text = text, .length = length};
    size_t ignored = 0;
    return pattern->regex && !yk_regex_get_literal(pattern->regex, &ignored)
               ? yk_unicode_replace_newer(text, length, buffer, &out->text)
               : YK_OK;
}

static size_t character_length(const char *text, size_t length, uint32_t *character)
{
    const size_t used = yk_utf8_decode(text, length, character);
    return used ? used : 1;
}

/* Whether the character at the beginning of a text is in a class, and its length. */
static bool is_in_class(const struct yk_text_pattern *class, const char *text, size_t length,
                        size_t *used)
{
    const unsigned char byte = (unsigned char)text[0];
    if (byte < ASCII) {
        *used = 1;
        return class->ascii[byte / WORD_BITS] >> byte % WORD_BITS & 1;
    }
    uint32_t character = UINT32_MAX; /* stays for bytes that are not UTF-8 */
    *used = character_length(text, length, &character);
    return character != UINT32_MAX && class->matches(character, class->argument);
}

static void find_character(struct yk_text_pattern_search *search)
{
    size_t used = 0;
    search->found = false;
    while (search->from < search->length && !search->found) {
        search->begin = search->from;
        search->found = is_in_class(&search->pattern, search->text + search->from,
                                    search->length - search->from, &used);
        search->from += used;
    }
    search->end = search->from;
}

yk_status yk_text_pattern_find_next(struct yk_text_pattern_search *search)
{
    if (!search->pattern.regex) {
        find_character(search);
        return YK_OK;
    }
    const bool behind_match = search->found;
    const size_t done = search->end;
    search->found = false;
    while (search->from <= search->length && search->length > 0) {
        YK_TRY(yk_regex_find(search->pattern.regex, search->workspace, search->text, search->length,
                             search->from, &search->found, &search->begin, &search->end));
        if (!search->found) {
            break;
        }
        if (search->begin < search->end || !behind_match || search->end != done) {
            search->from = search->end;
            return YK_OK;
        }
        uint32_t ignored = 0;
        search->from +=
            character_length(search->text + search->from, search->length - search->from, &ignored);
    }
    search->found = false;
    return YK_OK;
}
