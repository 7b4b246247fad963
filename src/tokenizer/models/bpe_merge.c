#include "tokenizer/models/bpe.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Open addressing, at most half full. */
struct slot {
    uint64_t pair; /* left id in the upper half, right id in the lower half */
    struct yk_bpe_merge_rank_and_id merge;
};

#define NO_PAIR UINT64_MAX /* ids are not negative */

enum {
    WORD_BITS = 64,
    LOG_FILTER_BITS = 3 /* 2³ bits for each slot */
};

struct yk_bpe_merge_table {
    struct slot *slots;
    int shift; /* 64 - log2(number of slots) */
    uint64_t mask;
    /* Bits, set for the hash of each pair in the table. Most pairs of neighbours are in no rule;
     * for most of those the filter shows it, which a processor's cache has room for. */
    uint64_t *filter;
};

yk_status yk_bpe_merge_table_create(int32_t count, struct yk_bpe_merge_table **out)
{
    int logarithm = 4;
    while ((INT64_C(1) << logarithm) < 2 * (int64_t)count) {
        logarithm++;
    }
    struct yk_bpe_merge_table *merges = calloc(1, sizeof *merges);
    YK_TRY_ALLOCATED(merges);
    const size_t slots = (size_t)1 << logarithm;
    merges->slots = malloc(slots * sizeof *merges->slots);
    merges->filter = calloc((slots << LOG_FILTER_BITS) / WORD_BITS, sizeof *merges->filter);
    if (!merges->slots || !merges->filter) {
        yk_bpe_merge_table_destroy(merges);
        return yk_fail_out_of_memory();
    }
    for (size_t i = 0; i < slots; i++) {
        merges->slots[i] = (struct slot){.pair = NO_PAIR};
    }
    merges->shift = 64 - logarithm;
    merges->mask = slots - 1;
    *out = merges;
    return YK_OK;
}

void yk_bpe_merge_table_destroy(struct yk_bpe_merge_table *merges)
{
    if (merges) {
        free(merges->slots);
        free(merges->filter);
        free(merges);
    }
}

static uint64_t pair_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

/* 2⁶⁴ over the golden ratio (Knuth): the upper bits depend on all lower ones. The lower half holds
 * the right id alone, so the upper one is folded in first. */
