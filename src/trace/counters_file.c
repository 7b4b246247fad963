#include "trace/counters_file.h"

#include "base/json.h"
#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool rows_have(const struct yk_counter_averages *rows, enum yk_counter counter)
{
    bool found = false;
    for (int32_t i = 0; i < rows->count && !found; i++) {
        found = isfinite(rows->all[i].values[counter]);
    }
    return found;
}

static bool series_has(const struct yk_counter_series *series, enum yk_counter counter)
{
    bool found = false;
    for (int32_t i = 0; i < series->count && !found; i++) {
        found = isfinite(series->readings[i].values[counter]);
    }
    return found;
}

bool yk_counters_file_rank_has_counter(const struct yk_counter_rank_data *rank,
                                       enum yk_counter counter)
{
    return rows_have(&rank->phases, counter) || rows_have(&rank->kinds, counter) ||
           series_has(&rank->step, counter) || series_has(&rank->run, counter);
}

/* Rounded to five digits: counters are no more precise. */
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
static void write_rows(const struct yk_counter_rank_data *rank,
                       const struct yk_counter_averages *rows, const char *list, const char *name,
                       bool lines, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, list);
    for (int32_t i = 0; i < rows->count; i++) {
        const struct yk_counter_average *row = &rows->all[i];
        if (lines) {
            yk_json_write_newline(json, 0);
        }
        yk_json_write_begin_object(json, NULL);
        yk_json_write_string(json, name, row->name);
        write_seconds(json, "seconds", row->seconds);
        for (int c = 0; c < YK_COUNTER_COUNT; c++) {
            if (yk_counters_file_rank_has_counter(rank, (enum yk_counter)c)) {
                write_value(json, yk_counter_json_key((enum yk_counter)c), row->values[c]);
            }
        }
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void write_series(const struct yk_counter_series *series, const char *name,
                         struct yk_json_writer *json)
{
    yk_json_write_newline(json, 0);
    yk_json_write_begin_object(json, name);
    yk_json_write_begin_array(json, "begin_s");
    for (int32_t i = 0; i < series->count; i++) {
        write_seconds(json, NULL, series->readings[i].begin_s);
    }
    yk_json_write_end_array(json);
    yk_json_write_begin_array(json, "end_s");
    for (int32_t i = 0; i < series->count; i++) {
        write_seconds(json, NULL, series->readings[i].end_s);
    }
    yk_json_write_end_array(json);
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        if (!series_has(series, (enum yk_counter)c)) {
            continue;
        }
        yk_json_write_newline(json, 0);
        yk_json_write_begin_array(json, yk_counter_json_key((enum yk_counter)c));
        for (int32_t i = 0; i < series->count; i++) {
            write_value(json, NULL, series->readings[i].values[c]);
        }
        yk_json_write_end_array(json);
    }
    yk_json_write_end_object(json);
}

static void write_ranks(const struct yk_counter_run_data *ranks, const char *key, bool lines,
                        struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, key);
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_counter_rank_data *rank = &ranks->all[r];
        if (lines) {
            yk_json_write_newline(json, 0);
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
            write_series(&rank->step, "step", json);
            write_series(&rank->run, "run", json);
        }
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_counters_file_write_json(const struct yk_counter_run_data *ranks, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "counters");
    write_ranks(ranks, "ranks", true, &json);
    return yk_json_write_end_yoke_document(&json);
}

void yk_counters_file_write_averages_json(const struct yk_counter_run_data *ranks,
                                          struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    write_ranks(ranks, NULL, false, &json);
}

enum {
    MAX_RANKS = 1 << 20,
    MAX_ROWS = 1000,
    MAX_READINGS = 1 << 20,
};

/* Thirty years: a double holds every microsecond of them. */
static const double MAX_SECONDS = 1e9;
static const double MAX_VALUE = 1e300;
/* Times are written to the microsecond: readings that meet may seem to overlap by as much. */
static const double SAME_S = 2e-6;

