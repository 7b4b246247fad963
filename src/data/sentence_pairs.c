#include "data/sentence_pairs.h"

#include "base/number.h"
#include "data/lines.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/tokenizer_encoder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One of the two input files. */
struct side {
    const char *path;
    struct yk_lines *lines;
    struct yk_tokenizer_encoder *encoder;
    int32_t end_id;
};

void yk_sentence_pairs_close(struct yk_sentence_pairs *pairs)
{
    if (pairs) {
        yk_token_ids_free(&pairs->ids);
        free(pairs->starts);
        free(pairs->lines);
        free(pairs);
    }
}

static yk_status open_side(const char *path, const struct yk_tokenizer *tokenizer,
                           struct side *side)
{
    side->path = path;
    side->end_id = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_END);
    if (side->end_id < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: the tokenizer has no token that ends a sentence, such as \"</s>\"; use "
                       "one that has",
                       path);
    }
    YK_TRY(yk_lines_read_file(path, &side->lines));
    return yk_tokenizer_encoder_create(tokenizer, &side->encoder);
}

static void close_side(struct side *side)
{
    yk_lines_destroy(side->lines);
    yk_tokenizer_encoder_destroy(side->encoder);
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\f\v")] == '\0';
}

/* Adds the tokens of a line and an end token. */
static yk_status encode(struct side *side, int64_t number, struct yk_token_ids *out)
{
    const char *line = side->lines->items[number];
    struct yk_text place = {0};
    if (is_blank(line)) {
        return YK_OK;
    }
    const int64_t before = out->count;
    yk_text_addf(&place, "%s:%" PRId64, side->path, number + 1);
    yk_status status = yk_text_status(&place);
    YK_IF_OK(yk_tokenizer_encoder_encode(side->encoder, line, side->lines->lengths[number],
                                         yk_text_chars(&place), YK_ADD_SPECIAL_TOKENS_NO, out));
    yk_text_free(&place);
    YK_TRY(status);
    if (out->count > before) {
        yk_token_ids_add(out, side->end_id);
    }
    return yk_token_ids_status(out);
}

static yk_status check_count(const struct side *side, int64_t number, int64_t count,
                             int64_t longest)
{
    if (count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s:%" PRId64 ": an empty line; write its sentence, or leave such lines out "
                       "by --faulty skip",
                       side->path, number + 1);
    }
    if (count > longest) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s:%" PRId64 ": %" PRId64 " tokens, but there may be %" PRId64
                       " at most; shorten it, or leave such lines out by --faulty skip",
                       side->path, number + 1, count, longest);
    }
    return YK_OK;
}

/* Adds pair `number`, or skips it if it is faulty. */
static yk_status add_pair(struct yk_sentence_pairs *pairs,
                          const struct yk_sentence_pairs_request *request, struct side *source,
                          struct side *target, int64_t number)
{
    const int64_t before = pairs->ids.count;
    YK_TRY(encode(source, number, &pairs->ids));
    const int64_t middle = pairs->ids.count;
    YK_TRY(encode(target, number, &pairs->ids));
    yk_status fault = check_count(source, number, middle - before, request->longest);
    if (fault == YK_OK) {
        fault = check_count(target, number, pairs->ids.count - middle, request->longest);
    }
    if (fault != YK_OK) {
        pairs->ids.count = before;
        pairs->skipped++;
        return request->skip_faulty ? YK_OK : fault;
    }
    pairs->starts[2 * pairs->count + 1] = middle;
    pairs->starts[2 * pairs->count + 2] = pairs->ids.count;
    pairs->lines[pairs->count] = number + 1;
    pairs->count++;
    return YK_OK;
}

/* Fails because lines `first` to `end` contain no usable pair. */
static yk_status fail_empty(const struct yk_sentence_pairs *pairs, const struct side *source,
                            const struct side *target, int64_t first, int64_t end)
{
    const int64_t count = source->lines->count;
    if (end - first < count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s and %s hold no pair to %s in lines %" PRId64 " to %" PRId64
                       " of %" PRId64 ": %" PRId64 " are faulty",
                       source->path, target->path, first > 0 ? "test with" : "learn from",
                       first + 1, end, count, pairs->skipped);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s and %s hold no pair to learn from: of %" PRId64 " lines, %" PRId64
                   " are faulty",
                   source->path, target->path, count, pairs->skipped);
}

