#include "tokenizer/pre_tokenizer.h"

#include "base/array.h"
#include "tokenizer/pre_tokenizers/stage.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STAGES = 64, /* stages call each other recursively */
    MAX_DEPTH = 16,  /* of nested sequences */
    SHOWN_BYTES = 60 /* of a name in messages */
};

struct yk_pre_tokenizer {
    struct yk_pre_tokenizer_stage *stages;
    int32_t count;
    int32_t capacity;
    bool makes_bytes;
    bool depends_on_start;
    int32_t part_stages; /* how many of the stages make parts; the others make words of them */
};

void yk_pre_tokenizer_destroy(struct yk_pre_tokenizer *pre_tokenizer)
{
    if (pre_tokenizer) {
        for (int32_t i = 0; i < pre_tokenizer->count; i++) {
            yk_regex_destroy(pre_tokenizer->stages[i].regex);
        }
        free(pre_tokenizer->stages);
        free(pre_tokenizer);
    }
}

static yk_status read_stage(const struct yk_json *node, const char *type,
                            struct yk_pre_tokenizer *out)
{
    static const struct yk_pre_tokenizer_stage_kind *const kinds[] = {
        &yk_pre_tokenizer_byte_level,       &yk_pre_tokenizer_split_stage,
        &yk_pre_tokenizer_digits,           &yk_pre_tokenizer_metaspace,
        &yk_pre_tokenizer_punctuation,      &yk_pre_tokenizer_whitespace,
        &yk_pre_tokenizer_whitespace_split, &yk_pre_tokenizer_delimiter,
        &yk_pre_tokenizer_unicode_scripts,  &yk_pre_tokenizer_bert,
        &yk_pre_tokenizer_fixed_length,
    };
    if (out->count == MAX_STAGES) {
        return yk_fail(YK_ERROR_INPUT, "a Sequence of more than %d", MAX_STAGES);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(type, kinds[i]->type) == 0) {
            YK_TRY_GROW_ARRAY(out->stages, out->capacity, out->count);
            struct yk_pre_tokenizer_stage *stage = &out->stages[out->count++];
            *stage = (struct yk_pre_tokenizer_stage){.kind = kinds[i], .scheme = YK_PREPEND_NEVER};
            YK_TRY(kinds[i]->read ? kinds[i]->read(node, stage) : YK_OK);
            out->depends_on_start |= stage->scheme == YK_PREPEND_FIRST;
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"%.*s\" is not supported; known are ByteLevel, Split, Digits, Metaspace, "
                   "Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, UnicodeScripts, "
                   "BertPreTokenizer, FixedLength and Sequence",
                   SHOWN_BYTES, type);
}

static yk_status read_node(const struct yk_json *node, int32_t depth, struct yk_pre_tokenizer *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    if (strcmp(type, "Sequence") != 0) {
        return read_stage(node, type, out);
    }
    const struct yk_json *list = yk_json_get_member(node, "pretokenizers");
    if (!yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"pretokenizers\" must be a list");
    }
    if (depth == MAX_DEPTH) {
        return yk_fail(YK_ERROR_INPUT, "more than %d pre-tokenizers inside each other", MAX_DEPTH);
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        YK_TRY(read_node(yk_json_array_at(list, i), depth + 1, out));
    }
    return YK_OK;
}

/* Whether a stage splits "a b" into "a" and something else, as a pattern for words does. */
static yk_status check_makes_words(const struct yk_pre_tokenizer_stage *stage,
                                   struct yk_regex_workspace *workspace, bool *out)
{
    static const char words[] = "a b";
    size_t begin = 0;
    size_t end = 0;
    *out = false;
    if (stage->regex) {
        YK_TRY(yk_regex_find(stage->regex, workspace, words, strlen(words), 0, out, &begin, &end));
        *out = *out && begin == 0 && end == 1;
    }
    return YK_OK;
}

/* The stages behind the first one that makes words run separately, if they have patterns, which
 * take time, and do not depend on more than the bytes of a part. */
static yk_status choose_part_stages(struct yk_pre_tokenizer *out)
{
    struct yk_regex_workspace *workspace = NULL;
    bool makes_words = false;
    bool has_patterns = false;
    int32_t count = 0;
    YK_TRY(yk_regex_workspace_create(&workspace));
    yk_status status = YK_OK;
    while (count < out->count && !makes_words && status == YK_OK) {
        status = check_makes_words(&out->stages[count++], workspace, &makes_words);
    }
    yk_regex_workspace_destroy(workspace);
    for (int32_t i = count; i < out->count; i++) {
        has_patterns |= out->stages[i].pattern.regex || out->stages[i].pattern.matches;
    }
    out->part_stages = has_patterns && !out->depends_on_start ? count : out->count;
    return status;
}

yk_status yk_pre_tokenizer_from_json(const struct yk_json *node, enum yk_byte_level_words words,
                                     struct yk_pre_tokenizer **out)
{
    struct yk_pre_tokenizer *made = calloc(1, sizeof *made);
    YK_TRY_ALLOCATED(made);
    if (node && !yk_json_is_null(node)) {
        YK_TRY_OR_CLEAN_UP(yk_status_prefix_message(read_node(node, 0, made), "pre_tokenizer"),
                           yk_pre_tokenizer_destroy(made));
    }
    YK_TRY_OR_CLEAN_UP(choose_part_stages(made), yk_pre_tokenizer_destroy(made));
    if (words == YK_BYTE_LEVEL_WORDS_AS_BYTES && yk_pre_tokenizer_is_byte_level(made)) {
        made->stages[made->count - 1].keep_bytes = true;
        made->makes_bytes = true;
    }
    *out = made;
    return YK_OK;
}

