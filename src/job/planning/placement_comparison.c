#include "job/planning/placement_job.h"

#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "job/workload.h"
#include "report/schedule/comparison_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_MEMORY_COLUMNS = 6, /* more devices than that show the fullest one only */
    MAX_RUNS = 12,          /* lines of a divided map */
    NAME_COLUMNS = 24,      /* for the layers of a run */
};

const char *yk_placement_comparison_misfit_reason(const struct yk_placement_comparison *output,
                                                  const struct yk_placement *placement,
                                                  struct yk_text *out)
{
    out->length = 0;
    if (!placement->schedule) {
        yk_text_add(out, placement->refusal);
    } else if (!placement->fit.fits) {
        char memory[YK_UNITS_BUFFER_SIZE];
        const struct yk_device *device =
            &output->request->cost_sources->cluster->devices[placement->fit.device];
        yk_units_format(device->memory_bytes, YK_UNIT_BYTES, memory);
        yk_text_addf(out, "%s lacks %s of memory beyond its %s", device->name,
                     YK_UNITS_FORMAT_TEMPORARY((double)placement->fit.missing_bytes, YK_UNIT_BYTES),
                     memory);
    } else {
        return NULL;
    }
    return yk_text_chars(out);
}

/* "94 %" more than the winner; "" for the winner itself, or where there is nothing to compare. */
static void add_difference(const struct yk_placement_comparison *output,
                           const struct yk_placement *placement, char *words, size_t size)
{
    const struct yk_placements *all = output->placements;
    words[0] = '\0';
    if (placement->schedule && !placement->fit.fits) {
        snprintf(words, size, "does not fit");
    } else if (all->winner >= 0 && placement->schedule &&
               placement != &all->placements[all->winner]) {
        const double ratio = placement->step_s / all->placements[all->winner].step_s;
        snprintf(words, size, "%.1f %%", 100 * (ratio - 1));
    }
}

static void format_memory(const struct yk_placement_comparison *output,
                          const struct yk_placement *placement, int32_t device, char *words,
                          size_t size)
{
    if (!placement->schedule) {
        snprintf(words, size, "-");
        return;
    }
    const double limit = output->request->cost_sources->cluster->devices[device].memory_bytes;
    snprintf(words, size, "%s (%.0f %%)",
             YK_UNITS_FORMAT_TEMPORARY((double)placement->peak_bytes[device], YK_UNIT_BYTES),
             100 * (double)placement->peak_bytes[device] / limit);
}

/* The device whose memory is fullest. */
static int32_t fullest(const struct yk_placement_comparison *output,
                       const struct yk_placement *placement)
{
    const struct yk_cluster *cluster = output->request->cost_sources->cluster;
    int32_t device = 0;
    for (int32_t p = 1; placement->schedule && p < cluster->device_count; p++) {
        if ((double)placement->peak_bytes[p] / cluster->devices[p].memory_bytes >
            (double)placement->peak_bytes[device] / cluster->devices[device].memory_bytes) {
            device = p;
        }
    }
    return device;
}

static void add_row(struct yk_text_table *table, const struct yk_placement_comparison *output,
                    const struct yk_placement *placement)
{
    const int32_t P = output->request->cost_sources->cluster->device_count;
    char words[64];
    yk_text_table_add_cell(table, "%s", placement->name);
    yk_text_table_add_cell(table, "%d", placement->step->micro_batch_count);
    yk_text_table_add_cell(
        table, "%s",
        placement->schedule ? YK_UNITS_FORMAT_TEMPORARY(placement->step_s, YK_UNIT_SECONDS) : "-");
    add_difference(output, placement, words, sizeof words);
    yk_text_table_add_cell(table, "%s", words);
    yk_text_table_add_cell(table, "%s",
                           YK_UNITS_FORMAT_TEMPORARY(placement->bound_s, YK_UNIT_SECONDS));
    if (P > MAX_MEMORY_COLUMNS) {
        format_memory(output, placement, fullest(output, placement), words, sizeof words);
        yk_text_table_add_cell(table, "%s", words);
    }
    for (int32_t p = 0; P <= MAX_MEMORY_COLUMNS && p < P; p++) {
        format_memory(output, placement, p, words, sizeof words);
        yk_text_table_add_cell(table, "%s", words);
    }
}