static yk_status fill(struct yk_sentence_pairs *pairs,
                      const struct yk_sentence_pairs_request *request, struct side *source,
                      struct side *target)
{
    const int64_t count = source->lines->count;
    if (count != target->lines->count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has %" PRId64 " lines, but %s has %" PRId64
                       "; each line of one must translate the same line of the other",
                       source->path, count, target->path, target->lines->count);
    }
    pairs->starts = calloc(2 * (size_t)count + 1, sizeof *pairs->starts);
    pairs->lines = calloc((size_t)count + 1, sizeof *pairs->lines);
    YK_TRY_ALLOCATED(pairs->starts && pairs->lines);
    const int64_t first = yk_lines_index_at_fraction(count, request->from);
    const int64_t end =
        request->until > 0 ? yk_lines_index_at_fraction(count, request->until) : count;
    for (int64_t i = first; i < end; i++) {
        YK_TRY(add_pair(pairs, request, source, target, i));
    }
    if (pairs->count == 0 && (request->from == 0 || end > first)) {
        return fail_empty(pairs, source, target, first, end);
    }
    return YK_OK;
}

yk_status yk_sentence_pairs_open(const struct yk_sentence_pairs_request *request,
                                 struct yk_sentence_pairs **out)
{
    assert(request->longest > 1 && request->longest <= INT32_MAX && request->start_id >= 0);
    struct side source = {0};
    struct side target = {0};
    struct yk_sentence_pairs *pairs = calloc(1, sizeof *pairs);
    YK_TRY_ALLOCATED(pairs);
    pairs->start_id = request->start_id;
    pairs->source_padding_id = yk_tokenizer_padding_id_or_zero(request->source_tokenizer);
    pairs->target_padding_id = yk_tokenizer_padding_id_or_zero(request->target_tokenizer);
    yk_status status = open_side(request->source_path, request->source_tokenizer, &source);
    YK_IF_OK(open_side(request->target_path, request->target_tokenizer, &target));
    YK_IF_OK(fill(pairs, request, &source, &target));
    close_side(&source);
    close_side(&target);
    YK_TRY_OR_CLEAN_UP(status, yk_sentence_pairs_close(pairs));
    *out = pairs;
    return YK_OK;
}

struct yk_sentence_pair yk_sentence_pairs_at(const struct yk_sentence_pairs *pairs, int64_t index)
{
    assert(index >= 0 && index < pairs->count);
    const int64_t *starts = pairs->starts + 2 * index;
    return (struct yk_sentence_pair){
        .source = pairs->ids.items + starts[0],
        .source_count = starts[1] - starts[0],
        .target = pairs->ids.items + starts[1],
        .target_count = starts[2] - starts[1],
        .line = pairs->lines[index],
    };
}

struct yk_sentence_pair_totals
yk_sentence_pairs_compute_totals(const struct yk_sentence_pairs *pairs)
{
    struct yk_sentence_pair_totals totals = {.pairs = pairs->count, .skipped = pairs->skipped};
    for (int64_t i = 0; i < pairs->count; i++) {
        const struct yk_sentence_pair pair = yk_sentence_pairs_at(pairs, i);
        totals.source_tokens += pair.source_count;
        totals.target_tokens += pair.target_count;
        totals.longest_source = yk_number_max(totals.longest_source, pair.source_count);
        totals.longest_target = yk_number_max(totals.longest_target, pair.target_count);
    }
    return totals;
}

void yk_sentence_pairs_describe(const struct yk_sentence_pairs *pairs, struct yk_text *out)
{
    const struct yk_sentence_pair_totals totals = yk_sentence_pairs_compute_totals(pairs);
    yk_text_addf(out, "%" PRId64 " pairs, %" PRId64 " + %" PRId64 " tokens, %" PRId64 " left out",
                 totals.pairs, totals.source_tokens, totals.target_tokens, totals.skipped);
}