bool yk_pre_tokenizer_makes_bytes(const struct yk_pre_tokenizer *pre_tokenizer)
{
    return pre_tokenizer->makes_bytes;
}

bool yk_pre_tokenizer_is_byte_level(const struct yk_pre_tokenizer *pre_tokenizer)
{
    return pre_tokenizer->count > 0 &&
           pre_tokenizer->stages[pre_tokenizer->count - 1].kind == &yk_pre_tokenizer_byte_level;
}

bool yk_pre_tokenizer_depends_on_start(const struct yk_pre_tokenizer *pre_tokenizer)
{
    return pre_tokenizer->depends_on_start;
}

void yk_pre_tokenizer_workspace_free(struct yk_pre_tokenizer_workspace *workspace)
{
    for (size_t i = 0; workspace->buffers && i < (size_t)MAX_STAGES * YK_PRE_TOKENIZER_BUFFERS;
         i++) {
        yk_aligned_text_free(&workspace->buffers[i]);
    }
    free(workspace->buffers);
    workspace->buffers = NULL;
}

/* The state of one call. */
struct run {
    const struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_pre_tokenizer_workspace *workspace;
    yk_pre_tokenizer_callback callback;
    void *argument;
    int32_t end; /* of the stages that run */
    bool tracked;
};

static yk_status emit_to_next(const struct yk_pre_tokenizer_context *context,
                              const struct yk_aligned_segment *segment);

static yk_status run_stage(const struct run *run, int32_t index,
                           const struct yk_aligned_segment *segment)
{
    const struct yk_pre_tokenizer_stage *stage = &run->pre_tokenizer->stages[index];
    const struct yk_pre_tokenizer_context context = {
        .regex = run->workspace->regex,
        .buffers = run->workspace->buffers + (size_t)index * YK_PRE_TOKENIZER_BUFFERS,
        .tracked = run->tracked,
        .emit = emit_to_next,
        .argument = run,
        .index = index,
    };
    return stage->kind->run(stage, &context, segment);
}

/* Passes a segment to the next stage, or from the last one to the callback. */
static yk_status emit_to_next(const struct yk_pre_tokenizer_context *context,
                              const struct yk_aligned_segment *segment)
{
    const struct run *run = context->argument;
    return context->index + 1 < run->end ? run_stage(run, context->index + 1, segment)
                                         : run->callback(run->argument, segment);
}

/* Runs the stages from `begin` to `end`. */
static yk_status run_stages(const struct yk_pre_tokenizer *pre_tokenizer,
                            struct yk_pre_tokenizer_workspace *workspace, int32_t begin,
                            int32_t end, const struct yk_aligned_segment *segment,
                            yk_pre_tokenizer_callback callback, void *argument)
{
    const struct run run = {.pre_tokenizer = pre_tokenizer,
                            .workspace = workspace,
                            .callback = callback,
                            .argument = argument,
                            .end = end,
                            .tracked = segment->origins != NULL};
    if (segment->length == 0) {
        return YK_OK;
    }
    if (begin == end) {
        return callback(argument, segment);
    }
    if (!workspace->buffers) {
        workspace->buffers =
            calloc((size_t)MAX_STAGES * YK_PRE_TOKENIZER_BUFFERS, sizeof *workspace->buffers);
        YK_TRY_ALLOCATED(workspace->buffers);
    }
    return run_stage(&run, begin, segment);
}

yk_status yk_pre_tokenizer_split(const struct yk_pre_tokenizer *pre_tokenizer,
                                 struct yk_pre_tokenizer_workspace *workspace,
                                 const struct yk_aligned_segment *segment,
                                 yk_pre_tokenizer_callback callback, void *argument)
{
    return run_stages(pre_tokenizer, workspace, 0, pre_tokenizer->count, segment, callback,
                      argument);
}

yk_status yk_pre_tokenizer_split_into_parts(const struct yk_pre_tokenizer *pre_tokenizer,
                                            struct yk_pre_tokenizer_workspace *workspace,
                                            const struct yk_aligned_segment *segment,
                                            yk_pre_tokenizer_callback callback, void *argument)
{
    return run_stages(pre_tokenizer, workspace, 0, pre_tokenizer->part_stages, segment, callback,
                      argument);
}

yk_status yk_pre_tokenizer_split_part(const struct yk_pre_tokenizer *pre_tokenizer,
                                      struct yk_pre_tokenizer_workspace *workspace,
                                      const struct yk_aligned_segment *part,
                                      yk_pre_tokenizer_callback callback, void *argument)
{
    return run_stages(pre_tokenizer, workspace, pre_tokenizer->part_stages, pre_tokenizer->count,
                      part, callback, argument);
}

bool yk_pre_tokenizer_has_parts(const struct yk_pre_tokenizer *pre_tokenizer)
{
    return pre_tokenizer->part_stages < pre_tokenizer->count;
}
