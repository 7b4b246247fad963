#include "graph/scanner.h"

#include "base/number.h"

#include <ctype.h>
#include <stdio.h>

enum {
    LONGEST_QUOTE = 24
};

struct word {
    const char *text;
    size_t length; /* 0 at the end of the line */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct yk_graph_scanner yk_graph_scanner_start(const char *text, size_t length)
{
    return (struct yk_graph_scanner){
        .next = text, .end = text + length, .line_start = text, .line = 1};
}

static void skip_blanks(struct yk_graph_scanner *words)
{
    while (words->next < words->end && is_blank(*words->next)) {
        words->next++;
    }
}

void yk_graph_scanner_skip_line(struct yk_graph_scanner *words)
{
    while (words->next < words->end && *words->next != '\n') {
        words->next++;
    }
}

bool yk_graph_scanner_has_more(struct yk_graph_scanner *words)
{
    for (;;) {
        skip_blanks(words);
        if (words->next == words->end) {
            return false;
        }
        if (*words->next == '#') {
            yk_graph_scanner_skip_line(words);
        } else if (*words->next == '\n') {
            words->line_start = ++words->next;
            words->line++;
        } else {
            return true;
        }
    }
}

static struct word next_word(struct yk_graph_scanner *words)
{
    skip_blanks(words);
    struct word word = {.text = words->next};
    while (words->next < words->end && *words->next != '\n' && *words->next != '#' &&
           !is_blank(*words->next)) {
        words->next++;
    }
    word.length = (size_t)(words->next - word.text);
    return word;
}

static yk_status fail_at(const struct yk_graph_scanner *words, const struct word *word,
                         yk_status status)
{
    char place[64];
    snprintf(place, sizeof place, "line %lld, column %td", (long long)words->line,
             word->text - words->line_start + 1);
    return yk_status_prefix(status, place);
}

/* What can be shown of a word: the beginning of it, in characters every terminal has. */
static void quote(const struct word *word, char out[LONGEST_QUOTE + 4])
{
    size_t i = 0;
    for (; i < word->length && i < LONGEST_QUOTE; i++) {
        const unsigned char c = (unsigned char)word->text[i];
        out[i] = (char)(c < 0x80 && isprint(c) ? c : '?');
    }
    snprintf(out + i, 4, "%s", i < word->length ? "..." : "");
}

static yk_status fail_word(const struct yk_graph_scanner *words, const struct word *word,
                           const char *what, const char *form)
{
    if (word->length == 0) {
        return fail_at(words, word,
                       yk_fail(YK_ERROR_INPUT, "the line ends where %s should be", what));
    }
    char shown[LONGEST_QUOTE + 4];
    quote(word, shown);
    return fail_at(words, word,
                   yk_fail(YK_ERROR_INPUT, "%s should be %s, not \"%s\"", what, form, shown));
}

yk_status yk_graph_scanner_number(struct yk_graph_scanner *words, const char *what, double *out)
{
    const struct word word = next_word(words);
    return yk_number_read(word.text, word.length, out) ? YK_OK
                                                       : fail_word(words, &word, what, "a number");
}

yk_status yk_graph_scanner_integer(struct yk_graph_scanner *words, const char *what, int64_t least,
                                   int64_t most, int64_t *out)
{
    const struct word word = next_word(words);
    int64_t value = 0;
    if (yk_number_read_integer(word.text, word.length, &value) && value >= least && value <= most) {
        *out = value;
        return YK_OK;
    }
    char form[80];
    if (least == most) {
        snprintf(form, sizeof form, "%lld", (long long)least);
    } else {
        snprintf(form, sizeof form, "a whole number from %lld to %lld", (long long)least,
                 (long long)most);
    }
    return fail_word(words, &word, what, form);
}

yk_status yk_graph_scanner_end_line(struct yk_graph_scanner *words)
{
    const struct word word = next_word(words);
    if (word.length == 0) {
        return YK_OK;
    }
    char shown[LONGEST_QUOTE + 4];
    quote(&word, shown);
    return fail_at(
        words, &word,
        yk_fail(YK_ERROR_INPUT, "the line should end here, but goes on with \"%s\"", shown));
}

yk_status yk_graph_scanner_locate(const struct yk_graph_scanner *words, yk_status status)
{
    if (status == YK_OK) {
        return YK_OK;
    }
    char place[40];
    snprintf(place, sizeof place, "line %lld", (long long)words->line);
    return yk_status_prefix(status, place);
}

size_t yk_graph_scanner_count_first_line(const char *text, size_t length)
{
    struct yk_graph_scanner words = yk_graph_scanner_start(text, length);
    if (!yk_graph_scanner_has_more(&words) || !isdigit((unsigned char)*words.next)) {
        return 0;
    }
    size_t count = 0;
    while (next_word(&words).length > 0) {
        count++;
    }
    return count;
}
