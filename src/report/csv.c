#include "report/csv.h"

#include "report/label.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void yk_csv_add_text(struct yk_text *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"") != NULL;
    const char *first = text;
    yk_text_add(out, quoted ? "\"" : "");
    while (*first && (unsigned char)*first <= ' ') {
        first++;
    }
    yk_text_add(out, *first && strchr("=+-@'", *first) ? "'" : "");
    for (const char *c = text; *c; c++) {
        /* A line is a row: what would break it is a space. */
        const bool control = (unsigned char)*c < 0x20;
        yk_text_add(out, *c == '"' ? "\"" : "");
        yk_text_add_bytes(out, control ? " " : c, 1);
    }
    yk_text_add(out, quoted ? "\"," : ",");
}

void yk_csv_add_seconds(struct yk_text *out, double seconds)
{
    char digits[64];
    if (!isfinite(seconds) || fabs(seconds) >= 1e15) {
        yk_text_add(out, ",");
        return;
    }
    const int length = snprintf(digits, sizeof digits, "%.9f", seconds == 0 ? 0 : seconds);
    size_t end = (size_t)length;
    while (digits[end - 1] == '0') {
        end--;
    }
    end -= digits[end - 1] == '.';
    yk_text_add_bytes(out, digits, end);
    yk_text_add(out, ",");
}

void yk_csv_add_bytes(struct yk_text *out, double bytes)
{
    if (isfinite(bytes)) {
        yk_text_addf(out, "%.0f", bytes);
    }
    yk_text_add(out, ",");
}

void yk_csv_add_number(struct yk_text *out, double value)
{
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    }
    yk_text_add(out, ",");
}

void yk_csv_add_rounded_number(struct yk_text *out, double value)
{
    yk_text_addf(out, "%s,", isfinite(value) ? YK_LABEL_NUMBER(value) : "");
}

void yk_csv_add_integer(struct yk_text *out, int64_t value)
{
    yk_text_addf(out, "%" PRId64 ",", value);
}

void yk_csv_end_row(struct yk_text *out)
{
    if (!out->failed) {
        out->bytes[out->length - 1] = '\n';
    }
}
