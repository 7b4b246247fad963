#include "base/units.h"
#include "job/planning/place_output.h"
#include "job/workload.h"
#include "report/side_by_side.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    COLUMNS = 5
};

static const char *const titles[COLUMNS] = {"micro-batches", "step", "lower bound",
                                            "fullest device", "devices used"};

/* Cells live as long as the arena. */
struct page {
    const struct yk_place_output *output;
    struct yk_arena *arena;
    struct yk_side_row *rows;
};

static yk_status keep(const struct page *page, const char *words, const char **out)
{
    *out = yk_arena_copy_text(page->arena, words, strlen(words));
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static yk_status keep_seconds(const struct page *page, double seconds, const char **out)
{
    char words[YK_UNITS_SIZE];
    yk_units_format(seconds, YK_UNIT_SECONDS, words);
    return keep(page, isfinite(seconds) ? words : "-", out);
}

/* "gpu1, 93 %". */
static yk_status keep_fullest(const struct page *page, const struct yk_placement *placement,
                              const char **out)
{
    const struct yk_cluster *cluster = page->output->request->book->cluster;
    struct yk_text words = {0};
    double most = -1;
    int32_t device = 0;
    for (int32_t p = 0; placement->schedule && p < cluster->device_count; p++) {
        const double part = (double)placement->peak_bytes[p] / cluster->devices[p].memory_bytes;
        device = part > most ? p : device;
        most = part > most ? part : most;
    }
    if (placement->schedule) {
        yk_text_addf(&words, "%s, %.0f %%", cluster->devices[device].name, 100 * most);
    }
    const yk_status status = keep(page, yk_text_chars(&words), out);
    yk_text_free(&words);
    return status;
}

static yk_status fill_row(const struct page *page, const struct yk_placement *placement,
                          struct yk_side_row *row)
{
    const char **cells = NULL;
    struct yk_text words = {0};
    char number[16];
    YK_TRY_NEW(page->arena, cells, COLUMNS);
    snprintf(number, sizeof number, "%d", placement->step->micro_batch_count);
    YK_TRY(keep(page, number, &cells[0]));
    YK_TRY(keep_seconds(page, placement->step_s, &cells[1]));
    YK_TRY(keep_seconds(page, placement->bound_s, &cells[2]));
    YK_TRY(keep_fullest(page, placement, &cells[3]));
    snprintf(number, sizeof number, "%d",
             placement->schedule ? yk_schedule_count_devices(placement->schedule) : 0);
    YK_TRY(keep(page, number, &cells[4]));
    *row = (struct yk_side_row){
        .name = placement->name,
        .cells = cells,
        .schedule = placement->schedule,
        .kinds = placement->step->kinds,
        .lower_bound = llround(placement->bound_s * placement->step->graph->ticks_per_unit),
    };
    const char *violation = yk_place_output_violation(page->output, placement, &words);
    const yk_status status = violation ? keep(page, violation, &row->remark) : YK_OK;
    yk_text_free(&words);
    return status;
}

static yk_status write_page(struct page *page, struct yk_text *out)
{
    const struct yk_placements *all = page->output->placements;
    struct yk_text title = {0};
    struct yk_text lead = {0};
    YK_TRY_NEW(page->arena, page->rows, all->count);
    for (int32_t i = 0; i < all->count; i++) {
        YK_TRY(fill_row(page, &all->placements[i], &page->rows[i]));
    }
    yk_workload_add_title(page->output->request->config, page->output->request->book->cluster,
                          &page->output->request->workload, &title);
    yk_text_add(&lead,
                "Where the layers go, decided in several ways, and one training step of each: a "
                "bar is a layer's forward, backward or update, its colour the micro-batch "
                "(or the layer, where the batch is not split); time in seconds, all on one "
                "scale. Times: ");
    yk_error_band_describe(&all->steps[0]->band, &lead);
    yk_text_add(&lead, ".");
    const char *notes[] = {all->note, page->output->request->book->cluster->assumption};
    const char *given[2];
    int32_t note_count = 0;
    for (int i = 0; i < 2; i++) {
        if (notes[i]) {
            given[note_count++] = notes[i];
        }
    }
    const struct yk_side_by_side description = {
        .title = yk_text_chars(&title),
        .lead = yk_text_chars(&lead),
        .columns = titles,
        .column_count = COLUMNS,
        .rows = page->rows,
        .row_count = all->count,
        .winner = all->winner,
        .notes = given,
        .note_count = note_count,
    };
    const yk_status status = yk_side_by_side_write(&description, out);
    yk_text_free(&title);
    yk_text_free(&lead);
    return status;
}

yk_status yk_place_output_page(const struct yk_place_output *output, struct yk_text *out)
{
    struct page page = {.output = output};
    YK_TRY(yk_arena_create(&page.arena));
    const yk_status status = write_page(&page, out);
    yk_arena_destroy(page.arena);
    return status;
}
