#include "graph/scanner.h"

#include "base/number.h"

#include <ctype.h>
#include <stdio.h>

enum {
    MAX_QUOTE = 24
};

struct token {
    const char *text;
    size_t length; /* 0 at the end of the line */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct yk_graph_scanner yk_graph_scanner_from_text(const char *text, size_t length)
{
    return (struct yk_graph_scanner){
        .next = text, .end = text + length, .line_start = text, .line = 1};
}

static void skip_blanks(struct yk_graph_scanner *scanner)
{
    while (scanner->next < scanner->end && is_blank(*scanner->next)) {
        scanner->next++;
    }
}

void yk_graph_scanner_skip_line(struct yk_graph_scanner *scanner)
{
    while (scanner->next < scanner->end && *scanner->next != '\n') {
        scanner->next++;
    }
}

bool yk_graph_scanner_skip_to_token(struct yk_graph_scanner *scanner)
{
    for (;;) {
        skip_blanks(scanner);
        if (scanner->next == scanner->end) {
            return false;
        }
        if (*scanner->next == '#') {
            yk_graph_scanner_skip_line(scanner);
        } else if (*scanner->next == '\n') {
            scanner->line_start = ++scanner->next;
            scanner->line++;
        } else {
            return true;
        }
    }
}

static struct token next_token(struct yk_graph_scanner *scanner)
{
    skip_blanks(scanner);
    struct token token = {.text = scanner->next};
    while (scanner->next < scanner->end && *scanner->next != '\n' && *scanner->next != '#' &&
           !is_blank(*scanner->next)) {
        scanner->next++;
    }
    token.length = (size_t)(scanner->next - token.text);
    return token;
}

static yk_status fail_at(const struct yk_graph_scanner *scanner, const struct token *token,
                         yk_status status)
{
    char place[64];
    snprintf(place, sizeof place, "line %lld, column %td", (long long)scanner->line,
             token->text - scanner->line_start + 1);
    return yk_status_prefix_message(status, place);
}

/* What can be shown of a token: the beginning of it, in characters every terminal has. */
static void quote(const struct token *token, char out[MAX_QUOTE + 4])
{
    size_t i = 0;
    for (; i < token->length && i < MAX_QUOTE; i++) {
        const unsigned char c = (unsigned char)token->text[i];
        out[i] = (char)(c < 0x80 && isprint(c) ? c : '?');
    }
    snprintf(out + i, 4, "%s", i < token->length ? "..." : "");
}

static yk_status fail_token(const struct yk_graph_scanner *scanner, const struct token *token,
                            const char *what, const char *form)
{
    if (token->length == 0) {
        return fail_at(scanner, token,
                       yk_fail(YK_ERROR_INPUT, "the line ends where %s should be", what));
    }
    char shown[MAX_QUOTE + 4];
    quote(token, shown);
    return fail_at(scanner, token,
                   yk_fail(YK_ERROR_INPUT, "%s should be %s, not \"%s\"", what, form, shown));
}

yk_status yk_graph_scanner_read_number(struct yk_graph_scanner *scanner, const char *what,
                                       double *out)
{
    const struct token token = next_token(scanner);
    return yk_number_parse(token.text, token.length, out)
               ? YK_OK
               : fail_token(scanner, &token, what, "a number");
}

yk_status yk_graph_scanner_read_integer(struct yk_graph_scanner *scanner, const char *what,
                                        int64_t min, int64_t max, int64_t *out)
{
    const struct token token = next_token(scanner);
    int64_t value = 0;
    if (yk_number_parse_integer(token.text, token.length, &value) && value >= min && value <= max) {
        *out = value;
        return YK_OK;
    }
    char form[80];
    if (min == max) {
        snprintf(form, sizeof form, "%lld", (long long)min);
    } else {
        snprintf(form, sizeof form, "a whole number from %lld to %lld", (long long)min,
                 (long long)max);
    }
    return fail_token(scanner, &token, what, form);
}

yk_status yk_graph_scanner_expect_line_end(struct yk_graph_scanner *scanner)
{
    const struct token token = next_token(scanner);
    if (token.length == 0) {
        return YK_OK;
    }
    char shown[MAX_QUOTE + 4];
    quote(&token, shown);
    return fail_at(
        scanner, &token,
        yk_fail(YK_ERROR_INPUT, "the line should end here, but goes on with \"%s\"", shown));
}

yk_status yk_graph_scanner_prefix_error_line(const struct yk_graph_scanner *scanner,
                                             yk_status status)
{
    if (status == YK_OK) {
        return YK_OK;
    }
    char place[40];
    snprintf(place, sizeof place, "line %lld", (long long)scanner->line);
    return yk_status_prefix_message(status, place);
}

size_t yk_graph_scanner_count_first_line_tokens(const char *text, size_t length)
{
    struct yk_graph_scanner scanner = yk_graph_scanner_from_text(text, length);
    if (!yk_graph_scanner_skip_to_token(&scanner) || !isdigit((unsigned char)*scanner.next)) {
        return 0;
    }
    size_t count = 0;
    while (next_token(&scanner).length > 0) {
        count++;
    }
    return count;
}
