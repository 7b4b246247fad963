#include "job/planning/place_output.h"

#include <math.h>

static void add_number(struct yk_text *out, double value)
{
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_member(struct yk_text *out, const char *key, const char *value)
{
    yk_text_addf(out, ",\"%s\":", key);
    if (value) {
        yk_text_add_json(out, value);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_peaks(const struct yk_place_output *output, const struct yk_placement *placement,
                      struct yk_text *out)
{
    const struct yk_cluster *cluster = output->request->book->cluster;
    yk_text_add(out, ",\"peak_bytes\":[");
    for (int32_t p = 0; p < cluster->device_count; p++) {
        yk_text_add(out, p > 0 ? "," : "");
        add_number(out, placement->peak_bytes ? (double)placement->peak_bytes[p] : NAN);
    }
    yk_text_add(out, "]");
}

static void add_map(const struct yk_module_map *map, struct yk_text *out)
{
    yk_text_add(out, ",\"map\":{");
    for (int32_t i = 0; map && i < map->count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        yk_text_add_json(out, map->entries[i].module);
        yk_text_add(out, ":");
        yk_module_map_add_place(out, map->entries[i].place);
    }
    yk_text_add(out, "}");
}

/* Each layer's device for each micro-batch, where a layer has more than one. */
static void add_divided(const struct yk_placement *placement, struct yk_text *out)
{
    const struct yk_step_graph *step = placement->step;
    yk_text_add(out, ",\"micro_batch_devices\":{");
    for (int32_t l = 0; l < step->layer_count; l++) {
        yk_text_add(out, l > 0 ? "," : "");
        yk_text_add_json(out, step->model->layers[l].name);
        yk_text_add(out, ":[");
        for (int32_t m = 0; m < step->micro_batch_count; m++) {
            yk_text_addf(out, "%s%d", m > 0 ? "," : "",
                         placement->devices[m * step->layer_count + l]);
        }
        yk_text_add(out, "]");
    }
    yk_text_add(out, "}");
}

static void add_placement(const struct yk_place_output *output,
                          const struct yk_placement *placement, struct yk_text *out)
{
    struct yk_text words = {0};
    yk_text_add(out, "{\"name\":");
    yk_text_add_json(out, placement->name);
    yk_text_addf(out, ",\"micro_batches\":%d,\"step_s\":", placement->step->micro_batch_count);
    add_number(out, placement->step_s);
    if (isfinite(placement->step_s)) {
        yk_band_write_json(&placement->step->band, out);
    }
    yk_text_add(out, ",\"bound_s\":");
    add_number(out, placement->bound_s);
    const bool fits = placement->schedule && placement->fit.fits;
    yk_text_addf(out, ",\"fits\":%s", fits ? "true" : "false");
    if (!fits) {
        add_member(out, "violation", yk_place_violation(output, placement, &words));
    }
    if (placement->remark) {
        add_member(out, "remark", placement->remark);
    }
    add_peaks(output, placement, out);
    add_map(placement->map, out);
    if (placement->divided) {
        add_divided(placement, out);
    }
    yk_text_add(out, "}");
    out->failed |= words.failed;
    yk_text_free(&words);
}

static void add_devices(const struct yk_cluster *cluster, struct yk_text *out)
{
    yk_text_add(out, ",\"devices\":[");
    for (int32_t p = 0; p < cluster->device_count; p++) {
        yk_text_add(out, p > 0 ? ",{\"name\":" : "{\"name\":");
        yk_text_add_json(out, cluster->devices[p].name);
        add_member(out, "type", cluster->devices[p].type);
        yk_text_add(out, ",\"limit_bytes\":");
        add_number(out, cluster->devices[p].memory_bytes);
        yk_text_add(out, "}");
    }
    yk_text_add(out, "]");
}

yk_status yk_place_write_json(const struct yk_place_output *output, struct yk_text *out)
{
    const struct yk_placements *all = output->placements;
    const struct yk_cluster *cluster = output->request->book->cluster;
    struct yk_text source = {0};
    yk_band_describe(&all->steps[0]->band, &source);
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"placements\"");
    add_member(out, "model", output->request->config->name);
    add_member(out, "cluster", cluster->source);
    add_member(out, "source", yk_text_chars(&source));
    add_member(out, "assumption", cluster->assumption);
    add_devices(cluster, out);
    add_member(out, "winner", all->winner < 0 ? NULL : all->placements[all->winner].name);
    add_member(out, "note", all->note);
    yk_text_addf(out, ",\"trials\":%lld,\"cut_short\":%s", (long long)all->trials,
                 all->cut_short ? "true" : "false");
    yk_text_add(out, ",\"placements\":[");
    for (int32_t i = 0; i < all->count; i++) {
        yk_text_add(out, i > 0 ? ",\n" : "\n");
        add_placement(output, &all->placements[i], out);
    }
    yk_text_add(out, "]}\n");
    out->failed |= source.failed;
    yk_text_free(&source);
    return yk_text_status(out);
}
