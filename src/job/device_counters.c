#include "job/device.h"

#include "base/text.h"
#include "base/text_table.h"

#include <math.h>

enum {
    MAX_RANKS = 4, /* that are printed; files have them all */
    FIRST_COLUMNS = 2,
};

/* What a table has room for, as far as it is known; of a GPU, of a CPU, of both. */
static const struct {
    enum yk_counter counter;
    const char *title;
} columns[] = {
    {YK_COUNTER_SM, "SM"},
    {YK_COUNTER_TENSOR, "tensor"},
    {YK_COUNTER_DRAM, "DRAM"},
    {YK_COUNTER_CLOCK, "clock"},
    {YK_COUNTER_POWER, "power"},
    {YK_COUNTER_CORES, "cores"},
    {YK_COUNTER_CYCLES, "cycles"},
    {YK_COUNTER_INSTRUCTIONS, "instructions"},
    {YK_COUNTER_CACHE_MISS_BYTES, "misses"},
};

enum {
    COLUMN_COUNT = sizeof columns / sizeof *columns
};

yk_status yk_device_counters_open_recorder(const struct yk_device_choice *device,
                                           struct yk_counter_recorder **out)
{
    const struct yk_counter_sampler_options options = {.gpu = device->gpu,
                                                       .number = device->number};
    return yk_counter_recorder_open(&options, out);
}

static double whole_seconds(const struct yk_counter_rank_data *rank)
{
    double seconds = 0;
    for (int32_t i = 0; i < rank->phases.count; i++) {
        seconds = fmax(seconds, rank->phases.all[i].seconds);
    }
    return seconds;
}

static void add_rows(const struct yk_counter_rank_data *rank,
                     const struct yk_counter_averages *rows, struct yk_text_table *table)
{
    const double all_s = whole_seconds(rank);
    for (int32_t i = 0; i < rows->count; i++) {
        const struct yk_counter_average *row = &rows->all[i];
        yk_text_table_add_cell(table, "%s", row->name);
        yk_text_table_add_cell(table, all_s > 0 ? "%.1f %%" : "n/a", 100 * row->seconds / all_s);
        for (int c = 0; c < COLUMN_COUNT; c++) {
            char words[YK_COUNTER_TEXT_SIZE];
            if (yk_counters_file_rank_has_counter(rank, columns[c].counter)) {
                yk_counter_format_value(columns[c].counter, row->values[columns[c].counter], words);
                yk_text_table_add_cell(table, "%s", words);
            }
        }
    }
}

static yk_status add_table(const struct yk_counter_rank_data *rank, struct yk_text *out)
{
    struct yk_text_table_column shown[FIRST_COLUMNS + COLUMN_COUNT] = {
        {"phase", YK_TEXT_TABLE_LEFT},
        {"of time", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    size_t count = FIRST_COLUMNS;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (yk_counters_file_rank_has_counter(rank, columns[c].counter)) {
            shown[count++] = (struct yk_text_table_column){columns[c].title, YK_TEXT_TABLE_RIGHT};
        }
    }
    YK_TRY(yk_text_table_create(shown, count, &table));
    add_rows(rank, &rank->phases, table);
    add_rows(rank, &rank->kinds, table);
    return yk_text_table_write_and_destroy(table, out);
}

yk_status yk_device_counters_write_text(const struct yk_counter_run_data *ranks,
                                        struct yk_text *out)
{
    const int32_t shown = ranks->count < MAX_RANKS ? ranks->count : MAX_RANKS;
    for (int32_t r = 0; r < shown; r++) {
        const struct yk_counter_rank_data *rank = &ranks->all[r];
        yk_text_add(out, "\nCounters");
        if (ranks->count > 1) {
            yk_text_addf(out, " of rank %d, %s", (int)r, rank->device);
        }
        yk_text_add(out, rank->source[0] != '\0' ? ": " : "");
        yk_text_addf(out, "%s\n\n", rank->source);
        YK_TRY(add_table(rank, out));
    }
    if (shown < ranks->count) {
        yk_text_addf(out, "\n%d more rank%s: see counters.json\n", (int)(ranks->count - shown),
                     yk_text_plural_suffix(ranks->count - shown));
    }
    return yk_text_status(out);
}
