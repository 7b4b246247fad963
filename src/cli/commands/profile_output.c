#include "cli/commands/profile_output.h"

#include "base/json_write.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "job/counters.h"

#include <inttypes.h>
#include <string.h>

/* Times that vary by more than this are worth a word. */
static const double noisy = 0.1;

static const char *amount(double value, enum yk_unit unit, char out[YK_UNITS_SIZE])
{
    yk_units_format(value, unit, out);
    return out;
}

static bool is_of_sort(const struct yk_survey_layer *row, const struct yk_survey_layer *sort)
{
    return strcmp(row->layer.shape, sort->layer.shape) == 0 &&
           strcmp(row->layer.device, sort->layer.device) == 0 &&
           row->layer.part == sort->layer.part && row->layer.sequence == sort->layer.sequence;
}

/* The row of the same layer and batch for another pass; NULL: none. */
static const struct yk_survey_layer *pass_of(const struct yk_survey *survey,
                                             const struct yk_survey_layer *row, const char *pass)
{
    for (int32_t i = 0; i < survey->layer_count; i++) {
        const struct yk_survey_layer *other = &survey->layers[i];
        if (strcmp(other->layer.pass, pass) == 0 && other->batch == row->batch &&
            is_of_sort(other, row)) {
            return other;
        }
    }
    return NULL;
}

/* Whether no row before is of the same sort. */
static bool is_first(const struct yk_survey *survey, int32_t number)
{
    int32_t i = 0;
    while (!is_of_sort(&survey->layers[i], &survey->layers[number])) {
        i++;
    }
    return i == number;
}

/* The row of the same sort and pass with the next larger batch; NULL: none. */
static const struct yk_survey_layer *next_of(const struct yk_survey *survey,
                                             const struct yk_survey_layer *sort, int64_t batch)
{
    const struct yk_survey_layer *next = NULL;
    for (int32_t i = 0; i < survey->layer_count; i++) {
        const struct yk_survey_layer *row = &survey->layers[i];
        if (is_of_sort(row, sort) && strcmp(row->layer.pass, sort->layer.pass) == 0 &&
            row->batch > batch && (!next || row->batch < next->batch)) {
            next = row;
        }
    }
    return next;
}

static void add_time(struct yk_table *table, const struct yk_survey_layer *row)
{
    char words[YK_UNITS_SIZE];
    yk_table_add(table, "%s", row ? amount(row->measurement.value, YK_UNIT_SECONDS, words) : "");
}

static void add_device(struct yk_table *table, const struct yk_profile_layer *layer)
{
    if (layer->part < 1) {
        yk_table_add(table, "%s %.3g%%", layer->device, 100 * layer->part);
    } else {
        yk_table_add(table, "%s", layer->device);
    }
}

static void add_row(const struct yk_survey *survey, const struct yk_survey_layer *row,
                    struct yk_table *table)
{
    add_device(table, &row->layer);
    yk_table_add(table, "%s", row->layer.shape);
    yk_table_add(table, "%" PRId64, row->batch);
    add_time(table, row);
    add_time(table, pass_of(survey, row, "backward"));
    add_time(table, pass_of(survey, row, "update"));
    yk_table_add(table, "%.1f %%", 100 * row->measurement.spread);
}