static uint64_t hash_of(uint64_t pair)
{
    return (pair ^ pair >> 29) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct slot *seek(const struct yk_bpe_merge_table *merges, uint64_t pair, uint64_t hash)
{
    uint64_t at = hash >> merges->shift;
    while (merges->slots[at].pair != pair && merges->slots[at].pair != NO_PAIR) {
        at = (at + 1) & merges->mask;
    }
    return &merges->slots[at];
}

void yk_bpe_merge_table_add(struct yk_bpe_merge_table *merges, int32_t left, int32_t right,
                            struct yk_bpe_merge_rank_and_id merge)
{
    const uint64_t pair = pair_of(left, right);
    const uint64_t hash = hash_of(pair);
    const uint64_t bit = hash >> (merges->shift - LOG_FILTER_BITS);
    merges->filter[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
    *seek(merges, pair, hash) = (struct slot){.pair = pair, .merge = merge};
}

/* The merge of a pair, or NULL if there is no rule for it. */
static const struct yk_bpe_merge_rank_and_id *find(const struct yk_bpe_merge_table *merges,
                                                   int32_t left, int32_t right)
{
    const uint64_t pair = pair_of(left, right);
    const uint64_t hash = hash_of(pair);
    const uint64_t bit = hash >> (merges->shift - LOG_FILTER_BITS);
    if (!(merges->filter[bit / WORD_BITS] >> bit % WORD_BITS & 1)) {
        return NULL;
    }
    const struct slot *slot = seek(merges, pair, hash);
    return slot->pair == NO_PAIR ? NULL : &slot->merge;
}

enum {
    SHORT = 32, /* up to this many tokens, scanning all pairs is faster than a heap */
    STEPS_BETWEEN_CHECKS = 1 << 14
};

struct yk_bpe_symbol {
    int32_t id; /* -1 means: merged into the previous symbol */
    int32_t before;
    int32_t after; /* -1 means: none */
    int32_t length;
};

struct yk_bpe_merge_candidate {
    int32_t rank;
    int32_t place; /* of the left token */
    int32_t id;    /* of the merged token */
};

void yk_bpe_merge_word_free(struct yk_bpe_word *word)
{
    free(word->ids);
    free(word->lengths);
    free(word->symbols);
    free(word->steps);
    *word = (struct yk_bpe_word){0};
}

yk_status yk_bpe_merge_word_check_length(size_t length)
{
    return length <= YK_BPE_WORD_MAX_BYTES
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "a word of %zu bytes, where at most %d are supported",
                         length, YK_BPE_WORD_MAX_BYTES);
}

yk_status yk_bpe_merge_word_resize(struct yk_bpe_word *word, size_t count)
{
    YK_TRY(yk_bpe_merge_word_check_length(count));
    if ((int32_t)count > word->capacity) {
        const size_t capacity = count < SHORT ? SHORT : count;
        int32_t *ids = realloc(word->ids, capacity * sizeof *ids);
        YK_TRY_ALLOCATED(ids);
        word->ids = ids;
        int32_t *lengths = realloc(word->lengths, capacity * sizeof *lengths);
        YK_TRY_ALLOCATED(lengths);
        word->lengths = lengths;
        word->capacity = (int32_t)capacity;
    }
    word->count = (int32_t)count;
    return YK_OK;
}

/* The merge of two neighbours; the id is -1 if there is none. */
static struct yk_bpe_merge_rank_and_id merge_of(const struct yk_bpe_merge_table *merges,
                                                const int32_t *pair)
{
    static const struct yk_bpe_merge_rank_and_id none = {.rank = INT32_MAX, .id = -1};
    const struct yk_bpe_merge_rank_and_id *merge = find(merges, pair[0], pair[1]);
    return merge ? *merge : none;
}

static void merge_short(struct yk_bpe_word *word, const struct yk_bpe_merge_table *merges)
{
    struct yk_bpe_merge_rank_and_id next[SHORT]; /* of each token with the next one */
    int32_t *ids = word->ids;
    int32_t count = word->count;
    for (int32_t i = 0; i + 1 < count; i++) {
        next[i] = merge_of(merges, ids + i);
    }
    while (count > 1) {
        int32_t best = 0;
        for (int32_t i = 1; i + 1 < count; i++) {
            best = next[i].rank < next[best].rank ? i : best;
        }
        if (next[best].id < 0) {
            break;
        }
        ids[best] = next[best].id;
        const size_t behind = (size_t)(count - best - 2);
        memmove(ids + best + 1, ids + best + 2, behind * sizeof *ids);
        if (word->tracked) {
            word->lengths[best] += word->lengths[best + 1];
            memmove(word->lengths + best + 1, word->lengths + best + 2,
                    behind * sizeof *word->lengths);
        }
        memmove(next + best, next + best + 1, behind * sizeof *next);
        count--;
        if (best + 1 < count) {
            next[best] = merge_of(merges, ids + best);
        }
        if (best > 0) {
            next[best - 1] = merge_of(merges, ids + best - 1);
        }
    }
    word->count = count;
}

static bool is_before(const struct yk_bpe_merge_candidate *a,
                      const struct yk_bpe_merge_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->place < b->place;
}

/* Moves the first element down to its place in the heap. */
static void sink(struct yk_bpe_merge_candidate *steps, int32_t count)
{
    const struct yk_bpe_merge_candidate moved = steps[0];
    int32_t at = 0;
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        child += child + 1 < count && is_before(&steps[child + 1], &steps[child]);
        if (!is_before(&steps[child], &moved)) {
            break;
        }
        steps[at] = steps[child];
        at = child;
    }
    steps[at] = moved;
}

