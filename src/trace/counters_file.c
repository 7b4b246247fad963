#include "trace/counters_file.h"

#include "base/json_write.h"

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

static bool line_knows(const struct yk_counter_series *line, enum yk_counter counter)
{
    for (int32_t i = 0; i < line->count; i++) {
        if (isfinite(line->readings[i].values[counter])) {
            return true;
        }
    }
    return false;
}

bool yk_counters_file_has(const struct yk_counter_rank *rank, enum yk_counter counter)
{
    return rows_know(&rank->phases, counter) || rows_know(&rank->kinds, counter) ||
           line_knows(&rank->step, counter) || line_knows(&rank->run, counter);
}

/* Five digits: meters have no more. */
static void write_value(struct yk_json_writer *json, const char *key, double value)
{
    char digits[40];
    double rounded = value;
    if (isfinite(value)) {
        (void)snprintf(digits, sizeof digits, "%.5g", value);
        /* NOLINTNEXTLINE(cert-err34-c): these are the digits of a number */
        (void)sscanf(digits, "%lf", &rounded);
    }
    yk_json_write_number(json, key, rounded);
}

/* To the microsecond. */
static void write_seconds(struct yk_json_writer *json, const char *key, double seconds)
{
    yk_json_write_number(json, key, round(seconds * 1e6) / 1e6);
}

/* With `lines` every row begins on a new one. */
static void write_rows(const struct yk_counter_rank *rank, const struct yk_counter_rows *rows,
                       const char *list, const char *name, bool lines, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, list);
    for (int32_t i = 0; i < rows->count; i++) {
        const struct yk_counter_row *row = &rows->all[i];
        if (lines) {
            yk_json_write_line(json, 0);
        }
        yk_json_write_begin_object(json, NULL);
        yk_json_write_string(json, name, row->name);
        write_seconds(json, "seconds", row->seconds);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            if (yk_counters_file_has(rank, (enum yk_counter)c)) {
                write_value(json, yk_counter_key((enum yk_counter)c), row->values[c]);
            }
        }
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void write_line(const struct yk_counter_series *line, const char *name,
                       struct yk_json_writer *json)
{
    yk_json_write_line(json, 0);
    yk_json_write_begin_object(json, name);
    yk_json_write_begin_array(json, "begin_s");
    for (int32_t i = 0; i < line->count; i++) {
        write_seconds(json, NULL, line->readings[i].begin_s);
    }
    yk_json_write_end_array(json);
    yk_json_write_begin_array(json, "end_s");
    for (int32_t i = 0; i < line->count; i++) {
        write_seconds(json, NULL, line->readings[i].end_s);
    }
    yk_json_write_end_array(json);
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (!line_knows(line, (enum yk_counter)c)) {
            continue;
        }
        yk_json_write_line(json, 0);
        yk_json_write_begin_array(json, yk_counter_key((enum yk_counter)c));
        for (int32_t i = 0; i < line->count; i++) {
            write_value(json, NULL, line->readings[i].values[c]);
        }
        yk_json_write_end_array(json);
    }
    yk_json_write_end_object(json);
}

static void write_ranks(const struct yk_counter_ranks *ranks, const char *key, bool lines,
                        struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, key);
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_counter_rank *rank = &ranks->all[r];
        if (lines) {
            yk_json_write_line(json, 0);
        }
        yk_json_write_begin_object(json, NULL);
        yk_json_write_integer(json, "rank", r);
        yk_json_write_string(json, "device", rank->device);
        if (rank->source[0] != '\0') {
            yk_json_write_string(json, "source", rank->source);
        }
        write_rows(rank, &rank->phases, "phases", "phase", lines, json);
        write_rows(rank, &rank->kinds, "kinds", "kind", lines, json);
        if (lines) {
            write_line(&rank->step, "step", json);
            write_line(&rank->run, "run", json);
        }
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_counters_file_write(const struct yk_counter_ranks *ranks, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "counters");
    write_ranks(ranks, "ranks", true, &json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

void yk_counters_file_write_averages(const struct yk_counter_ranks *ranks, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    write_ranks(ranks, NULL, false, &json);
}
