#include "data/pair_placeholders.h"

#include "base/hash.h"

#include <stdbool.h>
#include <string.h>

/* The text from `at` to `end`, without a byte copied. */
struct cursor {
    const char *at;
    const char *end;
};

static char next(const struct cursor *cursor)
{
    return cursor->at < cursor->end ? *cursor->at : '\0';
}

static bool next_is_of(const struct cursor *cursor, const char *set)
{
    const char c = next(cursor);
    return c != '\0' && strchr(set, c);
}

static void skip(struct cursor *cursor, const char *set)
{
    while (next_is_of(cursor, set)) {
        cursor->at++;
    }
}

static uint64_t hash_of(const char *begin, const char *end, char kind)
{
    const uint64_t hash = yk_hash_bytes(begin, (size_t)(end - begin));
    return hash * 31 + (uint64_t)(unsigned char)kind;
}

/* %(name)s: the name and the conversion count. */
static uint64_t take_named(struct cursor *cursor)
{
    const char *const begin = cursor->at;
    const char *close = memchr(begin, ')', (size_t)(cursor->end - begin));
    if (!close || close + 1 == cursor->end) {
        return 0;
    }
    cursor->at = close + 2;
    return hash_of(begin, cursor->at, '(');
}

/* What follows a %: 0 and nothing taken where it is no directive. */
static uint64_t take_directive(struct cursor *cursor)
{
    static const char digits[] = "0123456789";
    struct cursor here = *cursor;
    uint64_t hash = 0;
    if (next(&here) == '(') {
        return take_named(cursor);
    }
    const char *const number = here.at;
    skip(&here, digits);
    const char *const number_end = here.at;
    if (next(&here) == '$') {
        here.at++;
    }
    /* The space is a flag, too, but in texts it follows a sign of percent. */
    skip(&here, "-+#'I0123456789*.$");
    const char *const type = here.at;
    skip(&here, "hlLqjzt");
    if (next_is_of(&here, "diouxXeEfFgGaAcCsSpnm%@")) {
        here.at++;
        hash = hash_of(type, here.at, '%');
    } else if (number_end > number) {
        here.at = number_end;
        hash = hash_of(number, number_end, '1');
    }
    if (hash != 0) {
        *cursor = here;
    }
    return hash;
}

/* What follows a {: a name up to }. */
static uint64_t take_brace(struct cursor *cursor)
{
    struct cursor here = *cursor;
    skip(&here, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:!");
    if (next(&here) != '}') {
        return 0;
    }
    const uint64_t hash = hash_of(cursor->at, here.at, '{');
    cursor->at = here.at + 1;
    return hash;
}

uint64_t yk_pair_placeholders(const char *text, size_t length)
{
    struct cursor cursor = {text, text + length};
    uint64_t sum = 0;
    while (cursor.at < cursor.end) {
        const char c = *cursor.at++;
        if (c == '%') {
            sum += take_directive(&cursor);
        } else if (c == '{') {
            sum += take_brace(&cursor);
        } else if (c == '@') {
            sum += yk_hash_bytes(&c, 1);
        }
    }
    return sum;
}
