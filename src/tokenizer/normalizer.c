#include "tokenizer/normalizer.h"

#include "base/array.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 16 /* of nested sequences */
};

enum step {
    STEP_CLEAN,            /* remove control characters, convert white space to spaces */
    STEP_SPACE_IDEOGRAPHS, /* insert a space before and after each ideograph */
    STEP_NFC, /* this and the next three are in the order of enum yk_unicode_normal_form */
    STEP_NFD,
    STEP_NFKC,
    STEP_NFKD,
    STEP_STRIP_NONSPACING, /* remove marks of category Mn */
    STEP_STRIP_MARKS,      /* remove all marks */
    STEP_LOWER,
};

struct yk_normalizer {
    enum step *steps;
    int32_t count;
    int32_t capacity;
};

void yk_normalizer_destroy(struct yk_normalizer *normalizer)
{
    if (normalizer) {
        free(normalizer->steps);
        free(normalizer);
    }
}

static yk_status add_step(struct yk_normalizer *normalizer, enum step step)
{
    YK_TRY_GROW_ARRAY(normalizer->steps, normalizer->capacity, normalizer->count);
    normalizer->steps[normalizer->count++] = step;
    return YK_OK;
}

/* Reads a boolean member. Does not change `*out` if the member is missing or null. */
static yk_status read_flag(const struct yk_json *node, const char *key, bool *out)
{
    const struct yk_json *member = yk_json_get_member(node, key);
    if (!member || yk_json_is_null(member) || yk_json_boolean_value(member, out)) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\" of the normalizer is %s; it must be true or false", key,
                   yk_json_type_name(member));
}

static yk_status read_bert(const struct yk_json *node, struct yk_normalizer *out)
{
    bool clean = true;
    bool ideographs = true;
    bool lower = true;
    YK_TRY(read_flag(node, "clean_text", &clean));
    YK_TRY(read_flag(node, "handle_chinese_chars", &ideographs));
    YK_TRY(read_flag(node, "lowercase", &lower));
    bool accents = lower;
    YK_TRY(read_flag(node, "strip_accents", &accents));
    if (clean) {
        YK_TRY(add_step(out, STEP_CLEAN));
    }
    if (ideographs) {
        YK_TRY(add_step(out, STEP_SPACE_IDEOGRAPHS));
    }
    if (accents) {
        YK_TRY(add_step(out, STEP_NFD));
        YK_TRY(add_step(out, STEP_STRIP_NONSPACING));
    }
    return lower ? add_step(out, STEP_LOWER) : YK_OK;
}

static yk_status read_node(const struct yk_json *node, int32_t depth, struct yk_normalizer *out);

static yk_status read_sequence(const struct yk_json *node, int32_t depth, struct yk_normalizer *out)
{
    const struct yk_json *list = yk_json_get_member(node, "normalizers");
    if (!yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"normalizers\" of a Sequence is %s; it must be a list",
                       yk_json_type_name(list));
    }
    if (depth == MAX_DEPTH) {
        return yk_fail(YK_ERROR_INPUT, "more than %d normalizers inside each other", MAX_DEPTH);
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        YK_TRY(read_node(yk_json_array_at(list, i), depth + 1, out));
    }
    return YK_OK;
}

static yk_status read_node(const struct yk_json *node, int32_t depth, struct yk_normalizer *out)
{
    static const struct {
        const char *name;
        enum step step;
    } simple[] = {
        {"NFC", STEP_NFC},   {"NFD", STEP_NFD},         {"NFKC", STEP_NFKC},
        {"NFKD", STEP_NFKD}, {"Lowercase", STEP_LOWER}, {"StripAccents", STEP_STRIP_MARKS},
    };
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "the normalizer has no \"type\"");
    }
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        if (strcmp(type, simple[i].name) == 0) {
            return add_step(out, simple[i].step);
        }
    }
    if (strcmp(type, "BertNormalizer") == 0) {
        return read_bert(node, out);
    }
    if (strcmp(type, "Sequence") == 0) {
        return read_sequence(node, depth, out);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "a normalizer \"%s\"; known are BertNormalizer, NFC, NFD, NFKC, NFKD, "
                   "Lowercase, StripAccents and Sequence",
                   type);
}

yk_status yk_normalizer_from_json(const struct yk_json *node, struct yk_normalizer **out)
{
    if (!node || yk_json_is_null(node)) {
        *out = NULL;
        return YK_OK;
    }
    struct yk_normalizer *normalizer = calloc(1, sizeof *normalizer);
    YK_TRY_ALLOCATED(normalizer);
    YK_TRY_OR_CLEAN_UP(yk_status_prefix_message(read_node(node, 0, normalizer), "normalizer"),
                       yk_normalizer_destroy(normalizer));
    *out = normalizer;
    return YK_OK;
}