static void forget(double values[YK_COUNTER_COUNT])
{
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        values[c] = NAN;
    }
}

/* An object may have the keys of counters, and `keys`. */
static yk_status check_keys(const struct yk_json *node, const char *const *keys, size_t count)
{
    const char *known[YK_COUNTER_COUNT + 4];
    for (size_t i = 0; i < count; i++) {
        known[i] = keys[i];
    }
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        known[count + (size_t)c] = yk_counter_json_key((enum yk_counter)c);
    }
    return yk_json_check_object_keys(node, known, count + YK_COUNTER_COUNT);
}

static yk_status read_value(const struct yk_json *node, const char *key, double max, double *out)
{
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    return yk_json_number_value(node, out) && *out >= 0 && *out <= max
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number from 0 up to %g, or null", key,
                         max);
}

static yk_status read_row(const struct yk_json *node, const char *key, struct yk_arena *arena,
                          struct yk_counter_average *out)
{
    const char *keys[] = {key, "seconds"};
    const char *name = NULL;
    forget(out->values);
    YK_TRY(check_keys(node, keys, 2));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, key), key, &name));
    YK_TRY(yk_arena_strdup(arena, name, &out->name));
    YK_TRY(read_value(yk_json_get_member(node, "seconds"), "seconds", MAX_SECONDS, &out->seconds));
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        const char *counter = yk_counter_json_key((enum yk_counter)c);
        YK_TRY(read_value(yk_json_get_member(node, counter), counter, MAX_VALUE, &out->values[c]));
    }
    return YK_OK;
}

static yk_status read_rows(const struct yk_json *rank, const char *list, const char *key,
                           struct yk_arena *arena, struct yk_counter_averages *out)
{
    const struct yk_json *node = NULL;
    YK_TRY(yk_json_get_array(rank, list, &node));
    const size_t count = yk_json_array_count(node);
    if (count > MAX_ROWS) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" has more than %d rows", list, MAX_ROWS);
    }
    YK_TRY_NEW(arena, out->all, count + 1);
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_row(yk_json_array_at(node, i), key, arena, &out->all[i]), list, i, NULL));
    }
    out->count = (int32_t)count;
    return YK_OK;
}

/* A list of a line: as many numbers as it has readings. */
static yk_status find_numbers(const struct yk_json *series, const char *key, size_t count,
                              const struct yk_json **out)
{
    const struct yk_json *node = yk_json_get_member(series, key);
    if (node && (!yk_json_is_array(node) || yk_json_array_count(node) != count)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list of as many numbers as \"begin_s\"",
                       key);
    }
    *out = node;
    return YK_OK;
}

static yk_status read_time(const struct yk_json *list, const char *key, size_t index, double *out)
{
    return yk_json_number_value(yk_json_array_at(list, index), out) && fabs(*out) <= MAX_SECONDS
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" must have numbers of seconds alone, up to %g", key,
                         MAX_SECONDS);
}

static yk_status read_times(const struct yk_json *node, struct yk_arena *arena,
                            struct yk_counter_series *out)
{
    const struct yk_json *begins = NULL;
    const struct yk_json *ends = NULL;
    YK_TRY(yk_json_require_array(node, "begin_s", &begins));
    const size_t count = yk_json_array_count(begins);
    if (count > MAX_READINGS) {
        return yk_fail(YK_ERROR_INPUT, "\"begin_s\" has more than %d readings", MAX_READINGS);
    }
    YK_TRY(yk_json_require_array(node, "end_s", &ends));
    YK_TRY(find_numbers(node, "end_s", count, &ends));
    YK_TRY_NEW(arena, out->readings, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct yk_counter_reading *reading = &out->readings[i];
        forget(reading->values);
        YK_TRY(read_time(begins, "begin_s", i, &reading->begin_s));
        YK_TRY(read_time(ends, "end_s", i, &reading->end_s));
        if (i > 0 && fabs(reading->begin_s - reading[-1].end_s) <= SAME_S) {
            reading->begin_s = reading[-1].end_s;
        }
        if (reading->end_s < reading->begin_s || (i > 0 && reading->begin_s < reading[-1].end_s)) {
            return yk_fail(YK_ERROR_INPUT,
                           "reading %zu ends before it begins, or begins before the one before it "
                           "ends",
                           i);
        }
    }
    out->count = (int32_t)count;
    return YK_OK;
}

