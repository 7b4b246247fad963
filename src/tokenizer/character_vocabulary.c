#include "tokenizer/character_vocabulary.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHARACTERS_A_LINE = 16
};

struct yk_character_vocabulary {
    uint32_t *characters; /* by id */
    int32_t *ids;         /* by character, up to the largest one; -1 means: not in the vocabulary */
    uint32_t limit;       /* the largest character + 1 */
    int32_t count;
};

void yk_character_vocabulary_destroy(struct yk_character_vocabulary *vocabulary)
{
    if (vocabulary) {
        free(vocabulary->characters);
        free(vocabulary->ids);
        free(vocabulary);
    }
}

static yk_status check_characters(const uint32_t *characters, int32_t count)
{
    if (count < 1) {
        return yk_fail(YK_ERROR_INPUT, "a vocabulary without characters");
    }
    for (int32_t i = 0; i < count; i++) {
        if (i > 0 && characters[i] <= characters[i - 1]) {
            return yk_fail(YK_ERROR_INPUT,
                           "U+%04" PRIX32 " comes after U+%04" PRIX32
                           "; characters must be in rising order, none twice",
                           characters[i], characters[i - 1]);
        }
    }
    return YK_OK;
}

static yk_status create(const uint32_t *characters, int32_t count,
                        struct yk_character_vocabulary **out)
{
    YK_TRY(check_characters(characters, count));
    struct yk_character_vocabulary *vocabulary = calloc(1, sizeof *vocabulary);
    YK_TRY_ALLOCATED(vocabulary);
    vocabulary->count = count;
    vocabulary->limit = characters[count - 1] + 1;
    vocabulary->characters = malloc((size_t)count * sizeof *vocabulary->characters);
    vocabulary->ids = malloc((size_t)vocabulary->limit * sizeof *vocabulary->ids);
    if (!vocabulary->characters || !vocabulary->ids) {
        yk_character_vocabulary_destroy(vocabulary);
        return yk_fail_out_of_memory();
    }
    memcpy(vocabulary->characters, characters, (size_t)count * sizeof *characters);
    memset(vocabulary->ids, 0xff, (size_t)vocabulary->limit * sizeof *vocabulary->ids);
    for (int32_t i = 0; i < count; i++) {
        vocabulary->ids[characters[i]] = i;
    }
    *out = vocabulary;
    return YK_OK;
}

static yk_status fail_not_text(const char *text, size_t at, const char *source)
{
    return yk_text_fail_invalid_utf8(source, yk_utf8_position_of_byte(text, at), text[at]);
}

/* Marks the characters of a text in `present`, and counts them in `*count`. */
static yk_status mark_present(const char *text, size_t length, const char *source,
                              unsigned char *present, int32_t *count)
{
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &character);
        if (used == 0 || character == 0) {
            return fail_not_text(text, at, source);
        }
        *count += !present[character];
        present[character] = 1;
        at += used;
    }
    return YK_OK;
}

yk_status yk_character_vocabulary_build(const char *text, size_t length, const char *source,
                                        struct yk_character_vocabulary **out)
{
    if (length == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: the text is empty", source);
    }
    unsigned char *present = calloc(YK_UTF8_CODE_POINT_COUNT, 1);
    YK_TRY_ALLOCATED(present);
    int32_t count = 0;
    yk_status status = mark_present(text, length, source, present, &count);
    uint32_t *characters = malloc(((size_t)count + 1) * sizeof *characters);
    if (status == YK_OK && !characters) {
        status = yk_fail_out_of_memory();
    }
    if (status == YK_OK) {
        int32_t listed = 0;
        for (uint32_t c = 0; c < YK_UTF8_CODE_POINT_COUNT; c++) {
            if (present[c]) {
                characters[listed++] = c;
            }
        }
        status = create(characters, count, out);
    }
    free(characters);
    free(present);
    return status;
}

int32_t yk_character_vocabulary_count(const struct yk_character_vocabulary *vocabulary)
{
    return vocabulary->count;
}

int32_t yk_character_vocabulary_find_id(const struct yk_character_vocabulary *vocabulary,
                                        uint32_t character)
{
    return character < vocabulary->limit ? vocabulary->ids[character] : -1;
}

