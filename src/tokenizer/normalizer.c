#include "tokenizer/normalizer.h"

#include "base/array.h"
#include "tokenizer/normalizers/step.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 16, /* of nested sequences */
    MAX_STEPS = 256,
    MAX_GROWTH = 64,      /* how many times as long a text may become */
    FREE_BYTES = 1 << 14, /* that a text may have more in any case */
    SHOWN_BYTES = 60      /* of a name in messages */
};

struct yk_normalizer {
    struct yk_normalizer_step *steps;
    int32_t count;
    int32_t capacity;
};

void yk_normalizer_destroy(struct yk_normalizer *normalizer)
{
    if (normalizer) {
        for (int32_t i = 0; i < normalizer->count; i++) {
            yk_regex_destroy(normalizer->steps[i].pattern);
            free(normalizer->steps[i].content);
            yk_precompiled_map_destroy(normalizer->steps[i].map);
        }
        free(normalizer->steps);
        free(normalizer);
    }
}

static yk_status add_step(struct yk_normalizer *normalizer,
                          const struct yk_normalizer_step_kind *kind, const struct yk_json *node)
{
    if (normalizer->count == MAX_STEPS) {
        return yk_fail(YK_ERROR_INPUT, "more than %d normalizers", MAX_STEPS);
    }
    YK_TRY_GROW_ARRAY(normalizer->steps, normalizer->capacity, normalizer->count);
    struct yk_normalizer_step *step = &normalizer->steps[normalizer->count++];
    *step = (struct yk_normalizer_step){.kind = kind};
    return kind->read ? kind->read(node, step) : YK_OK;
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
        YK_TRY(add_step(out, &yk_normalizer_clean, node));
    }
    if (ideographs) {
        YK_TRY(add_step(out, &yk_normalizer_space_ideographs, node));
    }
    if (accents) {
        YK_TRY(add_step(out, &yk_normalizer_nfd, node));
        YK_TRY(add_step(out, &yk_normalizer_strip_nonspacing, node));
    }
    return lower ? add_step(out, &yk_normalizer_lowercase, node) : YK_OK;
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
    static const struct yk_normalizer_step_kind *const kinds[] = {
        &yk_normalizer_nfc,       &yk_normalizer_nfd,         &yk_normalizer_nfkc,
        &yk_normalizer_nfkd,      &yk_normalizer_strip,       &yk_normalizer_strip_accents,
        &yk_normalizer_lowercase, &yk_normalizer_replace,     &yk_normalizer_prepend,
        &yk_normalizer_nmt,       &yk_normalizer_precompiled, &yk_normalizer_byte_level,
    };
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "the normalizer has no \"type\"");
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(type, kinds[i]->type) == 0) {
            return add_step(out, kinds[i], node);
        }
    }
    if (strcmp(type, "BertNormalizer") == 0) {
        return read_bert(node, out);
    }
    if (strcmp(type, "Sequence") == 0) {
        return read_sequence(node, depth, out);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "a normalizer \"%.*s\"; known are BertNormalizer, NFC, NFD, NFKC, NFKD, "
                   "Lowercase, Strip, StripAccents, Replace, Prepend, Nmt, Precompiled, ByteLevel "
                   "and Sequence",
                   SHOWN_BYTES, type);
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

void yk_normalizer_workspace_free(struct yk_normalizer_workspace *workspace)
{
    yk_aligned_text_free(&workspace->texts[0]);
    yk_aligned_text_free(&workspace->texts[1]);
    yk_text_free(&workspace->buffer);
}

static bool is_ascii(const char *text, size_t length)
{
    uint64_t bits = 0;
    size_t at = 0;
    for (; at + sizeof bits <= length; at += sizeof bits) {
        uint64_t eight = 0;
        memcpy(&eight, text + at, sizeof eight);
        bits |= eight;
    }
    for (; at < length; at++) {
        bits |= (unsigned char)text[at];
    }
    return !(bits & UINT64_C(0x8080808080808080));
}

yk_status yk_normalizer_run(const struct yk_normalizer *normalizer,
                            struct yk_normalizer_workspace *workspace, const char *text,
                            size_t length, size_t begin, bool tracked,
                            struct yk_aligned_segment *out)
{
    const struct yk_normalizer_context context = {
        .regex = workspace->regex,
        .buffer = &workspace->buffer,
        .source_begin = begin,
        .max_bytes = length < SIZE_MAX / MAX_GROWTH - FREE_BYTES
                         ? MAX_GROWTH * (length + FREE_BYTES)
                         : SIZE_MAX,
    };
    const int32_t count = normalizer ? normalizer->count : 0;
    int32_t next = 0; /* the text that the next step writes */
    *out = (struct yk_aligned_segment){.bytes = text, .length = length};
    if (tracked) {
        YK_TRY(yk_aligned_text_set_source(&workspace->texts[1], text, length, begin, true));
        *out = yk_aligned_text_get_segment(&workspace->texts[1]);
    }
    for (int32_t i = 0; i < count; i++) {
        const struct yk_normalizer_step *step = &normalizer->steps[i];
        if (!step->kind->changes_ascii && is_ascii(out->bytes, out->length)) {
            continue;
        }
        struct yk_aligned_text *to = &workspace->texts[next];
        const struct yk_aligned_segment from = *out;
        yk_aligned_text_clear(to, tracked);
        YK_TRY(step->kind->apply(step, &context, &from, to));
        *out = yk_aligned_text_get_segment(to);
        next = 1 - next;
    }
    return YK_OK;
}

yk_status yk_normalizer_apply(const struct yk_normalizer *normalizer, const char *text,
                              size_t length, struct yk_text *out)
{
    struct yk_normalizer_workspace workspace = {0};
    struct yk_aligned_segment segment = {0};
    YK_TRY(yk_regex_workspace_create(&workspace.regex));
    yk_status status = yk_normalizer_run(normalizer, &workspace, text, length, 0, false, &segment);
    if (status == YK_OK) {
        yk_text_add_bytes(out, segment.bytes, segment.length);
        status = yk_text_status(out);
    }
    yk_regex_workspace_destroy(workspace.regex);
    yk_normalizer_workspace_free(&workspace);
    return status;
}
