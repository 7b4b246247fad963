#include "tokenizer/pre_tokenizer.h"

#include "base/array.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STAGES = 64, /* stages call each other recursively */
    SHOWN_BYTES = 60 /* of a name in messages */
};

/* GPT-2's pattern: contractions; letters, digits and other characters, each with a preceding space;
 * and white space, whose last space belongs to the next word. */
static const char usual_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

enum kind {
    KIND_SPLIT,
    KIND_BYTE_LEVEL,
    KIND_BERT
};

struct stage {
    enum kind kind;
    struct yk_regex *pattern; /* NULL means: do not split */
    bool drop_matches;
    bool drop_others;
    bool prefix_space;
};

struct yk_pre_tokenizer {
    struct stage *stages;
    int32_t count;
    int32_t capacity;
};

void yk_pre_tokenizer_destroy(struct yk_pre_tokenizer *pre_tokenizer)
{
    if (pre_tokenizer) {
        for (int32_t i = 0; i < pre_tokenizer->count; i++) {
            yk_regex_destroy(pre_tokenizer->stages[i].pattern);
        }
        free(pre_tokenizer->stages);
        free(pre_tokenizer);
    }
}

static yk_status read_byte_level(const struct yk_json *node, struct stage *out)
{
    bool use_pattern = true;
    out->kind = KIND_BYTE_LEVEL;
    out->prefix_space = true;
    YK_TRY(yk_json_get_bool(node, "add_prefix_space", &out->prefix_space));
    YK_TRY(yk_json_get_bool(node, "use_regex", &use_pattern));
    if (!use_pattern) {
        return YK_OK;
    }
    return yk_regex_create(usual_pattern, strlen(usual_pattern), false, &out->pattern);
}

static yk_status read_split(const struct yk_json *node, struct stage *out)
{
    const struct yk_json *pattern = yk_json_get_member(node, "pattern");
    const char *expression = yk_json_string_value(yk_json_get_member(pattern, "Regex"));
    const char *pattern_text =
        expression ? expression : yk_json_string_value(yk_json_get_member(pattern, "String"));
    const char *behaviour = yk_json_string_value(yk_json_get_member(node, "behavior"));
    bool invert = false;
    out->kind = KIND_SPLIT;
    YK_TRY(yk_json_get_bool(node, "invert", &invert));
    if (!pattern_text) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"pattern\" of Split must be an object with a \"Regex\" or a \"String\"");
    }
    if (behaviour && strcmp(behaviour, "Removed") == 0) {
        out->drop_matches = !invert;
        out->drop_others = invert;
    } else if (!behaviour || strcmp(behaviour, "Isolated") != 0) {
        return yk_fail(
            YK_ERROR_INPUT,
            "the behavior \"%.*s\" of Split is not supported; it must be \"Isolated\" or "
            "\"Removed\"",
            SHOWN_BYTES, behaviour ? behaviour : "");
    }
    return yk_regex_create(pattern_text, strlen(pattern_text), !expression, &out->pattern);
}

static yk_status read_stage(const struct yk_json *node, const char *type,
                            struct yk_pre_tokenizer *out)
{
    struct stage stage = {0};
    if (out->count > 0 && out->stages[out->count - 1].kind == KIND_BYTE_LEVEL) {
        return yk_fail(YK_ERROR_INPUT, "%.*s after ByteLevel is not supported", SHOWN_BYTES, type);
    }
    if (out->count == MAX_STAGES) {
        return yk_fail(YK_ERROR_INPUT, "a Sequence of more than %d", MAX_STAGES);
    }
    YK_TRY_GROW_ARRAY(out->stages, out->capacity, out->count);
    if (strcmp(type, "ByteLevel") == 0) {
        YK_TRY(read_byte_level(node, &stage));
    } else if (strcmp(type, "Split") == 0) {
        YK_TRY(read_split(node, &stage));
    } else if (strcmp(type, "BertPreTokenizer") == 0) {
        stage.kind = KIND_BERT;
    } else {
        return yk_fail(YK_ERROR_INPUT, "\"%.*s\" is not supported", SHOWN_BYTES, type);
    }
    out->stages[out->count++] = stage;
    return YK_OK;
}

static yk_status read_node(const struct yk_json *node, bool inside, struct yk_pre_tokenizer *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    if (strcmp(type, "Sequence") != 0) {
        return read_stage(node, type, out);
    }
    const struct yk_json *list = yk_json_get_member(node, "pretokenizers");
    if (inside || !yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, inside ? "a Sequence inside a Sequence is not supported"
                                              : "\"pretokenizers\" must be a list");
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        YK_TRY(read_node(yk_json_array_at(list, i), true, out));
    }
    return YK_OK;
}

yk_status yk_pre_tokenizer_from_json(const struct yk_json *node, struct yk_pre_tokenizer **out)
{
    struct yk_pre_tokenizer *made = calloc(1, sizeof *made);
    YK_TRY_ALLOCATED(made);
    if (node && !yk_json_is_null(node)) {
        YK_TRY_OR_CLEAN_UP(yk_status_prefix_message(read_node(node, false, made), "pre_tokenizer"),
                           yk_pre_tokenizer_destroy(made));
    }
    *out = made;
    return YK_OK;
}

