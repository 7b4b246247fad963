/* Plan restrictions: the member "request" of a plan file. */
#include "plan/plan_json.h"

#include <string.h>

enum {
    RANDOM = YK_SHARDING_STRATEGY_COUNT, /* the choice after the strategies */
};

static yk_status read_strategy(const struct yk_json *node, struct yk_plan_restrictions *out)
{
    const char *names[YK_SHARDING_STRATEGY_COUNT + 1];
    int chosen = -1;
    for (int i = 0; i < YK_SHARDING_STRATEGY_COUNT; i++) {
        names[i] = yk_plan_strategy_name((enum yk_sharding_strategy)i);
    }
    names[RANDOM] = "random";
    YK_TRY(
        yk_plan_json_read_choice(node, "strategy", names, YK_SHARDING_STRATEGY_COUNT + 1, &chosen));
    out->random_strategies = chosen == RANDOM;
    out->one_strategy = chosen >= 0 && chosen != RANDOM;
    if (out->one_strategy) {
        out->strategy = (enum yk_sharding_strategy)chosen;
    }
    return YK_OK;
}

/* "only": ["shares", "order"]. */
static yk_status read_decisions(const struct yk_json *node, uint32_t *undecided)
{
    const struct yk_json *list = NULL;
    YK_TRY(yk_json_get_array(node, "only", &list));
    if (!list) {
        return YK_OK;
    }
    *undecided = YK_DECIDE_ALL;
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const char *word = yk_json_string_value(yk_json_array_at(list, i));
        int32_t bit = 0;
        while (bit < YK_PLAN_DECISION_COUNT &&
               (!word || strcmp(word, yk_plan_decision_name(bit)) != 0)) {
            bit++;
        }
        if (bit == YK_PLAN_DECISION_COUNT) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"only\" must list words among shares, parts, strategies, block, "
                           "order, placement and recomputation");
        }
        *undecided &= ~((uint32_t)1 << bit);
    }
    return YK_OK;
}

static yk_status read_slowdown(const struct yk_json *node, double *out)
{
    const struct yk_json *member = yk_json_get_member(node, "slowdown");
    if (member && (!yk_json_number_value(member, out) || !(*out >= 1))) {
        return yk_fail(YK_ERROR_INPUT, "\"slowdown\" must be a number of at least 1");
    }
    return YK_OK;
}

/* The file lists the devices that may be used; the options list the others. */
static yk_status read_devices(const struct yk_json *node, const struct yk_name_index *devices,
                              struct yk_arena *arena, struct yk_plan_restrictions *out)
{
    const struct yk_json *list = NULL;
    bool *left_out = NULL;
    YK_TRY(yk_json_get_array(node, "devices", &list));
    if (!list) {
        return YK_OK;
    }
    if (yk_json_array_count(list) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"devices\" is empty");
    }
    out->device_count = yk_name_index_count(devices);
    YK_TRY_NEW(arena, left_out, out->device_count);
    memset(left_out, true, (size_t)out->device_count * sizeof *left_out);
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const char *name = NULL;
        YK_TRY(yk_json_prefix_error_with_element(
            yk_json_read_nonempty_string(yk_json_array_at(list, i), "device", &name), "devices", i,
            NULL));
        const int32_t device = yk_name_index_find(devices, name);
        if (device < 0) {
            return yk_fail(YK_ERROR_INPUT, "the cluster has no device \"%s\"", name);
        }
        left_out[device] = false;
    }
    out->excluded_devices = left_out;
    return YK_OK;
}

static yk_status read_all(const struct yk_json *node, int32_t max,
                          const struct yk_name_index *devices, struct yk_arena *arena,
                          struct yk_plan_restrictions *out)
{
    static const char *const known[] = {"memory",   "micro_batches", "recompute", "only",
                                        "strategy", "slowdown",      "devices"};
    YK_TRY(yk_json_check_object_keys(node, known, sizeof known / sizeof known[0]));
    YK_TRY(yk_plan_json_read_byte_size(node, "memory", false, &out->memory_bytes));
    YK_TRY(yk_plan_json_read_integer(node, "micro_batches", 1, max, &out->micro_batches));
    YK_TRY(yk_json_get_bool(node, "recompute", &out->recompute));
    YK_TRY(read_decisions(node, &out->undecided));
    YK_TRY(read_strategy(node, out));
    YK_TRY(read_slowdown(node, &out->slowdown));
    return read_devices(node, devices, arena, out);
}

yk_status yk_plan_restrictions_read_json(const struct yk_json *root, int64_t batch,
                                         const struct yk_name_index *devices,
                                         struct yk_arena *arena, struct yk_plan_restrictions *out)
{
    const int32_t max = batch < INT32_MAX ? (int32_t)batch : INT32_MAX;
    const struct yk_json *node = yk_json_get_member(root, "request");
    if (!node) {
        return YK_OK;
    }
    return yk_status_prefix_message(read_all(node, max, devices, arena, out), "request");
}

static void write_lists(const struct yk_plan_restrictions *options,
                        const struct yk_cluster *cluster, struct yk_json_writer *json)
{
    if (options->undecided) {
        yk_json_write_begin_array(json, "only");
        for (int32_t i = 0; i < YK_PLAN_DECISION_COUNT; i++) {
            if (!(options->undecided >> i & 1)) {
                yk_json_write_string(json, NULL, yk_plan_decision_name(i));
            }
        }
        yk_json_write_end_array(json);
    }
    if (options->excluded_devices) {
        yk_json_write_begin_array(json, "devices");
        for (int32_t i = 0; i < options->device_count; i++) {
            if (!options->excluded_devices[i]) {
                yk_json_write_string(json, NULL, cluster->devices[i].name);
            }
        }
        yk_json_write_end_array(json);
    }
}

static bool is_empty(const struct yk_plan_restrictions *options)
{
    return !(options->memory_bytes > 0) && options->micro_batches <= 0 && !options->recompute &&
           !options->one_strategy && !options->random_strategies && !(options->slowdown > 0) &&
           !options->undecided && !options->excluded_devices;
}

void yk_plan_restrictions_write_json(const struct yk_plan_restrictions *options,
                                     const struct yk_cluster *cluster, struct yk_json_writer *json)
{
    if (is_empty(options)) {
        return;
    }
    yk_json_write_newline(json, 1);
    yk_json_write_begin_object(json, "request");
    if (options->memory_bytes > 0) {
        yk_plan_json_write_byte_size(json, "memory", options->memory_bytes);
    }
    if (options->micro_batches > 0) {
        yk_json_write_integer(json, "micro_batches", options->micro_batches);
    }
    if (options->recompute) {
        yk_json_write_bool(json, "recompute", true);
    }
    if (options->one_strategy || options->random_strategies) {
        yk_json_write_string(json, "strategy",
                             options->random_strategies ? "random"
                                                        : yk_plan_strategy_name(options->strategy));
    }
    if (options->slowdown > 0) {
        yk_json_write_number(json, "slowdown", options->slowdown);
    }
    write_lists(options, cluster, json);
    yk_json_write_end_object(json);
}