static yk_status add_table(const struct yk_placement_comparison *output, struct yk_text *out)
{
    const struct yk_cluster *cluster = output->request->cost_sources->cluster;
    const int32_t P = cluster->device_count;
    struct yk_text_table_column columns[5 + MAX_MEMORY_COLUMNS] = {
        {"placement", YK_TEXT_TABLE_LEFT}, {"micro-batches", YK_TEXT_TABLE_RIGHT},
        {"step", YK_TEXT_TABLE_RIGHT},     {"slower by", YK_TEXT_TABLE_RIGHT},
        {"bound", YK_TEXT_TABLE_RIGHT},
    };
    size_t count = 5;
    if (P > MAX_MEMORY_COLUMNS) {
        columns[count++] = (struct yk_text_table_column){"fullest memory", YK_TEXT_TABLE_RIGHT};
    }
    for (int32_t p = 0; P <= MAX_MEMORY_COLUMNS && p < P; p++) {
        columns[count++] =
            (struct yk_text_table_column){cluster->devices[p].name, YK_TEXT_TABLE_RIGHT};
    }
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, count, &table));
    for (int32_t i = 0; i < output->placements->count; i++) {
        add_row(table, output, &output->placements->placements[i]);
    }
    return yk_text_table_write_and_destroy(table, out);
}

static bool same_devices(const struct yk_placement *placement, int32_t a, int32_t b)
{
    const int32_t L = placement->step->layer_count;
    for (int32_t m = 0; m < placement->step->micro_batch_count; m++) {
        if (placement->devices[m * L + a] != placement->devices[m * L + b]) {
            return false;
        }
    }
    return true;
}

/* "gpu0", or "gpu0 for micro-batches 1–3, gpu1 for 4". */
static void add_devices(const struct yk_placement_comparison *output,
                        const struct yk_placement *placement, int32_t layer, struct yk_text *out)
{
    const struct yk_device *devices = output->request->cost_sources->cluster->devices;
    const int32_t L = placement->step->layer_count;
    const int32_t M = placement->step->micro_batch_count;
    const int32_t *places = &placement->devices[layer];
    for (int32_t first = 0; first < M;) {
        int32_t end = first + 1;
        while (end < M && places[(int64_t)end * L] == places[(int64_t)first * L]) {
            end++;
        }
        yk_text_addf(out, "%s%s", first > 0 ? ", " : "", devices[places[(int64_t)first * L]].name);
        if (end - first == M) {
            return;
        }
        yk_text_addf(out, " for %s%d",
                     first > 0 ? "" : (end - first > 1 ? "micro-batches " : "micro-batch "),
                     first + 1);
        if (end - first > 1) {
            yk_text_addf(out, "–%d", end);
        }
        first = end;
    }
}

/* The last layer of the run that begins at `first`: layers on the same devices. */
static int32_t end_of_run(const struct yk_placement *placement, int32_t first)
{
    int32_t last = first;
    while (last + 1 < placement->step->layer_count && same_devices(placement, first, last + 1)) {
        last++;
    }
    return last;
}

/* Runs of layers on the same devices, one line each. */
static void add_runs(const struct yk_placement_comparison *output,
                     const struct yk_placement *placement, struct yk_text *out)
{
    const struct yk_layer *layers = placement->step->model->layers;
    for (int32_t first = 0; first < placement->step->layer_count;) {
        const int32_t last = end_of_run(placement, first);
        struct yk_text names = {0};
        yk_text_add(&names, layers[first].name);
        if (last > first) {
            yk_text_addf(&names, " … %s", layers[last].name);
        }
        yk_text_addf(out, "  %s", yk_text_chars(&names));
        const size_t columns = yk_text_display_width(yk_text_chars(&names));
        yk_text_add_repeated(out, " ", columns < NAME_COLUMNS ? NAME_COLUMNS - columns : 1);
        out->failed |= names.failed;
        yk_text_free(&names);
        add_devices(output, placement, first, out);
        yk_text_add(out, "\n");
        first = last + 1;
    }
}

/* Where the micro-batches are scattered too widely to be listed: what each device in use has of
 * them; a note tells how many are idle. */
