#include "cluster/json_measured.h"

#include "base/json.h"

#include <math.h>

enum {
    MOST_ENTRIES = 100000,
    MOST_SAMPLES = 1000000000,
};

static yk_status need_time(const struct yk_json *node, const char *key, double *out)
{
    *out = NAN;
    YK_TRY(yk_json_get_amount_or_zero(node, key, YK_UNIT_SECONDS, out));
    return isnan(*out) ? yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key) : YK_OK;
}

static yk_status read_entry(const struct yk_json *node, struct yk_arena *arena,
                            struct yk_measured_layer *out)
{
    static const char *const known[] = {"layer", "model",   "precision", "sequence",
                                        "batch", "forward", "backward",  "update"};
    const char *layer = NULL;
    const char *model = NULL;
    const char *precision = NULL;
    enum yk_precision found = YK_PRECISION_FP32;
    YK_TRY(yk_json_check_object(node, known, sizeof known / sizeof known[0]));
    YK_TRY(yk_json_get_text(node, "layer", &layer));
    YK_TRY(yk_json_get_text(node, "model", &model));
    YK_TRY(yk_json_get_text(node, "precision", &precision));
    if (!layer) {
        return yk_fail(YK_ERROR_INPUT, "\"layer\" is missing");
    }
    if (precision && !yk_precision_find(precision, &found)) {
        return yk_fail(YK_ERROR_INPUT, "\"precision\" is \"%s\", not fp32, tf32, fp16 or bf16",
                       precision);
    }
    *out = (struct yk_measured_layer){.update_s = NAN};
    YK_TRY(yk_arena_strdup(arena, layer, &out->layer));
    YK_TRY(yk_arena_strdup(arena, model, &out->model));
    YK_TRY(yk_arena_strdup(arena, precision, &out->precision));
    YK_TRY(yk_json_get_integer(node, "sequence", 1, MOST_SAMPLES, &out->sequence));
    YK_TRY(yk_json_get_integer(node, "batch", 1, MOST_SAMPLES, &out->batch));
    if (out->batch == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"batch\" is missing");
    }
    YK_TRY(need_time(node, "forward", &out->forward_s));
    YK_TRY(need_time(node, "backward", &out->backward_s));
    return yk_json_get_amount_or_zero(node, "update", YK_UNIT_SECONDS, &out->update_s);
}

yk_status yk_cluster_json_measured_read(const struct yk_json *device, struct yk_arena *arena,
                                        struct yk_device *out)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_list(device, "measured", &list));
    const size_t count = yk_json_count(list);
    if (count > MOST_ENTRIES) {
        return yk_fail(YK_ERROR_INPUT, "\"measured\" has more than %d entries", MOST_ENTRIES);
    }
    struct yk_measured_layer *measured = NULL;
    if (count > 0) {
        YK_TRY_NEW(arena, measured, count);
    }
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_json_add_location(read_entry(yk_json_at(list, i), arena, &measured[i]),
                                    "measured", i, NULL));
    }
    out->measured = measured;
    out->measured_count = (int32_t)count;
    return YK_OK;
}
