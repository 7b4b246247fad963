#include "cluster/line.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

char yk_line_peek(struct yk_line *line)
{
    while (isspace((unsigned char)line->text[line->at])) {
        line->at++;
    }
    return line->text[line->at];
}

bool yk_line_accept(struct yk_line *line, char sign)
{
    const bool there = yk_line_peek(line) == sign;
    line->at += there;
    return there;
}

yk_status yk_line_word(struct yk_line *line, struct yk_line_word *out)
{
    (void)yk_line_peek(line);
    out->at = line->at;
    size_t length = strcspn(line->text + out->at, "+@():,");
    line->at += length;
    while (length > 0 && isspace((unsigned char)line->text[out->at + length - 1])) {
        length--;
    }
    out->text = yk_arena_copy_text(line->arena, line->text + out->at, length);
    return out->text ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_line_fail_at(const struct yk_line *line, size_t at, yk_status status)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++) {
        column += ((unsigned char)line->text[i] & 0xc0) != 0x80;
    }
    char place[40];
    snprintf(place, sizeof place, "column %zu", column);
    return yk_status_prefix(status, place);
}

yk_status yk_line_fail_expected(struct yk_line *line, const char *expected)
{
    if (!yk_line_peek(line)) {
        return yk_line_fail_at(
            line, line->at,
            yk_fail(YK_ERROR_INPUT, "the line ends where %s should stand", expected));
    }
    const char *rest = line->text + line->at;
    const int shown = (int)yk_text_prefix(rest, 1);
    return yk_line_fail_at(line, line->at,
                           yk_fail(YK_ERROR_INPUT, "\"%.*s\" stands where %s should",
                                   shown > 0 ? shown : 1, rest, expected));
}
