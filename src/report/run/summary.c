#include "report/run/summary.h"

#include "base/json.h"
#include "base/json_write.h"

#include <math.h>

/* A figure of a rank: what it is called, and where it lies. */
struct figure {
    const char *name;
    size_t place;
};

static const struct figure figures[] = {
    {"share", offsetof(struct yk_run_rank_summary, share)},
    {"compute_s", offsetof(struct yk_run_rank_summary, measured.compute_s)},
    {"exposed_s", offsetof(struct yk_run_rank_summary, measured.exposed_s)},
    {"idle_s", offsetof(struct yk_run_rank_summary, measured.idle_s)},
    {"peak_bytes", offsetof(struct yk_run_rank_summary, measured_bytes)},
    {"predicted_compute_s", offsetof(struct yk_run_rank_summary, predicted.compute_s)},
    {"predicted_exposed_s", offsetof(struct yk_run_rank_summary, predicted.exposed_s)},
    {"predicted_idle_s", offsetof(struct yk_run_rank_summary, predicted.idle_s)},
    {"predicted_peak_bytes", offsetof(struct yk_run_rank_summary, predicted_bytes)},
    {"limit_bytes", offsetof(struct yk_run_rank_summary, limit_bytes)},
};

enum {
    FIGURE_COUNT = sizeof figures / sizeof *figures
};

struct yk_run_rank_summary yk_run_summary_make_unknown_rank(void)
{
    return (struct yk_run_rank_summary){
        .share = NAN,
        .predicted = {NAN, NAN, NAN},
        .measured = {NAN, NAN, NAN},
        .predicted_bytes = NAN,
        .measured_bytes = NAN,
        .limit_bytes = NAN,
    };
}

void yk_run_summary_write_ranks_json(const struct yk_run_rank_summary *ranks, int32_t count,
                                     struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_array(&json, NULL);
    for (int32_t r = 0; r < count; r++) {
        yk_json_write_begin_object(&json, NULL);
        yk_json_write_integer(&json, "rank", r);
        if (ranks[r].device) {
            yk_json_write_string(&json, "device", ranks[r].device);
        }
        for (int f = 0; f < FIGURE_COUNT; f++) {
            const double value =
                *(const double *)(const void *)((const char *)&ranks[r] + figures[f].place);
            if (isfinite(value)) {
                yk_json_write_number(&json, figures[f].name, value);
            }
        }
        yk_json_write_end_object(&json);
    }
    yk_json_write_end_array(&json);
}

static yk_status read_rank(const struct yk_json *node, int32_t number, struct yk_arena *arena,
                           struct yk_run_rank_summary *out)
{
    int64_t rank = number;
    if (!yk_json_is_object(node)) {
        return yk_fail(YK_ERROR_INPUT, "a rank must be an object, not %s", yk_json_type_name(node));
    }
    YK_TRY(yk_json_get_integer(node, "rank", 0, INT32_MAX, &rank));
    if (rank != number) {
        return yk_fail(YK_ERROR_INPUT, "rank %d stands where %d should be", (int)rank, (int)number);
    }
    *out = yk_run_summary_make_unknown_rank();
    YK_TRY(yk_arena_strdup(arena, yk_json_string_value(yk_json_get_member(node, "device")),
                           &out->device));
    for (int f = 0; f < FIGURE_COUNT; f++) {
        const struct yk_json *value = yk_json_get_member(node, figures[f].name);
        double *place = (double *)(void *)((char *)out + figures[f].place);
        if (!value || yk_json_is_null(value)) {
            continue;
        }
        if (!yk_json_number_value(value, place) || !(*place >= 0)) {
            *place = NAN;
            return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number from 0 up", figures[f].name);
        }
    }
    return YK_OK;
}

static yk_status read_root(const struct yk_json *root, struct yk_arena *arena,
                           struct yk_run_summary *out)
{
    const struct yk_json *list = NULL;
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object, not %s", yk_json_type_name(root));
    }
    (void)yk_json_number_value(yk_json_get_member(root, "peak_bytes"), &out->peak_bytes);
    /* Of a device with memory of its own, that is what was planned for. */
    (void)yk_json_number_value(yk_json_get_member(root, "device_bytes"), &out->peak_bytes);
    (void)yk_json_number_value(yk_json_get_member(root, "predicted_step_s"),
                               &out->predicted_step_s);
    YK_TRY(yk_json_get_array(root, "ranks", &list));
    YK_TRY_NEW(arena, out->ranks, yk_json_array_count(list) + 1);
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_rank(yk_json_array_at(list, i), (int32_t)i, arena, &out->ranks[i]), "ranks", i,
            NULL));
    }
    out->rank_count = (int32_t)yk_json_array_count(list);
    return YK_OK;
}

yk_status yk_run_summary_parse(const char *text, size_t length, const char *source,
                               struct yk_arena *arena, struct yk_run_summary *out)
{
    struct yk_run_summary summary = {.peak_bytes = NAN, .predicted_step_s = NAN};
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_root(root, arena, &summary));
    *out = summary;
    return YK_OK;
}