static void add_shares(const struct yk_placement_comparison *output,
                       const struct yk_placement *placement, struct yk_text *out)
{
    const struct yk_cluster *cluster = output->request->cost_sources->cluster;
    const int32_t L = placement->step->layer_count;
    const int32_t M = placement->step->micro_batch_count;
    for (int32_t p = 0; p < cluster->device_count; p++) {
        int32_t held = 0;
        int32_t passes = 0;
        for (int32_t l = 0; l < L; l++) {
            int32_t here = 0;
            for (int32_t m = 0; m < M; m++) {
                here += placement->devices[m * L + l] == p ? 1 : 0;
            }
            held += here > 0 ? 1 : 0;
            passes += here;
        }
        if (held > 0) {
            yk_text_addf(out, "  %s runs %.0f %% of the layers' passes and holds %d of %d layers\n",
                         cluster->devices[p].name, 100.0 * passes / (M * L), held, L);
        }
    }
    yk_text_add(out, "  (the device of every layer and micro-batch: --json)\n");
}

static void add_map(const struct yk_placement_comparison *output,
                    const struct yk_placement *placement, struct yk_text *out)
{
    int32_t runs = 0;
    for (int32_t l = 0; l < placement->step->layer_count; l = end_of_run(placement, l) + 1) {
        runs++;
    }
    if (placement->divided && runs > MAX_RUNS) {
        add_shares(output, placement, out);
    } else {
        add_runs(output, placement, out);
    }
}

/* A layer on several devices is more than other tools' maps can say: name the best without. */
static void add_undivided(const struct yk_placement_comparison *output, struct yk_text *out)
{
    const struct yk_placement *fastest = yk_placements_find_best_undivided(output->placements);
    if (output->shown->divided && fastest) {
        yk_text_addf(out, "with one device a layer, %s is the fastest: %s a step\n", fastest->name,
                     YK_UNITS_FORMAT_TEMPORARY(fastest->step_s, YK_UNIT_SECONDS));
    }
}

static void add_source(const struct yk_placement_comparison *output, struct yk_text *out)
{
    const struct yk_cluster *cluster = output->request->cost_sources->cluster;
    yk_text_add(out, "times: ");
    yk_error_band_describe_origins(&output->placements->steps[0]->band, out);
    yk_text_add(out, "\n");
    if (cluster->assumption) {
        yk_text_addf(out, "%s\n", cluster->assumption);
    }
    if (output->placements->trials > 0) {
        yk_text_addf(out, "search: %lld trial%s, %s\n", (long long)output->placements->trials,
                     yk_text_plural_suffix(output->placements->trials),
                     output->placements->cut_short ? "cut short by the budget" : "complete");
    }
}

yk_status yk_placement_comparison_write_text(const struct yk_placement_comparison *output,
                                             struct yk_text *out)
{
    const struct yk_placements *all = output->placements;
    struct yk_text words = {0};
    yk_workload_write_title(output->request->config, output->request->cost_sources->cluster,
                            &output->request->workload, out);
    yk_text_add(out, "\n");
    add_source(output, out);
    yk_text_add(out, "\n");
    YK_TRY(add_table(output, out));
    if (output->request->micro_batches == 0 && output->request->workload.batch > 1 &&
        all->count > 1) {
        yk_text_add(out, "  (auto, heft and heft-memory take the batch whole; --micro-batches N "
                         "splits it for all)\n");
    }
    yk_text_add(out, "\n");
    for (int32_t i = 0; i < all->count; i++) {
        const char *violation =
            yk_placement_comparison_misfit_reason(output, &all->placements[i], &words);
        if (violation) {
            yk_text_addf(out, "%s %s: %s\n", all->placements[i].name,
                         all->placements[i].schedule ? "does not fit" : "comes to nothing",
                         violation);
        }
    }
    for (int32_t i = 0; i < all->count; i++) {
        if (all->placements[i].remark) {
            yk_text_addf(out, "%s: %s\n", all->placements[i].name, all->placements[i].remark);
        }
    }
    if (all->winner >= 0) {
        const struct yk_placement *winner = &all->placements[all->winner];
        yk_text_addf(out, "%s is the fastest that fits, %s ±%.0f %% a step:\n", winner->name,
                     YK_UNITS_FORMAT_TEMPORARY(winner->step_s, YK_UNIT_SECONDS),
                     100 * yk_error_band_relative_error(&winner->step->band));
    }
    if (output->shown && output->shown->devices) {
        add_map(output, output->shown, out);
        add_undivided(output, out);
    }
    if (all->note) {
        yk_text_addf(out, "%s\n", all->note);
    }
    out->failed |= words.failed;
    yk_text_free(&words);
    return yk_text_status(out);
}

