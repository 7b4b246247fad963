#include "job/planning/place_output.h"

#include "base/json_write.h"

#include <math.h>

static void add_peaks(const struct yk_place_output *output, const struct yk_placement *placement,
                      struct yk_json_writer *json)
{
    const struct yk_cluster *cluster = output->request->book->cluster;
    yk_json_write_begin_array(json, "peak_bytes");
    for (int32_t p = 0; p < cluster->device_count; p++) {
        yk_json_write_number(json, NULL,
                             placement->peak_bytes ? (double)placement->peak_bytes[p] : NAN);
    }
    yk_json_write_end_array(json);
}

static void add_map(const struct yk_module_map *map, struct yk_json_writer *json)
{
    yk_json_write_begin_object(json, "map");
    for (int32_t i = 0; map && i < map->count; i++) {
        yk_json_write_key(json, map->entries[i].module);
        yk_module_map_add_place(json->text, map->entries[i].place);
    }
    yk_json_write_end_object(json);
}

/* Each layer's device for each micro-batch, where a layer has more than one. */
static void add_divided(const struct yk_placement *placement, struct yk_json_writer *json)
{
    const struct yk_step_graph *step = placement->step;
    yk_json_write_begin_object(json, "micro_batch_devices");
    for (int32_t l = 0; l < step->layer_count; l++) {
        yk_json_write_begin_array(json, step->model->layers[l].name);
        for (int32_t m = 0; m < step->micro_batch_count; m++) {
            yk_json_write_integer(json, NULL, placement->devices[m * step->layer_count + l]);
        }
        yk_json_write_end_array(json);
    }
    yk_json_write_end_object(json);
}

static void add_placement(const struct yk_place_output *output,
                          const struct yk_placement *placement, struct yk_json_writer *json)
{
    const bool fits = placement->schedule && placement->fit.fits;
    struct yk_text words = {0};
    yk_json_write_begin_row(json, 0);
    yk_json_write_string(json, "name", placement->name);
    yk_json_write_integer(json, "micro_batches", placement->step->micro_batch_count);
    yk_json_write_number(json, "step_s", placement->step_s);
    if (isfinite(placement->step_s)) {
        yk_error_band_write_json(&placement->step->band, json->text);
    }
    yk_json_write_number(json, "bound_s", placement->bound_s);
    yk_json_write_bool(json, "fits", fits);
    if (!fits) {
        yk_json_write_string(json, "violation",
                             yk_place_output_violation(output, placement, &words));
    }
    if (placement->remark) {
        yk_json_write_string(json, "remark", placement->remark);
    }
    add_peaks(output, placement, json);
    add_map(placement->map, json);
    if (placement->divided) {
        add_divided(placement, json);
    }
    yk_json_write_end_object(json);
    json->text->failed |= words.failed;
    yk_text_free(&words);
}

static void add_devices(const struct yk_cluster *cluster, struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "devices");
    for (int32_t p = 0; p < cluster->device_count; p++) {
        yk_json_write_begin_object(json, NULL);
        yk_json_write_string(json, "name", cluster->devices[p].name);
        yk_json_write_string(json, "type", cluster->devices[p].type);
        yk_json_write_number(json, "limit_bytes", cluster->devices[p].memory_bytes);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_place_output_json(const struct yk_place_output *output, struct yk_text *out)
{
    const struct yk_placements *all = output->placements;
    const struct yk_cluster *cluster = output->request->book->cluster;
    struct yk_json_writer json = {.text = out};
    struct yk_text source = {0};
    yk_error_band_describe(&all->steps[0]->band, &source);
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "placements");
    yk_json_write_string(&json, "model", output->request->config->name);
    yk_json_write_string(&json, "cluster", cluster->source);
    yk_json_write_string(&json, "source", yk_text_chars(&source));
    yk_json_write_string(&json, "assumption", cluster->assumption);
    add_devices(cluster, &json);
    yk_json_write_string(&json, "winner",
                         all->winner < 0 ? NULL : all->placements[all->winner].name);
    yk_json_write_string(&json, "note", all->note);
    yk_json_write_integer(&json, "trials", all->trials);
    yk_json_write_bool(&json, "cut_short", all->cut_short);
    yk_json_write_begin_array(&json, "placements");
    for (int32_t i = 0; i < all->count; i++) {
        add_placement(output, &all->placements[i], &json);
    }
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    out->failed |= source.failed;
    yk_text_free(&source);
    return yk_text_status(out);
}
