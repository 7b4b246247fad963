#include "cluster/json_device.h"

#include "base/json.h"
#include "base/text.h"
#include "cluster/json_measured.h"

#include <string.h>

enum {
    MOST_CORES = 4096
};

#define CONTROL_CHARACTERS                                                                         \
    "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"     \
    "\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The part that is meant, 1 for a whole device, and the cores of a CPU. */
static yk_status read_part(const struct yk_json *node, const struct yk_datasheet *sheet,
                           double *out, int32_t *out_cores)
{
    const struct yk_json *part = yk_json_get(node, "part");
    int64_t cores = 0;
    *out = 1;
    if (part && (!yk_json_number(part, out) || !(*out > 0) || *out > 1)) {
        return yk_fail(YK_ERROR_INPUT, "\"part\" must be a number above 0 and at most 1");
    }
    YK_TRY(yk_json_get_integer(node, "cores", 1, MOST_CORES, &cores));
    if (!sheet || sheet->generation != YK_GENERATION_CPU) {
        return cores == 0 ? YK_OK
                          : yk_fail(YK_ERROR_INPUT, "\"cores\" is for devices of type \"cpu\"");
    }
    if (cores == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"cores\" is missing; a CPU counts by its cores");
    }
    *out_cores = (int32_t)cores;
    return YK_OK;
}

static yk_status find_type(const struct yk_json *node, const struct yk_datasheet **out)
{
    const char *type = NULL;
    YK_TRY(yk_json_get_text(node, "type", &type));
    *out = type ? yk_datasheet_find(type) : NULL;
    if (!type || *out) {
        return YK_OK;
    }
    const char *nearest = yk_datasheet_nearest(type);
    if (nearest) {
        return yk_fail(YK_ERROR_INPUT, "unknown type \"%s\"; did you mean \"%s\"?", type, nearest);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "unknown type \"%s\"; yoke devices --list names those known, and without a type "
                   "a device says its memory, rates and memory_bandwidth itself",
                   type);
}

/* One rate for all formats, or an object with those that are said. */
static yk_status read_matrix(const struct yk_json *rates, struct yk_device *out)
{
    const char *known[YK_PRECISION_COUNT];
    const struct yk_json *matrix = yk_json_get(rates, "matrix");
    if (!matrix) {
        return YK_OK;
    }
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        known[i] = yk_precision_name((enum yk_precision)i);
    }
    double *flops = out->matrix_flops;
    if (!yk_json_is_object(matrix)) {
        YK_TRY(yk_json_get_amount(rates, "matrix", YK_UNIT_FLOPS, &flops[0]));
        for (int i = 1; i < YK_PRECISION_COUNT; i++) {
            flops[i] = flops[0];
        }
        return YK_OK;
    }
    YK_TRY(yk_json_check_keys(matrix, known, COUNT(known)));
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        YK_TRY(yk_json_get_amount(matrix, known[i], YK_UNIT_FLOPS, &flops[i]));
    }
    return YK_OK;
}

/* Whoever says only one of the two fp32 rates means both, unless a datasheet has the other. */
static yk_status read_rates(const struct yk_json *node, struct yk_device *out)
{
    static const char *const known[] = {"matrix", "vector"};
    const struct yk_json *rates = yk_json_get(node, "rates");
    if (!rates) {
        return YK_OK;
    }
    if (!yk_json_is_object(rates)) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"rates\" must be an object with \"matrix\" and \"vector\", not %s",
                       yk_json_kind(rates));
    }
    YK_TRY(yk_json_check_keys(rates, known, COUNT(known)));
    yk_status status = read_matrix(rates, out);
    if (status != YK_OK) {
        return yk_status_prefix(status, "matrix");
    }
    YK_TRY(yk_json_get_amount(rates, "vector", YK_UNIT_FLOPS, &out->vector_flops));
    if (!(out->vector_flops > 0)) {
        out->vector_flops = out->matrix_flops[YK_PRECISION_FP32];
    }
    return YK_OK;
}

static yk_status check_complete(const struct yk_json *node, const struct yk_device *device)
{
    if (!(device->vector_flops > 0) && yk_json_get(node, "rates")) {
        return yk_fail(YK_ERROR_INPUT, "\"rates\" says neither \"vector\" nor the \"fp32\" of "
                                       "\"matrix\"");
    }
    const char *missing = !(device->memory_bytes > 0)         ? "memory"
                          : !(device->vector_flops > 0)       ? "rates"
                          : !(device->memory_bytes_per_s > 0) ? "memory_bandwidth"
                                                              : NULL;
    return missing
               ? yk_fail(YK_ERROR_INPUT,
                         "\"%s\" is missing; a device has a type, or says its memory, rates and "
                         "memory_bandwidth",
                         missing)
               : YK_OK;
}

yk_status yk_cluster_json_device_read(const struct yk_json *node, struct yk_arena *arena,
                                      struct yk_device *out)
{
    static const char *const known[] = {"name",     "type",   "part", "cores",
                                        "memory",   "rates",  "node", "memory_bandwidth",
                                        "measured", "comment"};
    const struct yk_datasheet *sheet = NULL;
    const char *text = NULL;
    double part = 1;
    int32_t cores = 0;
    YK_TRY(yk_json_check_object(node, known, COUNT(known)));
    YK_TRY(find_type(node, &sheet));
    YK_TRY(read_part(node, sheet, &part, &cores));
    if (sheet) {
        yk_cluster_builder_describe_device(sheet, part, cores, out);
    } else {
        *out = (struct yk_device){.part = part};
    }
    YK_TRY(yk_json_get_text(node, "comment", &text));
    YK_TRY(yk_json_get_text(node, "name", &text));
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"name\" is missing");
    }
    if (strcspn(text, CONTROL_CHARACTERS) != strlen(text)) {
        return yk_fail(YK_ERROR_INPUT, "\"name\" holds a control character");
    }
    YK_TRY(yk_arena_strdup(arena, text, &out->name));
    YK_TRY(yk_json_get_amount(node, "memory", YK_UNIT_BYTES, &out->memory_bytes));
    YK_TRY(yk_json_get_amount(node, "memory_bandwidth", YK_UNIT_BYTES_PER_S,
                              &out->memory_bytes_per_s));
    const yk_status status = read_rates(node, out);
    if (status != YK_OK) {
        return yk_status_prefix(status, "rates");
    }
    YK_TRY(check_complete(node, out));
    return yk_cluster_json_measured_read(node, arena, out);
}
