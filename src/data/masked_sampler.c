#include "data/masked_sampler.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    FRAME = 2 /* [CLS] and [SEP] */
};

/* A token that is not special has a random number in [0, 1). Below masked_part it becomes [MASK],
 * below random_part a random token, below chosen_part it is chosen but stays. */
static const double masked_part = 0.15 * 0.8;
static const double random_part = 0.15 * 0.9;
static const double chosen_part = 0.15;

static const uint64_t evaluation_seed = 0x6d61736b; /* any fixed number */

struct masked_sampler {
    struct yk_sampler base;
    struct yk_masked_sampler_request request;
    struct yk_sampler_window_layout windows; /* without [CLS] and [SEP] */
    uint64_t seed;                           /* of the masks */
};

static bool is_special(const struct yk_masked_sampler_token_ids *tokens, int32_t id)
{
    for (int32_t i = 0; i < tokens->special_count; i++) {
        if (tokens->special[i] == id) {
            return true;
        }
    }
    return false;
}

static double unit_of(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* A number in [0, count). The bias is negligible because count is much smaller than 2^32. */
static int64_t below(uint64_t bits, int64_t count)
{
    return (int64_t)(((bits >> 32) * (uint64_t)count) >> 32);
}

/* A random token that is not special: draws a number among the ordinary tokens and skips the
 * special ids below it. */
static int32_t any_token(const struct yk_masked_sampler_token_ids *tokens, uint64_t bits)
{
    int32_t id = (int32_t)below(bits, tokens->count - tokens->special_count);
    for (int32_t i = 0; i < tokens->special_count && tokens->special[i] <= id; i++) {
        id++;
    }
    return id;
}

/* Replaces a chosen token according to its random number, which is below `chosen_part`. */
static void replace(const struct yk_masked_sampler_token_ids *tokens, double number, uint64_t bits,
                    int32_t *token)
{
    if (number < masked_part) {
        *token = tokens->mask_id;
    } else if (number < random_part) {
        *token = any_token(tokens, bits);
    }
}

/* Masks `count` tokens of the corpus. Each position has two random numbers: whether it is chosen,
 * and the token that may replace it. */
static void mask(const struct yk_masked_sampler_token_ids *tokens, uint64_t key, int64_t count,
                 int32_t *row, int32_t *targets)
{
    int64_t ordinary = 0;
    bool chosen = false;
    for (int64_t i = 0; i < count; i++) {
        targets[i] = YK_SAMPLER_NO_TARGET;
        if (is_special(tokens, row[i])) {
            continue;
        }
        ordinary++;
        const double number = unit_of(yk_sampler_hash_seed_and_number(key, 2 * (uint64_t)i));
        if (number < chosen_part) {
            targets[i] = row[i];
            replace(tokens, number, yk_sampler_hash_seed_and_number(key, 2 * (uint64_t)i + 1),
                    &row[i]);
            chosen = true;
        }
    }
    if (chosen || ordinary == 0) {
        return;
    }
    /* No token was chosen: choose one of the ordinary tokens at random. */
    const uint64_t behind = 2 * (uint64_t)count;
    int64_t left = below(yk_sampler_hash_seed_and_number(key, behind), ordinary);
    for (int64_t i = 0; i < count; i++) {
        if (!is_special(tokens, row[i]) && left-- == 0) {
            const double number =
                unit_of(yk_sampler_hash_seed_and_number(key, behind + 1)) * chosen_part;
            targets[i] = row[i];
            replace(tokens, number, yk_sampler_hash_seed_and_number(key, behind + 2), &row[i]);
            return;
        }
    }
}

/* [CLS] and [SEP] count as tokens of the sample. */
static yk_status fetch_sample(const struct yk_sampler *base, int64_t number, int32_t *row,
                              int32_t *targets, int64_t *out)
{
    const struct masked_sampler *sampler = (const struct masked_sampler *)base;
    const int64_t T = base->sequence;
    const struct yk_corpus_range *range = &sampler->request.range;
    const struct yk_masked_sampler_token_ids *tokens = &sampler->request.tokens;
    const int64_t first = yk_sampler_window_layout_window_start(&sampler->windows, number);
    const int64_t left = range->count - first;
    const int64_t inside = left < T - FRAME ? left : T - FRAME;
    const int64_t sample =
        sampler->windows.sequential ? number % sampler->base.epoch_units : number;
    const uint64_t key = yk_sampler_hash_seed_and_number(~sampler->seed, (uint64_t)sample);
    YK_TRY(yk_corpus_read_tokens(range->corpus, range->first + first, inside, row + 1));
    mask(tokens, key, inside, row + 1, targets + 1);
    row[0] = tokens->class_id;
    row[inside + 1] = tokens->separator_id;
    targets[0] = YK_SAMPLER_NO_TARGET;
    targets[inside + 1] = YK_SAMPLER_NO_TARGET;
    *out = inside + FRAME;
    yk_number_fill_int32_array(row + *out, T - *out, tokens->pad_id);
    yk_number_fill_int32_array(targets + *out, T - *out, YK_SAMPLER_NO_TARGET);
    return YK_OK;
}

static const struct yk_sampler_callbacks masked_kind = {.fetch_sample = fetch_sample};

static yk_status check(const struct yk_masked_sampler_request *request)
{
    const struct yk_masked_sampler_token_ids *tokens = &request->tokens;
    const int64_t T = request->options.sequence;
    const bool sequential = request->options.sequential;
    const int64_t min_tokens = sequential ? 1 : T - FRAME;
    assert(tokens->count > tokens->special_count);
    for (int32_t i = 1; i < tokens->special_count; i++) {
        assert(tokens->special[i - 1] < tokens->special[i]);
    }
    if (T <= FRAME || T > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT,
                       "a context of %" PRId64
                       " tokens; it must be at least 3, of which two frame the text",
                       T);
    }
    if (request->range.count < min_tokens) {
        return yk_fail(YK_ERROR_INPUT,
                       "there are %" PRId64 " tokens to %s on, but a context of %" PRId64
                       " needs at least %" PRId64 "; use a longer text or a shorter context",
                       request->range.count, sequential ? "evaluate" : "train", T, min_tokens);
    }
    return YK_OK;
}

