#include "base/nearest_name.h"

#include <string.h>

enum {
    LONGEST_NAME = 63
};

static size_t best(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance: the number of edits; a swap of two neighbours is one edit. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST_NAME + 1];
    size_t *before = rows[0];
    size_t *previous = rows[1];
    size_t *current = rows[2];
    for (size_t j = 0; j <= b_length; j++) {
        previous[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        current[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
            current[j] = best(replaced, 1 + best(previous[j], current[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                current[j] = best(current[j], before[j - 2] + 1);
            }
        }
        size_t *reused = before;
        before = previous;
        previous = current;
        current = reused;
    }
    return previous[b_length];
}

const char *yk_nearest_name(const char *word, const char *const *names, size_t count)
{
    const size_t length = strlen(word);
    if (length > LONGEST_NAME) {
        return NULL;
    }
    const char *best = NULL;
    size_t best_distance = 2 + length / 4;
    for (size_t i = 0; i < count; i++) {
        const size_t name_length = strlen(names[i]);
        if (name_length > LONGEST_NAME) {
            continue;
        }
        const size_t edits = distance(word, length, names[i], name_length);
        if (edits < best_distance && edits < name_length) {
            best = names[i];
            best_distance = edits;
        }
    }
    return best;
}