bool yk_pre_tokenizer_is_byte_level(const struct yk_pre_tokenizer *pre_tokenizer)
{
    return pre_tokenizer->count > 0 &&
           pre_tokenizer->stages[pre_tokenizer->count - 1].kind == KIND_BYTE_LEVEL;
}

/* The state of one call. */
struct run {
    const struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_pre_tokenizer_workspace *workspace;
    yk_pre_tokenizer_callback callback;
    void *argument;
};

static yk_status run_stage(const struct run *run, int32_t index, const char *text, size_t length);

/* Passes a segment to the next stage, or from the last one to the callback. */
static inline yk_status pass_on(const struct run *run, int32_t index, const char *text,
                                size_t length)
{
    if (length == 0) {
        return YK_OK;
    }
    if (index + 1 < run->pre_tokenizer->count) {
        return run_stage(run, index + 1, text, length);
    }
    return run->callback(run->argument, text, length);
}

/* Splits at matches. An empty match directly after a match is skipped: the search continues at the
 * next character. Elsewhere an empty match splits the text. */
static yk_status run_pattern(const struct run *run, int32_t index, const char *text, size_t length)
{
    const struct stage *stage = &run->pre_tokenizer->stages[index];
    size_t from = 0;
    size_t done = 0; /* everything before was passed on */
    bool matched = false;
    while (from <= length) {
        bool found = false;
        size_t begin = 0;
        size_t end = 0;
        YK_TRY(yk_regex_find(stage->pattern, run->workspace->regex, text, length, from, &found,
                             &begin, &end));
        if (!found) {
            break;
        }
        if (begin == end && matched && end == done) {
            uint32_t character = 0;
            const size_t used = yk_utf8_decode(text + from, length - from, &character);
            from += used ? used : 1;
            continue;
        }
        if (!stage->drop_others) {
            YK_TRY(pass_on(run, index, text + done, begin - done));
        }
        if (!stage->drop_matches) {
            YK_TRY(pass_on(run, index, text + begin, end - begin));
        }
        from = end;
        done = end;
        matched = true;
    }
    return stage->drop_others ? YK_OK : pass_on(run, index, text + done, length - done);
}

enum part {
    PART_SPACE,
    PART_PUNCTUATION,
    PART_WORD
};

static enum part ascii_part(unsigned char c)
{
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
        return PART_SPACE;
    }
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c < ' ' || c == 0x7f;
    return word ? PART_WORD : PART_PUNCTUATION;
}

/* The class and the length of the first character. Bytes that are not UTF-8 count as letters. */
static enum part part_at(const char *text, size_t length, size_t *used)
{
    uint32_t character = 0;
    if ((unsigned char)text[0] < 0x80) {
        *used = 1;
        return ascii_part((unsigned char)text[0]);
    }
    *used = yk_utf8_decode(text, length, &character);
    if (*used == 0) {
        *used = 1;
        return PART_WORD;
    }
    if (yk_unicode_is_space(character)) {
        return PART_SPACE;
    }
    return yk_unicode_is_in_category(character, YK_UNICODE_PUNCTUATION) ? PART_PUNCTUATION
                                                                        : PART_WORD;
}

/* BertPreTokenizer: white space separates words and is removed; each punctuation character is a
 * word. */
static yk_status run_words(const struct run *run, int32_t index, const char *text, size_t length)
{
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        const size_t begin = at;
        const enum part part = part_at(text + at, length - at, &used);
        at += used;
        while (part == PART_WORD && at < length &&
               part_at(text + at, length - at, &used) == PART_WORD) {
            at += used;
        }
        if (part != PART_SPACE) {
            YK_TRY(pass_on(run, index, text + begin, at - begin));
        }
    }
    return YK_OK;
}

static yk_status run_stage(const struct run *run, int32_t index, const char *text, size_t length)
{
    const struct stage *stage = &run->pre_tokenizer->stages[index];
    if (stage->kind == KIND_BERT) {
        return run_words(run, index, text, length);
    }
    if (stage->prefix_space && text[0] != ' ') {
        struct yk_text *prefixed = &run->workspace->prefixed;
        prefixed->length = 0;
        yk_text_add_bytes(prefixed, " ", 1);
        yk_text_add_bytes(prefixed, text, length);
        YK_TRY(yk_text_status(prefixed));
        text = prefixed->bytes;
        length = prefixed->length;
    }
    return stage->pattern ? run_pattern(run, index, text, length)
                          : pass_on(run, index, text, length);
}

yk_status yk_pre_tokenizer_split(const struct yk_pre_tokenizer *pre_tokenizer,
                                 struct yk_pre_tokenizer_workspace *workspace, const char *text,
                                 size_t length, yk_pre_tokenizer_callback callback, void *argument)
{
    const struct run run = {.pre_tokenizer = pre_tokenizer,
                            .workspace = workspace,
                            .callback = callback,
                            .argument = argument};
    return pass_on(&run, -1, text, length);
}
