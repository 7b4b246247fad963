#include "tokenizer/added_tokens.h"

#include <stdlib.h>
#include <string.h>

enum {
    BYTES = 256
};

struct yk_token_matcher {
    struct yk_token_pattern *names; /* sorted by bytes */
    int32_t count;
    int32_t starts[BYTES + 1]; /* index of the first name that begins with each byte */
    bool begins[BYTES];        /* whether a name begins with each byte */
    bool begins_alike;         /* all names begin with the same byte */
};

static int compare_bytes(const struct yk_token_pattern *a, const struct yk_token_pattern *b)
{
    const int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare(const void *left, const void *right)
{
    const struct yk_token_pattern *a = left;
    const struct yk_token_pattern *b = right;
    const int order = compare_bytes(a, b);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* Of names that are the same, keeps the one with the smallest number. */
static void remove_doubles(struct yk_token_matcher *matcher)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < matcher->count; i++) {
        if (kept == 0 || compare_bytes(&matcher->names[kept - 1], &matcher->names[i]) != 0) {
            matcher->names[kept++] = matcher->names[i];
        }
    }
    matcher->count = kept;
}

yk_status yk_token_matcher_create(const struct yk_token_pattern *names, int32_t count,
                                  struct yk_token_matcher **out)
{
    struct yk_token_matcher *matcher = calloc(1, sizeof *matcher);
    YK_TRY_ALLOCATED(matcher);
    matcher->names = malloc(((size_t)count + 1) * sizeof *matcher->names);
    if (!matcher->names) {
        yk_token_matcher_destroy(matcher);
        return yk_fail_out_of_memory();
    }
    if (count > 0) {
        memcpy(matcher->names, names, (size_t)count * sizeof *names);
        qsort(matcher->names, (size_t)count, sizeof *matcher->names, compare);
    }
    matcher->count = count;
    remove_doubles(matcher);
    for (int32_t i = 0; i < matcher->count; i++) {
        matcher->starts[(unsigned char)matcher->names[i].bytes[0] + 1]++;
    }
    for (int byte = 0; byte < BYTES; byte++) {
        matcher->begins[byte] = matcher->starts[byte + 1] > 0;
        matcher->begins_alike |= matcher->count > 0 && matcher->starts[byte + 1] == matcher->count;
        matcher->starts[byte + 1] += matcher->starts[byte];
    }
    *out = matcher;
    return YK_OK;
}

void yk_token_matcher_destroy(struct yk_token_matcher *matcher)
{
    if (matcher) {
        free(matcher->names);
        free(matcher);
    }
}

/* The first name in [first, last) whose byte at `depth` is at least `byte`. All these names are
 * longer than `depth` and agree before it. */
static int32_t seek(const struct yk_token_matcher *matcher, int32_t first, int32_t last,
                    size_t depth, int byte)
{
    while (first < last) {
        const int32_t middle = first + (last - first) / 2;
        if ((unsigned char)matcher->names[middle].bytes[depth] < byte) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

/* The longest name that is a prefix of `text`, which is not empty. */
static const struct yk_token_pattern *longest(const struct yk_token_matcher *matcher,
                                              const char *text, size_t length)
{
    const struct yk_token_pattern *best = NULL;
    int32_t first = matcher->starts[(unsigned char)text[0]];
    int32_t last = matcher->starts[(unsigned char)text[0] + 1];
    for (size_t depth = 1; first < last; depth++) {
        /* The name that ends here sorts before the longer ones. */
        if (matcher->names[first].length == depth) {
            best = &matcher->names[first++];
        }
        if (depth == length) {
            break;
        }
        /* Long names are compared at once when no other is left. */
        if (last - first == 1) {
            const struct yk_token_pattern *only = &matcher->names[first];
            const bool found = only->length <= length &&
                               memcmp(only->bytes + depth, text + depth, only->length - depth) == 0;
            return found ? only : best;
        }
        const int byte = (unsigned char)text[depth];
        first = seek(matcher, first, last, depth, byte);
        last = seek(matcher, first, last, depth, byte + 1);
    }
    return best;
}

/* The next place from `at` on where a name may begin, or the end. */
static size_t next_start(const struct yk_token_matcher *matcher, const char *text, size_t length,
                         size_t at)
{
    if (matcher->begins_alike) {
        const char *found = memchr(text + at, matcher->names[0].bytes[0], length - at);
        return found ? (size_t)(found - text) : length;
    }
    while (at < length && !matcher->begins[(unsigned char)text[at]]) {
        at++;
    }
    return at;
}

const struct yk_token_pattern *yk_token_matcher_find(const struct yk_token_matcher *matcher,
                                                     const char *text, size_t length, size_t from,
                                                     size_t *begin)
{
    if (matcher->count == 0) {
        return NULL;
    }
    for (size_t at = from; (at = next_start(matcher, text, length, at)) < length; at++) {
        const struct yk_token_pattern *name = longest(matcher, text + at, length - at);
        if (name) {
            *begin = at;
            return name;
        }
    }
    return NULL;
}
