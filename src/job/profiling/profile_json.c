#include "report/profile_json.h"
#include "job/profiling/profile.h"

/* Ends a row by its measurement, whose value is called `key`. */
static void end_row(const struct yk_profile_measurement *measurement, const char *key,
                    struct yk_json_writer *json)
{
    yk_json_write_number(json, key, measurement->value);
    yk_json_write_number(json, "spread", measurement->spread);
    yk_json_write_integer(json, "samples", measurement->samples);
    yk_json_write_end_object(json);
}

static void write_layers(const struct yk_survey *survey, struct yk_json_writer *json)
{
    yk_profile_json_begin_table("layers", json);
    for (int32_t i = 0; i < survey->layer_count; i++) {
        const struct yk_survey_layer *row = &survey->layers[i];
        yk_profile_json_begin_layer(&row->layer, row->batch, json);
        end_row(&row->measurement, "seconds", json);
    }
    yk_json_write_end_array(json);
}

static void write_links(const struct yk_survey *survey, struct yk_json_writer *json)
{
    yk_profile_json_begin_table("links", json);
    for (int32_t i = 0; i < survey->link_count; i++) {
        const struct yk_survey_link *row = &survey->links[i];
        yk_profile_json_begin_link(&row->link, json);
        yk_json_write_integer(json, "bytes", row->bytes);
        end_row(&row->measurement, "seconds", json);
    }
    yk_json_write_end_array(json);
}

static void write_facts(const struct yk_survey *survey, struct yk_json_writer *json)
{
    yk_profile_json_begin_table("facts", json);
    for (int32_t i = 0; i < survey->fact_count; i++) {
        const struct yk_survey_fact *row = &survey->facts[i];
        yk_profile_json_begin_fact(&row->fact, json);
        end_row(&row->measurement, "value", json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_profile_write_json(const struct yk_profile_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "profile", result->path);
    yk_json_write_line(&json, 1);
    yk_json_write_string(&json, "versions", result->versions ? result->versions : "");
    yk_json_write_line(&json, 1);
    yk_json_write_bool(&json, "stopped", result->survey.stopped);
    write_layers(&result->survey, &json);
    write_links(&result->survey, &json);
    write_facts(&result->survey, &json);
    if (result->counters) {
        yk_json_write_line(&json, 1);
        yk_json_write_key(&json, "counters");
        yk_counters_file_write_averages(&result->counted, out);
    }
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