static void write_peaks(const struct yk_placement_comparison *output,
                        const struct yk_placement *placement, struct yk_json_writer *json)
{
    const struct yk_cluster *cluster = output->request->cost_sources->cluster;
    yk_json_write_begin_array(json, "peak_bytes");
    for (int32_t p = 0; p < cluster->device_count; p++) {
        yk_json_write_number(json, NULL,
                             placement->peak_bytes ? (double)placement->peak_bytes[p] : NAN);
    }
    yk_json_write_end_array(json);
}

static void write_map(const struct yk_device_map *map, struct yk_json_writer *json)
{
    yk_json_write_begin_object(json, "map");
    for (int32_t i = 0; map && i < map->count; i++) {
        yk_json_write_key(json, map->entries[i].module);
        yk_device_map_append_place_json(json->text, map->entries[i].place);
    }
    yk_json_write_end_object(json);
}

/* Each layer's device for each micro-batch, where a layer has more than one. */
static void write_divided(const struct yk_placement *placement, struct yk_json_writer *json)
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

static void write_placement(const struct yk_placement_comparison *output,
                            const struct yk_placement *placement, struct yk_json_writer *json)
{
    const bool fits = placement->schedule && placement->fit.fits;
    struct yk_text words = {0};
    yk_json_write_begin_object_on_new_line(json, 0);
    yk_json_write_string(json, "name", placement->name);
    yk_json_write_integer(json, "micro_batches", placement->step->micro_batch_count);
    yk_json_write_number(json, "step_s", placement->step_s);
    if (isfinite(placement->step_s)) {
        yk_error_band_write_json_members(&placement->step->band, json->text);
    }
    yk_json_write_number(json, "bound_s", placement->bound_s);
    yk_json_write_bool(json, "fits", fits);
    if (!fits) {
        yk_json_write_string(json, "violation",
                             yk_placement_comparison_misfit_reason(output, placement, &words));
    }
    if (placement->remark) {
        yk_json_write_string(json, "remark", placement->remark);
    }
    write_peaks(output, placement, json);
    write_map(placement->map, json);
    if (placement->divided) {
        write_divided(placement, json);
    }
    yk_json_write_end_object(json);
    json->text->failed |= words.failed;
    yk_text_free(&words);
}

static void write_devices(const struct yk_cluster *cluster, struct yk_json_writer *json)
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

yk_status yk_placement_comparison_write_json(const struct yk_placement_comparison *output,
                                             struct yk_text *out)
{
    const struct yk_placements *all = output->placements;
    const struct yk_cluster *cluster = output->request->cost_sources->cluster;
    struct yk_json_writer json = {.text = out};
    struct yk_text source = {0};
    yk_error_band_describe_origins(&all->steps[0]->band, &source);
    yk_json_write_begin_yoke_document(&json, "placements");
    yk_json_write_string(&json, "model", output->request->config->name);
    yk_json_write_string(&json, "cluster", cluster->source);
    yk_json_write_string(&json, "source", yk_text_chars(&source));
    yk_json_write_string(&json, "assumption", cluster->assumption);
    write_devices(cluster, &json);
    yk_json_write_string(&json, "winner",
                         all->winner < 0 ? NULL : all->placements[all->winner].name);
    yk_json_write_string(&json, "note", all->note);
    yk_json_write_integer(&json, "trials", all->trials);
    yk_json_write_bool(&json, "cut_short", all->cut_short);
    yk_json_write_begin_array(&json, "placements");
    for (int32_t i = 0; i < all->count; i++) {
        write_placement(output, &all->placements[i], &json);
    }
    yk_json_write_end_array(&json);
    out->failed |= source.failed;
    yk_text_free(&source);
    return yk_json_write_end_yoke_document(&json);
}

enum {
    COLUMNS = 5
};

static const char *const titles[COLUMNS] = {"micro-batches", "step", "lower bound",
                                            "fullest device", "devices used"};

