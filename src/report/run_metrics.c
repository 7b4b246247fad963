#include "report/run_metrics.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps are counted in doubles by the readers of JSON: beyond this they are no longer whole. */
static const double MOST_STEP = 9007199254740992.0;

static double number_of(const struct yk_json *object, const char *key)
{
    double value = NAN;
    (void)yk_json_number(yk_json_get(object, key), &value);
    return value;
}

static yk_status read_line(const struct yk_json *line, struct yk_run_metrics *out)
{
    const double step = number_of(line, "step");
    bool skipped = false;
    if (!(step >= 0 && step <= MOST_STEP && step == floor(step))) {
        return yk_fail(YK_ERROR_INPUT, "\"step\" must be a whole number");
    }
    if (yk_json_get(line, "evaluation_loss")) {
        out->evaluations[out->evaluation_count++] = (struct yk_run_report_evaluation){
            .step = (int64_t)step,
            .loss = number_of(line, "evaluation_loss"),
        };
        return YK_OK;
    }
    (void)yk_json_boolean(yk_json_get(line, "skipped"), &skipped);
    out->steps[out->step_count++] = (struct yk_run_report_step){
        .step = (int64_t)step,
        .loss = number_of(line, "loss"),
        .norm = number_of(line, "norm"),
        .rate = number_of(line, "rate"),
        .seconds = number_of(line, "seconds"),
        .tokens_per_s = number_of(line, "tokens_per_s"),
        .skipped = skipped,
    };
    return YK_OK;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static yk_status find_median(struct yk_run_metrics *metrics, struct yk_arena *arena)
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

yk_status yk_run_metrics_read(const char *text, size_t length, const char *source,
                              struct yk_arena *arena, struct yk_run_metrics *out)
{
    struct yk_run_metrics metrics = {0};
    const int32_t lines = count_lines(text, length);
    YK_TRY_NEW(arena, metrics.steps, (int64_t)lines + 1);
    YK_TRY_NEW(arena, metrics.evaluations, (int64_t)lines + 1);
    for (int32_t i = 0; i < lines; i++) {
        const char *end = memchr(text, '\n', length);
        struct yk_json *json = NULL;
        yk_status status = yk_json_parse(text, (size_t)(end - text), &json);
        if (status == YK_OK) {
            status = read_line(json, &metrics);
        }
        yk_json_destroy(json);
        if (status != YK_OK) {
            char place[32];
            snprintf(place, sizeof place, "line %d", (int)i + 1);
            return yk_fail_in(yk_fail_in(status, place), source);
        }
        length -= (size_t)(end - text) + 1;
        text = end + 1;
    }
    YK_TRY(find_median(&metrics, arena));
    *out = metrics;
    return YK_OK;
}
