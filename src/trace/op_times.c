#include "trace/op_times.h"

#include "base/json.h"
#include "base/json_write.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    MAX_STEPS = INT32_MAX
};

static void write_rounded(struct yk_json_writer *json, const char *key, int digits, double value)
{
    yk_json_write_key(json, key);
    yk_text_addf(json->text, "%.*g", digits, value);
}

static void write_op(const struct yk_op_times_op *op, struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 3);
    yk_json_write_string(json, "op", op->op);
    write_rounded(json, "seconds", 6, op->seconds);
    write_rounded(json, "low_s", 6, op->low_s);
    write_rounded(json, "high_s", 6, op->high_s);
    write_rounded(json, "overlap", 4, op->overlap);
    yk_json_write_end_object(json);
}

static void write_rank(const struct yk_op_times_rank *rank, struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "device", rank->device);
    yk_json_write_integer(json, "share", rank->share);
    if (rank->versions[0]) {
        yk_json_write_string(json, "versions", rank->versions);
    }
    yk_json_write_begin_array(json, "ops");
    for (int32_t i = 0; i < rank->op_count; i++) {
        write_op(&rank->ops[i], json);
    }
    yk_json_write_end_array(json);
    yk_json_write_end_object(json);
}

yk_status yk_op_times_write_json(const struct yk_op_times *times, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_yoke_document(&json, "op times");
    yk_json_write_integer(&json, "steps", times->steps);
    yk_json_write_newline(&json, 1);
    yk_json_write_begin_array(&json, "ranks");
    for (int32_t r = 0; r < times->rank_count; r++) {
        write_rank(&times->ranks[r], &json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}

/* A number that must be there, not below 0. */
static yk_status need(const struct yk_json *object, const char *key, double *out)
{
    double value = NAN;
    if (!yk_json_number_value(yk_json_get_member(object, key), &value) || !(value >= 0) ||
        isinf(value)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number, 0 or more", key);
    }
    *out = value;
    return YK_OK;
}

static yk_status read_op(const struct yk_json *node, struct yk_arena *arena,
                         struct yk_op_times_op *out)
{
    static const char *const known[] = {"op", "seconds", "low_s", "high_s", "overlap"};
    const char *name = NULL;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "op"), "op", &name));
    YK_TRY(yk_arena_strdup(arena, name, &out->op));
    YK_TRY(need(node, "seconds", &out->seconds));
    YK_TRY(need(node, "low_s", &out->low_s));
    YK_TRY(need(node, "high_s", &out->high_s));
    YK_TRY(need(node, "overlap", &out->overlap));
    return out->overlap <= 1 ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"overlap\" is a part: 1 at most");
}

static yk_status read_rank(const struct yk_json *node, struct yk_arena *arena,
                           struct yk_op_times_rank *out)
{
    static const char *const known[] = {"device", "share", "versions", "ops"};
    const struct yk_json *ops = NULL;
    const char *device = NULL;
    const char *versions = NULL;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "device"), "device", &device));
    YK_TRY(yk_json_get_string(node, "versions", &versions));
    YK_TRY(yk_json_get_integer(node, "share", 0, INT32_MAX, &out->share));
    YK_TRY(yk_json_require_array(node, "ops", &ops));
    YK_TRY(yk_arena_strdup(arena, device, &out->device));
    YK_TRY(yk_arena_strdup(arena, versions ? versions : "", &out->versions));
    out->op_count = (int32_t)yk_json_array_count(ops);
    YK_TRY_NEW(arena, out->ops, (int64_t)out->op_count + 1);
    for (int32_t i = 0; i < out->op_count; i++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_op(yk_json_array_at(ops, (size_t)i), arena, &out->ops[i]), "ops", (size_t)i,
            NULL));
    }
    return YK_OK;
}

static yk_status read_all(const struct yk_json *root, struct yk_arena *arena,
                          struct yk_op_times *out)
{
    static const char *const known[] = {"yoke", "kind", "name", "comment", "steps", "ranks"};
    const struct yk_json *ranks = NULL;
    struct yk_op_times times = {0};
    YK_TRY(yk_json_check_yoke_document(root, "op times", known, COUNT(known)));
    YK_TRY(yk_json_get_integer(root, "steps", 1, MAX_STEPS, &times.steps));
    YK_TRY(yk_json_require_array(root, "ranks", &ranks));
    times.rank_count = (int32_t)yk_json_array_count(ranks);
    YK_TRY_NEW(arena, times.ranks, (int64_t)times.rank_count + 1);
    for (int32_t r = 0; r < times.rank_count; r++) {
        YK_TRY(yk_json_prefix_error_with_element(
            read_rank(yk_json_array_at(ranks, (size_t)r), arena, &times.ranks[r]), "ranks",
            (size_t)r, NULL));
    }
    *out = times;
    return YK_OK;
}

yk_status yk_op_times_parse_json(const char *text, size_t length, const char *source,
                                 struct yk_arena *arena, struct yk_op_times *out)
{
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_all(root, arena, out));
    return YK_OK;
}
