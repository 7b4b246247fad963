#include "report/profile_report.h"

#include <inttypes.h>
#include <math.h>

static void add_word(const char *key, const char *word, struct yk_text *out)
{
    yk_text_addf(out, "\"%s\": ", key);
    yk_text_add_json(out, word);
    yk_text_add(out, ", ");
}

/* What is no number is null. */
static void add_number(const char *key, double value, const char *end, struct yk_text *out)
{
    yk_text_addf(out, "\"%s\": ", key);
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    } else {
        yk_text_add(out, "null");
    }
    yk_text_add(out, end);
}

static void add_measurement(const char *value, const struct yk_profile_measurement *measurement,
                            struct yk_text *out)
{
    add_number(value, measurement->value, ", ", out);
    add_number("spread", measurement->spread, ", ", out);
    add_number("least", measurement->least, ", ", out);
    add_number("most", measurement->most, ", ", out);
    yk_text_addf(out, "\"samples\": %" PRId64 ", \"measured_at\": %" PRId64 ", ",
                 measurement->samples, measurement->measured_at);
    add_word("host", measurement->host, out);
    add_word("cpu", measurement->cpu, out);
    yk_text_add(out, "\"versions\": ");
    yk_text_add_json(out, measurement->versions);
    yk_text_add(out, "}");
}

static void add_link_words(const struct yk_profile_link *link, struct yk_text *out)
{
    add_word("link", link->link, out);
    add_word("message", link->collective, out);
    yk_text_addf(out, "\"ranks\": %d, ", (int)link->ranks);
}

static void add_layers(const struct yk_profile_report *report, struct yk_text *out)
{
    yk_text_add(out, " \"layers\": [");
    for (int32_t i = 0; i < report->layer_row_count; i++) {
        const struct yk_profile_layer_row *row = &report->layer_rows[i];
        yk_text_add(out, i > 0 ? ",\n  {" : "\n  {");
        add_word("device", row->layer.device, out);
        add_number("part", row->layer.part, ", ", out);
        add_word("shape", row->layer.shape, out);
        yk_text_addf(out, "\"sequence\": %" PRId64 ", ", row->layer.sequence);
        add_word("pass", row->layer.pass, out);
        yk_text_addf(out, "\"batch\": %" PRId64 ", ", row->batch);
        add_measurement("seconds", &row->measurement, out);
    }
    yk_text_add(out, "],\n");
}

static void add_links(const struct yk_profile_report *report, struct yk_text *out)
{
    yk_text_add(out, " \"links\": [");
    for (int32_t i = 0; i < report->link_row_count; i++) {
        const struct yk_profile_link_row *row = &report->link_rows[i];
        yk_text_add(out, i > 0 ? ",\n  {" : "\n  {");
        add_link_words(&row->link, out);
        yk_text_addf(out, "\"bytes\": %" PRId64 ", ", row->bytes);
        add_measurement("seconds", &row->measurement, out);
    }
    yk_text_add(out, "],\n");
}

static void add_knees(const struct yk_profile_report *report, struct yk_text *out)
{
    bool first = true;
    yk_text_add(out, " \"knees\": [");
    for (int32_t i = 0; i < report->link_count; i++) {
        const struct yk_knee *knee = &report->links[i].knee;
        if (!report->links[i].has_knee) {
            continue;
        }
        yk_text_add(out, first ? "\n  {" : ",\n  {");
        first = false;
        add_link_words(&report->links[i].rows[0].link, out);
        add_number("bytes", knee->bytes, ", ", out);
        add_number("uncertainty", knee->uncertainty, ", ", out);
        add_number("plateau_bytes_per_s", knee->plateau_bytes_per_s, ", ", out);
        add_number("latency_s", knee->latency_s, ", ", out);
        yk_text_addf(out, "\"reached\": %s, \"beyond\": %s}", knee->reached ? "true" : "false",
                     knee->beyond ? "true" : "false");
    }
    yk_text_add(out, "],\n");
}

yk_status yk_profile_report_json(const struct yk_profile_report *report, struct yk_text *out)
{
    yk_text_add(out, "{\"profile\": ");
    yk_text_add_json(out, report->path);
    yk_text_add(out, ",\n");
    add_layers(report, out);
    add_links(report, out);
    add_knees(report, out);
    yk_text_add(out, " \"facts\": [");
    for (int32_t i = 0; i < report->fact_count; i++) {
        const struct yk_profile_fact_row *row = &report->facts[i];
        yk_text_add(out, i > 0 ? ",\n  {" : "\n  {");
        add_word("subject", row->fact.subject, out);
        add_word("fact", row->fact.fact, out);
        add_measurement("value", &row->measurement, out);
    }
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}