yk_status yk_character_vocabulary_unknown_error(const char *text, size_t length, size_t at,
                                                const char *source)
{
    uint32_t character = 0;
    const size_t used = yk_utf8_decode(text + at, length - at, &character);
    if (used == 0 || character == 0) {
        return fail_not_text(text, at, source);
    }
    const struct yk_utf8_position place = yk_utf8_position_of_byte(text, at);
    if (character < 0x20 || character == 0x7f) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s:%" PRId64 ":%" PRId64 ": U+%04" PRIX32 " is not in the vocabulary",
                       source, place.line, place.column, character);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s:%" PRId64 ":%" PRId64 ": \"%.*s\" (U+%04" PRIX32
                   ") is not in the vocabulary",
                   source, place.line, place.column, (int)used, text + at, character);
}

yk_status yk_character_vocabulary_encode(const struct yk_character_vocabulary *vocabulary,
                                         const char *text, size_t length, const char *source,
                                         struct yk_token_ids *out)
{
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(text + at, length - at, &character);
        const int32_t id = used > 0 ? yk_character_vocabulary_find_id(vocabulary, character) : -1;
        if (id < 0) {
            return yk_character_vocabulary_unknown_error(text, length, at, source);
        }
        yk_token_ids_add(out, id);
        at += used;
    }
    return yk_token_ids_status(out);
}

yk_status yk_character_vocabulary_decode(const struct yk_character_vocabulary *vocabulary,
                                         const int32_t *ids, int64_t count, struct yk_text *out)
{
    for (int64_t i = 0; i < count; i++) {
        if (ids[i] >= 0 && ids[i] < vocabulary->count) {
            char bytes[YK_UTF8_MAX_BYTES];
            const size_t length = yk_utf8_encode(vocabulary->characters[ids[i]], bytes);
            yk_text_add_bytes(out, bytes, length);
        }
    }
    return yk_text_status(out);
}

yk_status yk_character_vocabulary_to_json(const struct yk_character_vocabulary *vocabulary,
                                          struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "vocabulary");
    yk_json_write_begin_array(&json, "characters");
    json.line_indent = 0;
    for (int32_t i = 0; i < vocabulary->count; i++) {
        char word[YK_UTF8_MAX_BYTES + 1] = {0};
        (void)yk_utf8_encode(vocabulary->characters[i], word);
        if (i % CHARACTERS_A_LINE == 0) {
            yk_json_write_newline(&json, 4);
        }
        yk_json_write_string(&json, NULL, word);
    }
    yk_json_write_newline(&json, 2);
    yk_json_write_end_array(&json);
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

static yk_status read_character(const struct yk_json *node, uint32_t *out)
{
    const char *word = yk_json_string_value(node);
    const size_t length = word ? strlen(word) : 0;
    const size_t used = yk_utf8_decode(word ? word : "", length, out);
    if (used == 0 || used != length) {
        return yk_fail(YK_ERROR_INPUT, "must be a string of one character");
    }
    return YK_OK;
}

static yk_status read_root(const struct yk_json *root, struct yk_character_vocabulary **out)
{
    static const char *const known[] = {"yoke", "kind", "name", "comment", "characters"};
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_check_yoke_document(root, "vocabulary", known, sizeof known / sizeof *known));
    YK_TRY(yk_json_require_array(root, "characters", &list));
    const size_t count = yk_json_array_count(list);
    if (count > YK_UTF8_CODE_POINT_COUNT) {
        return yk_fail(YK_ERROR_INPUT, "\"characters\" has more entries than there are characters");
    }
    uint32_t *characters = malloc((count + 1) * sizeof *characters);
    YK_TRY_ALLOCATED(characters);
    yk_status status = YK_OK;
    for (size_t i = 0; i < count; i++) {
        YK_TRY_GOTO(
            yk_json_prefix_error_with_element(
                read_character(yk_json_array_at(list, i), &characters[i]), "characters", i, NULL),
            done);
    }
    status = create(characters, (int32_t)count, out);
done:
    free(characters);
    return status;
}

yk_status yk_character_vocabulary_parse(const char *bytes, size_t length, const char *source,
                                        struct yk_character_vocabulary **out)
{
    YK_TRY_WITH_PARSED_JSON(root, bytes, length, source, read_root(root, out));
    return YK_OK;
}
