#include "report/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void yk_csv_add_words(struct yk_text *out, const char *words)
{
    const bool quoted = strpbrk(words, ",\"") != NULL;
    const char *first = words;
    yk_text_add(out, quoted ? "\"" : "");
    while (*first && (unsigned char)*first <= ' ') {
        first++;
    }
    yk_text_add(out, *first && strchr("=+-@'", *first) ? "'" : "");
    for (const char *c = words; *c; c++) {
        /* A line is a row: what would break it is a space. */
        const bool control = (unsigned char)*c < 0x20;
        yk_text_add(out, *c == '"' ? "\"" : "");
        yk_text_add_bytes(out, control ? " " : c, 1);
    }
    yk_text_add(out, quoted ? "\"" : "");
}

void yk_csv_add_seconds(struct yk_text *out, double seconds)
{
    char digits[64];
    if (!isfinite(seconds) || fabs(seconds) >= 1e15) {
        return;
    }
    const int length = snprintf(digits, sizeof digits, "%.9f", seconds == 0 ? 0 : seconds);
    size_t end = (size_t)length;
    while (digits[end - 1] == '0') {
        end--;
    }
    end -= digits[end - 1] == '.';
    yk_text_add_bytes(out, digits, end);
}

void yk_csv_add_bytes(struct yk_text *out, double bytes)
{
    if (isfinite(bytes)) {
        yk_text_addf(out, "%.0f", bytes);
    }
}

void yk_csv_add_number(struct yk_text *out, double value)
{
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    }
}
