#include "job/planning/plan_times.h"

#include "base/table.h"
#include "base/units.h"
#include "sim/sim.h"

#include <inttypes.h>

static bool is_message(const struct yk_op_class *sort)
{
    return sort->bytes > 0;
}

/* The layer, and where it is computed; messages are of no one layer and no one device. */
static const char *layer_of(const struct yk_planner_outcome *planned,
                            const struct yk_op_class *sort)
{
    return is_message(sort) || sort->layer == YK_LAYER_NONE
               ? NULL
               : planned->study->model->layers[sort->layer].name;
}

static const char *device_of(const struct yk_planner_outcome *planned,
                             const struct yk_op_class *sort)
{
    const int32_t device = planned->plan->ranks[sort->rank].device;
    return is_message(sort) ? NULL : planned->study->cluster->devices[device].name;
}

static yk_status write_text(const struct yk_planner_outcome *planned,
                            const struct yk_op_class *sorts, int32_t count, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"op", YK_TABLE_LEFT},     {"of", YK_TABLE_LEFT},       {"on", YK_TABLE_LEFT},
        {"times", YK_TABLE_RIGHT}, {"samples", YK_TABLE_RIGHT}, {"bytes", YK_TABLE_RIGHT},
        {"alone", YK_TABLE_RIGHT}, {"off by", YK_TABLE_RIGHT},  {"from", YK_TABLE_LEFT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < count; i++) {
        const struct yk_op_class *sort = &sorts[i];
        const char *layer = layer_of(planned, sort);
        const char *device = device_of(planned, sort);
        char bytes[YK_UNITS_SIZE] = "";
        char time[YK_UNITS_SIZE];
        if (is_message(sort)) {
            yk_units_format(sort->bytes, YK_UNIT_BYTES, bytes);
        }
        yk_units_format(sort->time.seconds, YK_UNIT_SECONDS, time);
        yk_table_add(table, "%s", yk_op_kind_name(sort->kind));
        yk_table_add(table, "%s", layer ? layer : "");
        yk_table_add(table, "%s", device ? device : "");
        yk_table_add(table, "%" PRId64, sort->count);
        if (sort->samples > 0) {
            yk_table_add(table, "%" PRId64, sort->samples);
        } else {
            yk_table_add(table, "%s", "");
        }
        yk_table_add(table, "%s", bytes);
        yk_table_add(table, "%s", time);
        yk_table_add(table, "±%.0f %%", 100 * sort->time.error);
        yk_table_add(table, "%s", yk_cost_origin_name(sort->time.origin));
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static void write_json(const struct yk_planner_outcome *planned, const struct yk_op_class *sorts,
                       int32_t count, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "times");
    for (int32_t i = 0; i < count; i++) {
        const struct yk_op_class *sort = &sorts[i];
        yk_json_write_begin_row(json, 0);
        yk_json_write_string(json, "op", yk_op_kind_name(sort->kind));
        yk_json_write_string(json, "layer", layer_of(planned, sort));
        yk_json_write_string(json, "device", device_of(planned, sort));
        yk_json_write_integer(json, "count", sort->count);
        yk_json_write_integer(json, "samples", sort->samples);
        yk_json_write_number(json, "bytes", sort->bytes);
        yk_json_write_number(json, "alone_s", sort->time.seconds);
        yk_json_write_number(json, "error", sort->time.error);
        yk_json_write_string(json, "origin", yk_cost_origin_name(sort->time.origin));
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

/* As JSON or, without a writer of that, as text. */
static yk_status write_sorts(const struct yk_planner_outcome *planned, struct yk_json_writer *json,
                             struct yk_text *out)
{
    struct yk_arena *arena = NULL;
    struct yk_op_class *sorts = NULL;
    int32_t count = 0;
    YK_TRY(yk_arena_create(&arena));
    yk_status status =
        yk_sim_op_classes(planned->trial.sim, planned->study->prices, arena, &sorts, &count);
    if (status == YK_OK && json) {
        write_json(planned, sorts, count, json);
        status = yk_text_status(out);
    } else if (status == YK_OK) {
        status = write_text(planned, sorts, count, out);
    }
    yk_arena_destroy(arena);
    return status;
}

yk_status yk_plan_output_times_text(const struct yk_planner_outcome *planned, struct yk_text *out)
{
    return write_sorts(planned, NULL, out);
}

yk_status yk_plan_output_times_json(const struct yk_planner_outcome *planned,
                                    struct yk_json_writer *json)
{
    return write_sorts(planned, json, json->text);
}
