#include "report/profile/report.h"

/* Adds the measurement to a row, with its value under the key `value`, and ends the row. */
static void end_row(const char *value, const struct yk_profile_measurement *measurement,
                    struct yk_json_writer *json)
{
    yk_json_write_number(json, value, measurement->value);
    yk_json_write_number(json, "spread", measurement->spread);
    yk_json_write_number(json, "min", measurement->min);
    yk_json_write_number(json, "max", measurement->max);
    yk_json_write_integer(json, "samples", measurement->samples);
    yk_json_write_integer(json, "measured_at", measurement->measured_at);
    yk_json_write_string(json, "host", measurement->host);
    yk_json_write_string(json, "cpu", measurement->cpu);
    yk_json_write_string(json, "versions", measurement->versions);
    yk_json_write_end_object(json);
}

void yk_profile_json_begin_array(const char *name, struct yk_json_writer *json)
{
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, name);
}

void yk_profile_json_begin_layer_row(const struct yk_profile_layer_key *layer, int64_t batch,
                                     struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "device", layer->device);
    yk_json_write_number(json, "part", layer->part);
    yk_json_write_string(json, "shape", layer->shape);
    yk_json_write_integer(json, "sequence", layer->sequence);
    yk_json_write_string(json, "pass", layer->pass);
    yk_json_write_integer(json, "batch", batch);
}

void yk_profile_json_begin_link_row(const struct yk_profile_link_key *link,
                                    struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "link", link->link);
    yk_json_write_string(json, "message", link->collective);
    yk_json_write_integer(json, "ranks", link->ranks);
}

void yk_profile_json_begin_fact_row(const struct yk_profile_fact_key *fact,
                                    struct yk_json_writer *json)
{
    yk_json_write_begin_object_on_new_line(json, 2);
    yk_json_write_string(json, "subject", fact->subject);
    yk_json_write_string(json, "fact", fact->fact);
}

static void add_layers(const struct yk_profile_report *report, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("layers", json);
    for (int32_t i = 0; i < report->layer_row_count; i++) {
        const struct yk_profile_layer_row *row = &report->layer_rows[i];
        yk_profile_json_begin_layer_row(&row->layer, row->batch, json);
        end_row("seconds", &row->measurement, json);
    }
    yk_json_write_end_array(json);
}

static void add_links(const struct yk_profile_report *report, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("links", json);
    for (int32_t i = 0; i < report->link_row_count; i++) {
        const struct yk_profile_link_row *row = &report->link_rows[i];
        yk_profile_json_begin_link_row(&row->link, json);
        yk_json_write_integer(json, "bytes", row->bytes);
        end_row("seconds", &row->measurement, json);
    }
    yk_json_write_end_array(json);
}

static void add_knees(const struct yk_profile_report *report, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("knees", json);
    for (int32_t i = 0; i < report->link_count; i++) {
        const struct yk_saturation_size *saturation = &report->links[i].saturation;
        if (!report->links[i].has_knee) {
            continue;
        }
        yk_profile_json_begin_link_row(&report->links[i].rows[0].link, json);
        yk_json_write_number(json, "bytes", saturation->bytes);
        yk_json_write_number(json, "uncertainty", saturation->uncertainty);
        yk_json_write_number(json, "plateau_bytes_per_s", saturation->plateau_bytes_per_s);
        yk_json_write_number(json, "latency_s", saturation->latency_s);
        yk_json_write_bool(json, "reached", saturation->reached);
        yk_json_write_bool(json, "beyond", saturation->exceeds_measured_sizes);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

static void add_facts(const struct yk_profile_report *report, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("facts", json);
    for (int32_t i = 0; i < report->fact_count; i++) {
        const struct yk_profile_fact_row *row = &report->facts[i];
        yk_profile_json_begin_fact_row(&row->fact, json);
        end_row("value", &row->measurement, json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_profile_report_write_json(const struct yk_profile_report *report, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "profile", report->path);
    add_layers(report, &json);
    add_links(report, &json);
    add_knees(report, &json);
    add_facts(report, &json);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}
