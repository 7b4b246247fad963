#include "support/reports/markup.h"

#include <stdio.h>
#include <string.h>

enum {
    DEEPEST = 64,
    LONGEST_NAME = 32
};

struct open_tags {
    char names[DEEPEST][LONGEST_NAME];
    int depth;
};

static bool is_entity(const char *c)
{
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        if (strncmp(c, entities[i], strlen(entities[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The '>' that ends the tag beginning at `c`; NULL when an attribute is malformed. */
static const char *end_of_tag(const char *c)
{
    bool quoted = false;
    for (c++; *c; c++) {
        if (*c == '"') {
            quoted = !quoted;
        } else if (*c == '<' || (*c == '&' && !is_entity(c))) {
            return NULL;
        } else if (*c == '>' && !quoted) {
            return c;
        }
    }
    return NULL;
}

static bool close_tag(struct open_tags *open, const char *name, size_t length)
{
    if (open->depth == 0) {
        return false;
    }
    const char *expected = open->names[--open->depth];
    return strlen(expected) == length && strncmp(expected, name, length) == 0;
}

static bool open_tag(struct open_tags *open, const char *name, size_t length)
{
    if (open->depth == DEEPEST || length == 0 || length >= LONGEST_NAME) {
        return false;
    }
    snprintf(open->names[open->depth++], LONGEST_NAME, "%.*s", (int)length, name);
    return true;
}

bool markup_is_balanced(const char *text, const char *name, size_t *count)
{
    struct open_tags open = {0};
    *count = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '>' || (*c == '&' && !is_entity(c))) {
            return false;
        }
        if (*c != '<') {
            continue;
        }
        const char *end = end_of_tag(c);
        const bool closing = c[1] == '/';
        const char *tag = closing ? c + 2 : c + 1;
        const size_t length = strcspn(tag, " />");
        if (!end || !(closing ? close_tag(&open, tag, length) : open_tag(&open, tag, length))) {
            return false;
        }
        if (!closing) {
            *count += strlen(name) == length && strncmp(name, tag, length) == 0;
            if (end[-1] == '/') {
                open.depth--;
            }
        }
        c = end;
    }
    return open.depth == 0;
}

size_t markup_occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *c = strstr(text, word); c; c = strstr(c + 1, word)) {
        count++;
    }
    return count;
}
