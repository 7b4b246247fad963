#include "trace/counters_file.h"

#include <math.h>
#include <stdio.h>

static bool rows_know(const struct yk_counter_rows *rows, enum yk_counter counter)
{
    for (int32_t i = 0; i < rows->count; i++) {
        if (isfinite(rows->all[i].values[counter])) {
            return true;
        }
    }
    return false;
}

static bool line_knows(const struct yk_counter_line *line, enum yk_counter counter)
{
    for (int32_t i = 0; i < line->count; i++) {
        if (isfinite(line->readings[i].values[counter])) {
            return true;
        }
    }
    return false;
}

bool yk_counter_is_known(const struct yk_counter_rank *rank, enum yk_counter counter)
{
    return rows_know(&rank->phases, counter) || rows_know(&rank->kinds, counter) ||
           line_knows(&rank->step, counter) || line_knows(&rank->run, counter);
}

/* Five digits: meters have no more. */
static void add_value(double value, struct yk_text *out)
{
    char digits[40];
    if (!isfinite(value)) {
        yk_text_add(out, "null");
        return;
    }
    (void)snprintf(digits, sizeof digits, "%.5g", value);
    double rounded = value;
    /* NOLINTNEXTLINE(cert-err34-c): these are the digits of a number */
    (void)sscanf(digits, "%lf", &rounded);
    yk_text_add_number(out, rounded);
}

/* To the microsecond. */
static void add_seconds(double seconds, struct yk_text *out)
{
    yk_text_add_number(out, round(seconds * 1e6) / 1e6);
}

static void add_rows(const struct yk_counter_rank *rank, const struct yk_counter_rows *rows,
                     const char *list, const char *key, const char *before, struct yk_text *out)
{
    yk_text_addf(out, ",\"%s\":[", list);
    for (int32_t i = 0; i < rows->count; i++) {
        const struct yk_counter_row *row = &rows->all[i];
        yk_text_addf(out, "%s%s{\"%s\":", i > 0 ? "," : "", before, key);
        yk_text_add_json(out, row->name);
        yk_text_add(out, ",\"seconds\":");
        add_seconds(row->seconds, out);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            if (yk_counter_is_known(rank, (enum yk_counter)c)) {
                yk_text_addf(out, ",\"%s\":", yk_counter_key((enum yk_counter)c));
                add_value(row->values[c], out);
            }
        }
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]");
}

static void add_line(const struct yk_counter_line *line, const char *name, struct yk_text *out)
{
    yk_text_addf(out, ",\n\"%s\":{\"begin_s\":[", name);
    for (int32_t i = 0; i < line->count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        add_seconds(line->readings[i].begin_s, out);
    }
    yk_text_add(out, "],\"end_s\":[");
    for (int32_t i = 0; i < line->count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        add_seconds(line->readings[i].end_s, out);
    }
    yk_text_add(out, "]");
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (!line_knows(line, (enum yk_counter)c)) {
            continue;
        }
        yk_text_addf(out, ",\n\"%s\":[", yk_counter_key((enum yk_counter)c));
        for (int32_t i = 0; i < line->count; i++) {
            yk_text_add(out, i > 0 ? "," : "");
            add_value(line->readings[i].values[c], out);
        }
        yk_text_add(out, "]");
    }
    yk_text_add(out, "}");
}

static void add_ranks(const struct yk_counter_ranks *ranks, bool lines, struct yk_text *out)
{
    const char *before = lines ? "\n" : "";
    yk_text_add(out, "[");
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_counter_rank *rank = &ranks->all[r];
        yk_text_addf(out, "%s%s{\"rank\":%d,\"device\":", r > 0 ? "," : "", before, (int)r);
        yk_text_add_json(out, rank->device);
        if (rank->source[0] != '\0') {
            yk_text_add(out, ",\"source\":");
            yk_text_add_json(out, rank->source);
        }
        add_rows(rank, &rank->phases, "phases", "phase", before, out);
        add_rows(rank, &rank->kinds, "kinds", "kind", before, out);
        if (lines) {
            add_line(&rank->step, "step", out);
            add_line(&rank->run, "run", out);
        }
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]");
}

yk_status yk_counters_write(const struct yk_counter_ranks *ranks, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"counters\",\"ranks\":");
    add_ranks(ranks, true, out);
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}

void yk_counters_write_averages(const struct yk_counter_ranks *ranks, struct yk_text *out)
{
    add_ranks(ranks, false, out);
}