/* The length of the ASCII prefix of a text. */
static size_t ascii_length(const char *text, size_t length)
{
    size_t at = 0;
    uint64_t eight = 0;
    for (; at + sizeof eight <= length; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    while (at < length && (unsigned char)text[at] < 0x80) {
        at++;
    }
    return at;
}

/* Applies a step to ASCII text, which only STEP_CLEAN and STEP_LOWER change. */
static void run_ascii(enum step step, const char *text, size_t length, struct yk_text *out)
{
    const size_t start = out->length;
    yk_text_add_bytes(out, text, length);
    if (out->failed || length == 0) {
        return;
    }
    char *bytes = out->bytes + start;
    if (step == STEP_LOWER) {
        for (size_t i = 0; i < length; i++) {
            bytes[i] = (char)(bytes[i] + (bytes[i] >= 'A' && bytes[i] <= 'Z' ? 'a' - 'A' : 0));
        }
    } else if (step == STEP_CLEAN) {
        size_t kept = 0;
        for (size_t i = 0; i < length; i++) {
            const char c = bytes[i];
            const bool space = c == '\t' || c == '\n' || c == '\r';
            bytes[kept] = space ? ' ' : c;
            kept += space || (c >= ' ' && c < 0x7f);
        }
        bytes[kept] = '\0';
        out->length = start + kept;
    }
}

/* Applies a step to one character. */
static int32_t change(enum step step, uint32_t character, uint32_t out[3])
{
    out[0] = character;
    switch (step) {
    case STEP_CLEAN:
        if (yk_unicode_is_in_category(character, YK_UNICODE_DROPPED)) {
            return 0;
        }
        out[0] = yk_unicode_is_space(character) ? ' ' : character;
        return 1;
    case STEP_SPACE_IDEOGRAPHS:
        if (!yk_unicode_is_in_category(character, YK_UNICODE_IDEOGRAPH)) {
            return 1;
        }
        out[0] = ' ';
        out[1] = character;
        out[2] = ' ';
        return 3;
    case STEP_STRIP_NONSPACING:
        return yk_unicode_is_in_category(character, YK_UNICODE_NONSPACING_MARK) ? 0 : 1;
    case STEP_STRIP_MARKS:
        return yk_unicode_is_in_category(character, YK_UNICODE_MARK) ? 0 : 1;
    case STEP_LOWER:
        return yk_unicode_lowercase_character(character, out);
    default:
        return 1;
    }
}

static yk_status run_characters(enum step step, const char *text, size_t length,
                                struct yk_text *out)
{
    size_t at = 0;
    while (at < length) {
        const size_t ascii = ascii_length(text + at, length - at);
        run_ascii(step, text + at, ascii, out);
        at += ascii;
        if (at == length) {
            break;
        }
        uint32_t character = 0;
        uint32_t changed[3];
        const size_t used = yk_utf8_decode(text + at, length - at, &character);
        if (used == 0) {
            return yk_fail(YK_ERROR_INPUT, "the text is not UTF-8; convert it first");
        }
        const int32_t count = change(step, character, changed);
        for (int32_t i = 0; i < count; i++) {
            char bytes[YK_UTF8_MAX_BYTES];
            yk_text_add_bytes(out, bytes, yk_utf8_encode(changed[i], bytes));
        }
        at += used;
    }
    return yk_text_status(out);
}

static yk_status run_step(enum step step, const char *text, size_t length, struct yk_text *out)
{
    if (ascii_length(text, length) == length) {
        run_ascii(step, text, length, out);
        return yk_text_status(out);
    }
    if (step >= STEP_NFC && step <= STEP_NFKD) {
        const enum yk_unicode_normal_form form = (enum yk_unicode_normal_form)(step - STEP_NFC);
        return yk_unicode_normalize(text, length, form, out);
    }
    return run_characters(step, text, length, out);
}

yk_status yk_normalizer_apply(const struct yk_normalizer *normalizer, const char *text,
                              size_t length, struct yk_text *out)
{
    const int32_t count = normalizer ? normalizer->count : 0;
    if (count == 0) {
        yk_text_add_bytes(out, text, length);
        return yk_text_status(out);
    }
    /* Each step writes the input of the next one. The last step writes to `out`. */
    struct yk_text between[2] = {{0}};
    yk_status status = YK_OK;
    for (int32_t i = 0; i < count && status == YK_OK; i++) {
        struct yk_text *to = i == count - 1 ? out : &between[i % 2];
        const struct yk_text *from = i == 0 ? NULL : &between[(i - 1) % 2];
        if (to != out) {
            to->length = 0;
        }
        status = run_step(normalizer->steps[i], from ? yk_text_chars(from) : text,
                          from ? from->length : length, to);
    }
    yk_text_free(&between[0]);
    yk_text_free(&between[1]);
    return status;
}
