#include "tokenizer/models/bpe_trainer.h"

#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES = 256,
    STEPS_BETWEEN_CHECKS = 1 << 14
};

/* A word, as a range of the learner's `ids`. */
struct word {
    size_t start;
    size_t length;
    int64_t times;
};

struct learner {
    struct yk_bpe_pair_queue *queue;
    struct yk_token_map *tokens;
    struct word *words;
    int32_t *ids;
    int32_t of_byte[BYTES]; /* the token of a byte */
    struct yk_token_pair *rules;
    int32_t rule_count;
    int32_t rule_capacity;
    const atomic_bool *stop; /* or NULL */
    uint32_t steps;          /* since the last check of `stop` */
};

/* Called for every token that is visited. */
static inline yk_status check_stop(struct learner *learner)
{
    const bool check = ++learner->steps % STEPS_BETWEEN_CHECKS == 0 && learner->stop;
    return check && atomic_load(learner->stop)
               ? yk_fail(YK_ERROR_STOPPED, "stopped while a tokenizer was learned")
               : YK_OK;
}

static yk_status add_specials(struct learner *learner, const struct yk_bpe_trainer_options *options)
{
    for (int32_t i = 0; i < options->special_count; i++) {
        const char *name = options->specials[i];
        if (name[0] == '\0') {
            return yk_fail(YK_ERROR_INPUT, "a special token without a name");
        }
        if (yk_token_map_find_id(learner->tokens, name, strlen(name)) >= 0) {
            return yk_fail(YK_ERROR_INPUT, "the special token %s is there twice", name);
        }
        YK_TRY(yk_token_map_add(learner->tokens, name, strlen(name), i));
    }
    return YK_OK;
}

static int compare_letters(const void *a, const void *b)
{
    return yk_number_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Adds the 256 byte characters in the order of their code points. One may already be a special
 * token. */
static yk_status add_letters(struct learner *learner)
{
    uint32_t letters[BYTES];
    for (int byte = 0; byte < BYTES; byte++) {
        letters[byte] = yk_byte_level_character_of_byte((unsigned char)byte);
    }
    qsort(letters, BYTES, sizeof letters[0], compare_letters);
    for (int i = 0; i < BYTES; i++) {
        char bytes[YK_UTF8_MAX_BYTES];
        const size_t length = yk_utf8_encode(letters[i], bytes);
        int32_t id = yk_token_map_find_id(learner->tokens, bytes, length);
        if (id < 0) {
            id = yk_token_map_count(learner->tokens);
            YK_TRY(yk_token_map_add(learner->tokens, bytes, length, id));
        }
        learner->of_byte[yk_byte_level_byte_of_character(letters[i])] = id;
    }
    return YK_OK;
}

static yk_status add_words(struct learner *learner, const struct yk_word_counts *words)
{
    const int32_t count = yk_word_counts_distinct_count(words);
    size_t bytes = 0;
    for (int32_t i = 0; i < count; i++) {
        bytes += yk_word_counts_get_word(words, i).length;
    }
    learner->words = calloc((size_t)count + 1, sizeof *learner->words);
    learner->ids = calloc(bytes + 1, sizeof *learner->ids);
    YK_TRY_ALLOCATED(learner->words && learner->ids);
    size_t start = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct yk_word_count word = yk_word_counts_get_word(words, i);
        int32_t *ids = learner->ids + start;
        for (size_t k = 0; k < word.length; k++) {
            ids[k] = learner->of_byte[(unsigned char)word.word[k]];
        }
        for (size_t k = 1; k < word.length; k++) {
            const struct yk_token_pair pair = {.left = ids[k - 1], .right = ids[k]};
            YK_TRY(check_stop(learner));
            YK_TRY(yk_bpe_pair_queue_add_count(learner->queue, pair, word.times, i));
        }
        learner->words[i] =
            (struct word){.start = start, .length = word.length, .times = word.times};
        start += word.length;
    }
    return yk_bpe_pair_queue_flush(learner->queue);
}

/* Adds the token that a pair is merged into, unless another pair was merged into the same token. */
static yk_status add_merged_token(struct yk_token_map *tokens, struct yk_token_pair pair,
                                  int32_t *out)
{
    struct yk_text merged = {0};
    size_t left_length = 0;
    size_t right_length = 0;
    const char *left = yk_token_map_get_token(tokens, pair.left, &left_length);
    const char *right = yk_token_map_get_token(tokens, pair.right, &right_length);
    yk_text_add_bytes(&merged, left, left_length);
    yk_text_add_bytes(&merged, right, right_length);
    yk_status status = yk_text_status(&merged);
    if (status == YK_OK) {
        *out = yk_token_map_find_id(tokens, merged.bytes, merged.length);
        if (*out < 0) {
            *out = yk_token_map_count(tokens);
            status = yk_token_map_add(tokens, merged.bytes, merged.length, *out);
        }
    }
    yk_text_free(&merged);
    return status;
}

/*
 * Merges the pair in a word, from the left, and reports to the queue which neighbours there are no
 * longer and which there are now. The count of the pair itself stays: it is not used again,
 * unless another pair becomes one of its two tokens; that it then counts from there is BpeTrainer's
 * way.
 */