/* Cells live as long as the arena. */
struct page {
    const struct yk_placement_comparison *output;
    struct yk_arena *arena;
};

static yk_status keep_seconds(const struct page *page, double seconds, const char **out)
{
    return yk_arena_strdup(
        page->arena, isfinite(seconds) ? YK_UNITS_FORMAT_TEMPORARY(seconds, YK_UNIT_SECONDS) : "-",
        out);
}

/* "gpu1, 93 %". */
static yk_status keep_fullest(const struct page *page, const struct yk_placement *placement,
                              const char **out)
{
    const int32_t number = fullest(page->output, placement);
    const struct yk_device *device = &page->output->request->cost_sources->cluster->devices[number];
    struct yk_text words = {0};
    if (placement->schedule) {
        yk_text_addf(&words, "%s, %.0f %%", device->name,
                     100 * ((double)placement->peak_bytes[number] / device->memory_bytes));
    }
    return yk_text_move_to_arena(&words, page->arena, out);
}

static yk_status fill_row(const struct page *page, const struct yk_placement *placement,
                          struct yk_schedule_comparison_page_row *row)
{
    const char **cells = NULL;
    struct yk_text words = {0};
    char number[16];
    YK_TRY_NEW(page->arena, cells, COLUMNS);
    snprintf(number, sizeof number, "%d", placement->step->micro_batch_count);
    YK_TRY(yk_arena_strdup(page->arena, number, &cells[0]));
    YK_TRY(keep_seconds(page, placement->step_s, &cells[1]));
    YK_TRY(keep_seconds(page, placement->bound_s, &cells[2]));
    YK_TRY(keep_fullest(page, placement, &cells[3]));
    snprintf(number, sizeof number, "%d",
             placement->schedule ? yk_schedule_count_used_devices(placement->schedule) : 0);
    YK_TRY(yk_arena_strdup(page->arena, number, &cells[4]));
    *row = (struct yk_schedule_comparison_page_row){
        .name = placement->name,
        .cells = cells,
        .schedule = placement->schedule,
        .kinds = placement->step->kinds,
        .lower_bound = llround(placement->bound_s * placement->step->graph->ticks_per_unit),
    };
    const char *violation = yk_placement_comparison_misfit_reason(page->output, placement, &words);
    const yk_status status =
        violation ? yk_arena_strdup(page->arena, violation, &row->remark) : YK_OK;
    yk_text_free(&words);
    return status;
}

static yk_status write_page(const struct page *page, struct yk_text *out)
{
    const struct yk_placements *all = page->output->placements;
    struct yk_schedule_comparison_page_row *rows = NULL;
    struct yk_text title = {0};
    struct yk_text lead = {0};
    YK_TRY_NEW(page->arena, rows, all->count);
    for (int32_t i = 0; i < all->count; i++) {
        YK_TRY(fill_row(page, &all->placements[i], &rows[i]));
    }
    yk_workload_write_title(page->output->request->config,
                            page->output->request->cost_sources->cluster,
                            &page->output->request->workload, &title);
    yk_text_add(&lead,
                "Where the layers go, decided in several ways, and one training step of each: a "
                "bar is a layer's forward, backward or update, its colour the micro-batch "
                "(or the layer, where the batch is not split); time in seconds, all on one "
                "scale. Times: ");
    yk_error_band_describe_origins(&all->steps[0]->band, &lead);
    yk_text_add(&lead, ".");
    const char *notes[] = {all->note, page->output->request->cost_sources->cluster->assumption};
    const char *given[2];
    int32_t note_count = 0;
    for (int i = 0; i < 2; i++) {
        if (notes[i]) {
            given[note_count++] = notes[i];
        }
    }
    const struct yk_schedule_comparison_page description = {
        .title = yk_text_chars(&title),
        .lead = yk_text_chars(&lead),
        .columns = titles,
        .column_count = COLUMNS,
        .rows = rows,
        .row_count = all->count,
        .winner = all->winner,
        .notes = given,
        .note_count = note_count,
    };
    const yk_status status = yk_schedule_comparison_page_write(&description, out);
    yk_text_free(&title);
    yk_text_free(&lead);
    return status;
}

yk_status yk_placement_comparison_write_page(const struct yk_placement_comparison *output,
                                             struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_page(&(struct page){output, arena}, out));
    return YK_OK;
}