yk_status yk_masked_sampler_create(const struct yk_masked_sampler_request *request,
                                   struct yk_sampler **out)
{
    const struct yk_sampler_options *options = &request->options;
    YK_TRY(check(request));
    struct masked_sampler *sampler = calloc(1, sizeof *sampler);
    YK_TRY_ALLOCATED(sampler);
    sampler->request = *request;
    sampler->seed = options->sequential ? evaluation_seed : options->seed;
    sampler->windows =
        yk_sampler_window_layout_make(request->range.count, options->sequence - FRAME, options);
    sampler->base = (struct yk_sampler){
        .kind = &masked_kind,
        .epoch_units = sampler->windows.count,
        .sequence = options->sequence,
    };
    *out = &sampler->base;
    return YK_OK;
}

/* Inserts an id into the sorted list of special ids, unless it is there. */
static void add_special(struct yk_masked_sampler_token_ids *tokens, int32_t id)
{
    int32_t place = tokens->special_count;
    if (id < 0 || is_special(tokens, id)) {
        return;
    }
    while (place > 0 && tokens->special[place - 1] > id) {
        tokens->special[place] = tokens->special[place - 1];
        place--;
    }
    tokens->special[place] = id;
    tokens->special_count++;
}

yk_status yk_masked_sampler_find_token_ids(const struct yk_tokenizer *tokenizer,
                                           struct yk_masked_sampler_token_ids *out)
{
    static const struct {
        enum yk_token_role role;
        const char *name;
    } needed[] = {
        {YK_TOKEN_CLASS, "[CLS]"}, {YK_TOKEN_SEPARATOR, "[SEP]"}, {YK_TOKEN_MASK, "[MASK]"}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (yk_tokenizer_find_role_id(tokenizer, needed[i].role) < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "the tokenizer has no token %s, which masked training needs; use one "
                           "that was made for BERT",
                           needed[i].name);
        }
    }
    struct yk_masked_sampler_token_ids tokens = {
        .class_id = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_CLASS),
        .separator_id = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_SEPARATOR),
        .mask_id = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_MASK),
        .pad_id = yk_tokenizer_padding_id_or_zero(tokenizer),
        .count = yk_tokenizer_vocabulary_size(tokenizer),
    };
    for (int role = 0; role < YK_TOKEN_ROLE_COUNT; role++) {
        add_special(&tokens, yk_tokenizer_find_role_id(tokenizer, (enum yk_token_role)role));
    }
    if (tokens.count <= tokens.special_count) {
        return yk_fail(YK_ERROR_INPUT, "the tokenizer has special tokens alone, and none to mask");
    }
    *out = tokens;
    return YK_OK;
}