static yk_status merge_in_word(struct learner *learner, struct yk_token_pair pair, int32_t merged,
                               int32_t index)
{
    struct word *word = &learner->words[index];
    struct yk_bpe_pair_queue *queue = learner->queue;
    int32_t *ids = learner->ids + word->start;
    size_t kept = 0;
    for (size_t i = 0; i < word->length; kept++) {
        YK_TRY(check_stop(learner));
        if (ids[i] != pair.left || i + 1 >= word->length || ids[i + 1] != pair.right) {
            ids[kept] = ids[i];
            i++;
            continue;
        }
        if (kept > 0) {
            const int32_t before = ids[kept - 1];
            YK_TRY(yk_bpe_pair_queue_add_count(queue, (struct yk_token_pair){before, pair.left},
                                               -word->times, index));
            YK_TRY(yk_bpe_pair_queue_add_count(queue, (struct yk_token_pair){before, merged},
                                               word->times, index));
        }
        if (i + 2 < word->length) {
            const int32_t behind = ids[i + 2];
            YK_TRY(yk_bpe_pair_queue_add_count(queue, (struct yk_token_pair){pair.right, behind},
                                               -word->times, index));
            YK_TRY(yk_bpe_pair_queue_add_count(queue, (struct yk_token_pair){merged, behind},
                                               word->times, index));
        }
        ids[kept] = merged;
        i += 2;
    }
    word->length = kept;
    return YK_OK;
}

static yk_status apply(struct learner *learner, const struct yk_bpe_pair_queue_top *top)
{
    int32_t merged = 0;
    YK_TRY(add_merged_token(learner->tokens, top->pair, &merged));
    YK_TRY_GROW_ARRAY(learner->rules, learner->rule_capacity, learner->rule_count);
    learner->rules[learner->rule_count++] = top->pair;
    for (int32_t i = 0; i < top->word_count; i++) {
        YK_TRY(merge_in_word(learner, top->pair, merged, top->words[i]));
    }
    return yk_bpe_pair_queue_flush(learner->queue);
}

static yk_status learn_rules(struct learner *learner, const struct yk_bpe_trainer_options *options)
{
    while (yk_token_map_count(learner->tokens) < options->token_count) {
        struct yk_bpe_pair_queue_top top = {0};
        if (!yk_bpe_pair_queue_pop(learner->queue, &top)) {
            break;
        }
        const bool enough = top.times >= 1 && top.times >= options->min_times;
        const yk_status status = enough ? apply(learner, &top) : YK_OK;
        free(top.words);
        YK_TRY(status);
        if (!enough) {
            break;
        }
    }
    return YK_OK;
}

struct numbered {
    struct yk_token_pair rule;
    int32_t rank;
};

/* By pair; of equal pairs the last one first. */
static int compare_pairs(const void *a, const void *b)
{
    const struct numbered *left = a;
    const struct numbered *right = b;
    const int by_left = yk_number_compare(left->rule.left, right->rule.left);
    const int by_right = yk_number_compare(left->rule.right, right->rule.right);
    return by_left ? by_left : by_right ? by_right : yk_number_compare(right->rank, left->rank);
}

/* A pair may be merged twice if one of its tokens was made by another merge in between. The last
 * rule is kept. */
static yk_status drop_repeated(struct learner *learner)
{
    const size_t count = (size_t)learner->rule_count;
    struct numbered *sorted = malloc((count + 1) * sizeof *sorted);
    YK_TRY_ALLOCATED(sorted);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (struct numbered){.rule = learner->rules[i], .rank = (int32_t)i};
    }
    qsort(sorted, count, sizeof *sorted, compare_pairs);
    for (size_t i = 1; i < count; i++) {
        if (sorted[i].rule.left == sorted[i - 1].rule.left &&
            sorted[i].rule.right == sorted[i - 1].rule.right) {
            learner->rules[sorted[i].rank].left = -1;
        }
    }
    free(sorted);
    int32_t kept = 0;
    for (int32_t i = 0; i < learner->rule_count; i++) {
        if (learner->rules[i].left >= 0) {
            learner->rules[kept++] = learner->rules[i];
        }
    }
    learner->rule_count = kept;
    return YK_OK;
}

static yk_status learn(struct learner *learner, const struct yk_bpe_trainer_options *options)
{
    if (options->token_count < options->special_count + BYTES ||
        options->token_count > YK_TOKEN_MAP_MAX_TOKENS) {
        return yk_fail(YK_ERROR_INPUT,
                       "%" PRId32 " tokens; there must be %" PRId32 " to %d: one for each of the "
                       "256 bytes, %" PRId32 " special ones, and what is learned",
                       options->token_count, options->special_count + BYTES,
                       YK_TOKEN_MAP_MAX_TOKENS, options->special_count);
    }
    YK_TRY(yk_token_map_create(&learner->tokens));
    YK_TRY(yk_bpe_pair_queue_create(&learner->queue));
    YK_TRY(add_specials(learner, options));
    YK_TRY(add_letters(learner));
    YK_TRY(add_words(learner, options->words));
    YK_TRY(learn_rules(learner, options));
    return drop_repeated(learner);
}

yk_status yk_bpe_trainer_train(const struct yk_bpe_trainer_options *options,
                               struct yk_bpe_trainer_result *out)
{
    struct learner learner = {.stop = options->stop};
    const yk_status status = learn(&learner, options);
    yk_bpe_pair_queue_destroy(learner.queue);
    free(learner.words);
    free(learner.ids);
    if (status != YK_OK) {
        yk_token_map_destroy(learner.tokens);
        free(learner.rules);
        return status;
    }
    *out = (struct yk_bpe_trainer_result){
        .tokens = learner.tokens,
        .rules = learner.rules,
        .rule_count = learner.rule_count,
    };
    return YK_OK;
}

void yk_bpe_trainer_result_free(struct yk_bpe_trainer_result *result)
{
    yk_token_map_destroy(result->tokens);
    free(result->rules);
    *result = (struct yk_bpe_trainer_result){0};
}
