#include "report/run/metrics.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RANKS = 65536
};

/* Steps are counted in doubles by the readers of JSON: beyond this they are no longer whole. */
static const double MAX_STEP = 9007199254740992.0;

static double number_of(const struct yk_json *object, const char *key)
{
    double value = NAN;
    (void)yk_json_number_value(yk_json_get_member(object, key), &value);
    return value;
}

/* Reads an array of numbers; null becomes NAN. A missing array is empty. */
static yk_status read_list(const struct yk_json *line, const char *key, struct yk_arena *arena,
                           const double **out, int32_t *out_count)
{
    const struct yk_json *list = yk_json_get_member(line, key);
    const size_t count = yk_json_array_count(list);
    double *values = NULL;
    *out = NULL;
    *out_count = 0;
    if (!list || yk_json_is_null(list)) {
        return YK_OK;
    }
    if (!yk_json_is_array(list) || count > MAX_RANKS) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list of at most %d numbers", key,
                       MAX_RANKS);
    }
    YK_TRY_NEW(arena, values, count + 1);
    for (size_t i = 0; i < count; i++) {
        values[i] = NAN;
        if (!yk_json_number_value(yk_json_array_at(list, i), &values[i]) &&
            !yk_json_is_null(yk_json_array_at(list, i))) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\": number %zu is %s", key, i,
                           yk_json_type_name(yk_json_array_at(list, i)));
        }
    }
    *out = values;
    *out_count = (int32_t)count;
    return YK_OK;
}

static yk_status read_rebalancing(const struct yk_json *line, int64_t step, struct yk_arena *arena,
                                  struct yk_run_metrics *out)
{
    struct yk_run_report_rebalancing *read = &out->rebalancings[out->rebalancing_count];
    read->step = step;
    YK_TRY(read_list(line, "shares", arena, &read->shares, &read->share_count));
    YK_TRY(read_list(line, "predicted_s", arena, &read->predicted_s, &read->predicted_count));
    out->rebalancing_count++;
    return YK_OK;
}

/* Reads the speed of a step. Its key says what is counted. */
static double read_speed(const struct yk_json *line, struct yk_run_metrics *metrics)
{
    if (yk_json_get_member(line, yk_throughput_unit_image.speed_member)) {
        metrics->unit = &yk_throughput_unit_image;
    }
    return number_of(line, metrics->unit->speed_member);
}

static yk_status read_line(const struct yk_json *line, struct yk_arena *arena,
                           struct yk_run_metrics *out)
{
    const char *const place = yk_json_get_member(line, "step") ? "step" : "rebalanced";
    const double step = number_of(line, place);
    struct yk_run_report_step *read = &out->steps[out->step_count];
    bool skipped = false;
    if (!(step >= 0 && step <= MAX_STEP && step == floor(step))) {
        return yk_fail(YK_ERROR_INPUT, "\"step\" must be a whole number");
    }
    if (yk_json_get_member(line, "rebalanced")) {
        return read_rebalancing(line, (int64_t)step, arena, out);
    }
    if (yk_json_get_member(line, "evaluation_loss")) {
        out->evaluations[out->evaluation_count++] = (struct yk_run_report_evaluation){
            .step = (int64_t)step,
            .loss = number_of(line, "evaluation_loss"),
            .accuracy = number_of(line, "accuracy"),
        };
        return YK_OK;
    }
    (void)yk_json_boolean_value(yk_json_get_member(line, "skipped"), &skipped);
    *read = (struct yk_run_report_step){
        .step = (int64_t)step,
        .loss = number_of(line, "loss"),
        .norm = number_of(line, "norm"),
        .lr = number_of(line, "lr"),
        .seconds = number_of(line, "seconds"),
        .units_per_s = read_speed(line, out),
        .skipped = skipped,
    };
    YK_TRY(read_list(line, "ranks_s", arena, &read->ranks_s, &read->rank_count));
    out->step_count++;
    return YK_OK;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The quantile `part`, interpolated linearly. */
static double quantile_of(const double *sorted, int32_t count, double part)
{
    const double place = part * (count - 1);
    const int32_t below = (int32_t)floor(place);
    const int32_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

static yk_status find_spread(struct yk_run_metrics *metrics, struct yk_arena *arena)
{
    double *seconds = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, seconds, (int64_t)metrics->step_count + 1);
    for (int32_t i = 0; i < metrics->step_count; i++) {
        if (isfinite(metrics->steps[i].seconds)) {
            seconds[count++] = metrics->steps[i].seconds;
        }
    }
    qsort(seconds, (size_t)count, sizeof *seconds, compare_doubles);
    metrics->median_step_s = count > 0 ? (seconds[(count - 1) / 2] + seconds[count / 2]) / 2 : NAN;
    metrics->low_step_s = count > 0 ? quantile_of(seconds, count, 0.1) : NAN;
    metrics->high_step_s = count > 0 ? quantile_of(seconds, count, 0.9) : NAN;
    return YK_OK;
}

static int32_t count_lines(const char *text, size_t length)
{
    int32_t count = 0;
    for (size_t i = 0; i < length && count < INT32_MAX; i++) {
        count += text[i] == '\n';
    }
    return count;
}

yk_status yk_run_metrics_parse(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, struct yk_run_metrics *out)
{
    struct yk_run_metrics metrics = {.unit = &yk_throughput_unit_token};
    const int32_t lines = count_lines(text, length);
    YK_TRY_NEW(arena, metrics.steps, (int64_t)lines + 1);
    YK_TRY_NEW(arena, metrics.evaluations, (int64_t)lines + 1);
    YK_TRY_NEW(arena, metrics.rebalancings, (int64_t)lines + 1);
    for (int32_t i = 0; i < lines; i++) {
        const char *end = memchr(text, '\n', length);
        struct yk_json *json = NULL;
        yk_status status = yk_json_parse(text, (size_t)(end - text), &json);
        YK_IF_OK(read_line(json, arena, &metrics));
        yk_json_destroy(json);
        if (status != YK_OK) {
            char place[32];
            snprintf(place, sizeof place, "line %d", (int)i + 1);
            return yk_status_prefix_message(yk_status_prefix_message(status, place), source);
        }
        length -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    YK_TRY(find_spread(&metrics, arena));
    *out = metrics;
    return YK_OK;
}