static yk_status push(struct yk_bpe_word *word, struct yk_bpe_merge_candidate step)
{
    YK_TRY_GROW_ARRAY(word->steps, word->step_capacity, word->step_count);
    int32_t at = word->step_count++;
    while (at > 0 && is_before(&step, &word->steps[(at - 1) / 2])) {
        word->steps[at] = word->steps[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    word->steps[at] = step;
    return YK_OK;
}

static struct yk_bpe_merge_candidate pop(struct yk_bpe_word *word)
{
    const struct yk_bpe_merge_candidate first = word->steps[0];
    word->step_count--;
    if (word->step_count > 0) {
        word->steps[0] = word->steps[word->step_count];
        sink(word->steps, word->step_count);
    }
    return first;
}

/* The rule for the token at `place` and the next one, or NULL. */
static const struct yk_bpe_merge_rank_and_id *
rule_at(const struct yk_bpe_word *word, const struct yk_bpe_merge_table *merges, int32_t place)
{
    const struct yk_bpe_symbol *left = place >= 0 ? &word->symbols[place] : NULL;
    if (!left || left->id < 0 || left->after < 0) {
        return NULL;
    }
    return find(merges, left->id, word->symbols[left->after].id);
}

static yk_status consider(struct yk_bpe_word *word, const struct yk_bpe_merge_table *merges,
                          int32_t place)
{
    const struct yk_bpe_merge_rank_and_id *merge = rule_at(word, merges, place);
    if (!merge) {
        return YK_OK;
    }
    return push(word, (struct yk_bpe_merge_candidate){
                          .rank = merge->rank, .place = place, .id = merge->id});
}

static yk_status link_symbols(struct yk_bpe_word *word)
{
    if (word->count > word->symbol_capacity) {
        struct yk_bpe_symbol *symbols =
            realloc(word->symbols, (size_t)word->count * sizeof *symbols);
        YK_TRY_ALLOCATED(symbols);
        word->symbols = symbols;
        word->symbol_capacity = word->count;
    }
    for (int32_t i = 0; i < word->count; i++) {
        word->symbols[i] = (struct yk_bpe_symbol){.id = word->ids[i],
                                                  .before = i - 1,
                                                  .after = i + 1 < word->count ? i + 1 : -1,
                                                  .length = word->tracked ? word->lengths[i] : 0};
    }
    return YK_OK;
}

/* Whether the pair of a candidate has changed since it was pushed. Its tokens are longer then, so
 * no rule gives the same token. */
static bool is_stale(const struct yk_bpe_word *word, const struct yk_bpe_merge_table *merges,
                     const struct yk_bpe_merge_candidate *step)
{
    const struct yk_bpe_merge_rank_and_id *merge = rule_at(word, merges, step->place);
    return !merge || merge->id != step->id;
}

/* Checks the flag every STEPS_BETWEEN_CHECKS steps. */
static yk_status check_stop(const struct yk_bpe_word *word, int64_t step)
{
    const bool stopped = step % STEPS_BETWEEN_CHECKS == 0 && word->stop && atomic_load(word->stop);
    return stopped ? yk_fail(YK_ERROR_STOPPED, "stopped within a word") : YK_OK;
}

static yk_status merge_long(struct yk_bpe_word *word, const struct yk_bpe_merge_table *merges)
{
    YK_TRY(link_symbols(word));
    word->step_count = 0;
    for (int32_t i = 0; i + 1 < word->count; i++) {
        YK_TRY(check_stop(word, i));
        YK_TRY(consider(word, merges, i));
    }
    for (int64_t i = 0; word->step_count > 0; i++) {
        YK_TRY(check_stop(word, i));
        const struct yk_bpe_merge_candidate step = pop(word);
        if (is_stale(word, merges, &step)) {
            continue;
        }
        struct yk_bpe_symbol *left = &word->symbols[step.place];
        struct yk_bpe_symbol *right = &word->symbols[left->after];
        left->id = step.id;
        left->length += right->length;
        left->after = right->after;
        right->id = -1;
        if (left->after >= 0) {
            word->symbols[left->after].before = step.place;
        }
        YK_TRY(consider(word, merges, left->before));
        YK_TRY(consider(word, merges, step.place));
    }
    int32_t count = 0;
    for (int32_t i = 0; i >= 0; i = word->symbols[i].after) {
        word->ids[count] = word->symbols[i].id;
        word->lengths[count++] = word->symbols[i].length;
    }
    word->count = count;
    return YK_OK;
}

yk_status yk_bpe_merge_word(struct yk_bpe_word *word, const struct yk_bpe_merge_table *merges)
{
    if (word->count > SHORT) {
        return merge_long(word, merges);
    }
    merge_short(word, merges);
    return YK_OK;
}