static yk_status add_layers(const struct yk_survey *survey, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"device", YK_TABLE_LEFT},   {"layer", YK_TABLE_LEFT},     {"samples", YK_TABLE_RIGHT},
        {"forward", YK_TABLE_RIGHT}, {"backward", YK_TABLE_RIGHT}, {"update", YK_TABLE_RIGHT},
        {"spread", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < survey->layer_count; i++) {
        const struct yk_survey_layer *sort = &survey->layers[i];
        if (strcmp(sort->layer.pass, "forward") != 0 || !is_first(survey, i)) {
            continue;
        }
        for (const struct yk_survey_layer *row = next_of(survey, sort, 0); row;
             row = next_of(survey, sort, row->batch)) {
            add_row(survey, row, table);
        }
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static yk_status add_links(const struct yk_survey *survey, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"link", YK_TABLE_LEFT},    {"message", YK_TABLE_LEFT}, {"ranks", YK_TABLE_RIGHT},
        {"bytes", YK_TABLE_RIGHT},  {"time", YK_TABLE_RIGHT},   {"a second", YK_TABLE_RIGHT},
        {"spread", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    char words[YK_UNITS_SIZE];
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t i = 0; i < survey->link_count; i++) {
        const struct yk_survey_link *row = &survey->links[i];
        yk_table_add(table, "%s", row->link.link);
        yk_table_add(table, "%s", row->link.collective);
        yk_table_add(table, "%d", (int)row->link.ranks);
        yk_table_add(table, "%s", amount((double)row->bytes, YK_UNIT_BYTES, words));
        yk_table_add(table, "%s", amount(row->measurement.value, YK_UNIT_SECONDS, words));
        yk_table_add(
            table, "%s",
            amount((double)row->bytes / row->measurement.value, YK_UNIT_BYTES_PER_S, words));
        yk_table_add(table, "%.1f %%", 100 * row->measurement.spread);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    return status;
}

static void add_facts(const struct yk_survey *survey, struct yk_text *out)
{
    char words[YK_UNITS_SIZE];
    for (int32_t i = 0; i < survey->fact_count; i++) {
        const struct yk_survey_fact *row = &survey->facts[i];
        if (strcmp(row->fact.fact, YK_PROFILE_CONTEXT_BYTES) == 0) {
            if (!strstr(row->fact.subject, " with ")) {
                continue; /* the same, for whatever other model */
            }
            yk_text_addf(out, "%s: a process holds %s besides what it trains\n", row->fact.subject,
                         amount(row->measurement.value, YK_UNIT_BYTES, words));
        } else {
            yk_text_addf(out, "%s: %s take%s %.3g times as long\n", row->fact.subject,
                         row->fact.fact,
                         strcmp(row->fact.fact, YK_PROFILE_MESSAGE_SLOWDOWN) == 0 ? "" : "s",
                         row->measurement.value);
        }
    }
}

static bool has_run(const struct yk_counter_rank *counted)
{
    bool ran = false;
    for (int32_t i = 0; i < counted->phases.count; i++) {
        ran = ran || counted->phases.all[i].seconds > 0;
    }
    return ran;
}

/* A table for each target, with its name where there are several. */
static yk_status add_counters(const struct yk_profile_result *result, struct yk_text *out)
{
    bool any = false;
    for (int32_t i = 0; i < result->counted.count; i++) {
        const struct yk_counter_ranks one = {&result->counted.all[i], 1};
        if (!has_run(one.all)) {
            continue;
        }
        any = true;
        if (result->target_count > 1) {
            yk_text_addf(out, "\n%s\n", one.all->device);
        }
        YK_TRY(yk_counters_add_text(&one, out));
    }
    if (!any) {
        yk_text_add(out, "\nno counters: no step was run\n");
    }
    return yk_text_status(out);
}

yk_status yk_profile_output_measured(const struct yk_profile_result *result, struct yk_text *out)
{
    const struct yk_survey *survey = &result->survey;
    yk_text_add_bytes(out, yk_text_chars(&result->notes), result->notes.length);
    if (survey->layer_count > 0) {
        yk_text_add(out, "\n");
        YK_TRY(add_layers(survey, out));
    }
    if (survey->link_count > 0) {
        yk_text_add(out, "\n");
        YK_TRY(add_links(survey, out));
    }
    if (survey->fact_count > 0) {
        yk_text_add(out, "\n");
        add_facts(survey, out);
    }
    if (result->counters) {
        YK_TRY(add_counters(result, out));
    }
    if (result->noise > noisy) {
        yk_text_addf(out,
                     "\nthis machine was busy, or its clocks vary: a quarter of the times are off "
                     "by more than %.0f %%, and predictions say so; measure again when it is quiet "
                     "(--again)\n",
                     100 * result->noise);
    }
    if (survey->known > 0) {
        yk_text_addf(out, "\n%lld %s known already and not measured again; --again does\n",
                     (long long)survey->known,
                     survey->known == 1 ? "number of samples was" : "numbers of samples were");
    }
    yk_text_addf(out, "\nkept in %s%s\n", result->path,
                 survey->stopped ? "; stopped before all was measured" : "");
    return yk_text_status(out);
}

yk_status yk_profile_output_imported(const struct yk_profile_import_result *result,
                                     struct yk_text *out)
{
    for (int32_t i = 0; i < result->file_count; i++) {
        const struct yk_profile_import_file *file = &result->files[i];
        const int64_t numbers = file->added + file->newer + file->left;
        yk_text_addf(out,
                     "%s: %" PRId64 " number%s, %" PRId64 " new, %" PRId64 " newer, %" PRId64
                     " no newer than what is known\n",
                     file->path, numbers, yk_text_plural(numbers), file->added, file->newer,
                     file->left);
    }
    yk_text_addf(out, "\nkept in %s\n", result->path);
    return yk_text_status(out);
}

yk_status yk_profile_output_imported_json(const struct yk_profile_import_result *result,
                                          struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "profile", result->path);
    yk_json_write_line(&json, 1);
    yk_json_write_begin_array(&json, "imported");
    for (int32_t i = 0; i < result->file_count; i++) {
        const struct yk_profile_import_file *file = &result->files[i];
        yk_json_write_begin_row(&json, 2);
        yk_json_write_string(&json, "file", file->path);
        yk_json_write_integer(&json, "new", file->added);
        yk_json_write_integer(&json, "newer", file->newer);
        yk_json_write_integer(&json, "left", file->left);
        yk_json_write_end_object(&json);
    }
    yk_json_write_end_array(&json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

yk_status yk_profile_output_shown(const struct yk_profile_report *report, int columns,
                                  struct yk_text *out)
{
    if (report->layer_row_count + report->link_row_count + report->fact_count > 0) {
        return yk_profile_report_text(report, columns, out);
    }
    yk_text_addf(out, "%s: %s\n", report->path,
                 report->known > 0 ? "nothing that was measured is of this device and model"
                                   : "nothing has been measured yet");
    return yk_text_status(out);
}