static yk_status read_series(const struct yk_json *node, struct yk_arena *arena,
                             struct yk_counter_series *out)
{
    static const char *const keys[] = {"begin_s", "end_s"};
    YK_TRY(check_keys(node, keys, 2));
    YK_TRY(read_times(node, arena, out));
    for (int c = 0; c < YK_COUNTER_COUNT; c++) {
        const char *key = yk_counter_json_key((enum yk_counter)c);
        const struct yk_json *list = NULL;
        YK_TRY(find_numbers(node, key, (size_t)out->count, &list));
        for (int32_t i = 0; list && i < out->count; i++) {
            YK_TRY(read_value(yk_json_array_at(list, (size_t)i), key, MAX_VALUE,
                              &out->readings[i].values[c]));
        }
    }
    return YK_OK;
}

static yk_status read_series_of(const struct yk_json *rank, const char *key, struct yk_arena *arena,
                                struct yk_counter_series *out)
{
    const struct yk_json *node = yk_json_get_member(rank, key);
    const yk_status status = node ? read_series(node, arena, out) : YK_OK;
    return status == YK_OK ? YK_OK : yk_status_prefix_message(status, key);
}

static yk_status read_rank(const struct yk_json *node, int32_t number, struct yk_arena *arena,
                           struct yk_counter_rank_data *out)
{
    static const char *const known[] = {"rank",  "device", "source", "phases",
                                        "kinds", "step",   "run"};
    int64_t rank = number;
    YK_TRY(yk_json_check_object_keys(node, known, sizeof known / sizeof *known));
    YK_TRY(yk_json_get_integer(node, "rank", 0, INT32_MAX, &rank));
    if (rank != number) {
        return yk_fail(YK_ERROR_INPUT, "rank %d stands where %d should be", (int)rank, (int)number);
    }
    YK_TRY(
        yk_json_read_nonempty_string(yk_json_get_member(node, "device"), "device", &out->device));
    YK_TRY(yk_arena_strdup(arena, out->device, &out->device));
    YK_TRY(yk_json_get_string(node, "source", &out->source));
    YK_TRY(yk_arena_strdup(arena, out->source ? out->source : "", &out->source));
    YK_TRY(read_rows(node, "phases", "phase", arena, &out->phases));
    YK_TRY(read_rows(node, "kinds", "kind", arena, &out->kinds));
    YK_TRY(read_series_of(node, "step", arena, &out->step));
    return read_series_of(node, "run", arena, &out->run);
}

static yk_status read_root(const struct yk_json *root, struct yk_arena *arena,
                           struct yk_counter_run_data *out)
{
    static const char *const known[] = {"yoke", "kind", "name", "comment", "ranks"};
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_check_yoke_document(root, "counters", known, sizeof known / sizeof *known));
    YK_TRY(yk_json_require_array(root, "ranks", &list));
    const size_t count = yk_json_array_count(list);
    if (count > MAX_RANKS) {
        return yk_fail(YK_ERROR_INPUT, "\"ranks\" has more than %d of them", MAX_RANKS);
    }
    YK_TRY_NEW(arena, out->all, count + 1);
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_rank(yk_json_array_at(list, i), (int32_t)i, arena, &out->all[i]), "ranks", i,
            NULL));
    }
    out->count = (int32_t)count;
    return YK_OK;
}

yk_status yk_counters_file_parse_json(const char *text, size_t length, const char *source,
                                      struct yk_arena *arena, struct yk_counter_run_data *out)
{
    struct yk_counter_run_data ranks = {0};
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_root(root, arena, &ranks));
    *out = ranks;
    return YK_OK;
}
