#include "export/export_job.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void add_sentence(struct yk_text *notes, const char *format, va_list arguments)
{
    struct yk_text sentence = {0};
    yk_text_addv(&sentence, format, arguments);
    notes->failed |= sentence.failed;
    yk_export_job_add_comment_safe(notes, yk_text_chars(&sentence));
    yk_text_add(notes, "\n");
    yk_text_free(&sentence);
}

void yk_export_job_add_note(const struct yk_export_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(job->notes, format, arguments);
    va_end(arguments);
}

void yk_export_job_add_note_if(const struct yk_export_job *job, bool applies, const char *format,
                               ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (applies) {
        add_sentence(job->notes, format, arguments);
    }
    va_end(arguments);
}

void yk_export_job_add_comment_safe(struct yk_text *out, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        uint32_t character = 0;
        const size_t length = yk_utf8_decode(text, (size_t)(end - text), &character);
        const bool safe = length > 0 && character >= 0x20 && character != 0x7f;
        yk_text_add_bytes(out, safe ? text : "?", safe ? length : 1);
        text += length > 0 ? length : 1;
    }
}

void yk_export_job_add_header_comment(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    struct yk_text *out = job->out;
    yk_text_add(out, "# ");
    yk_export_job_add_comment_safe(out, plan->model_source ? plan->model_source : "a model");
    yk_text_add(out, " on ");
    yk_export_job_add_comment_safe(out, plan->cluster_source ? plan->cluster_source : "a cluster");
    yk_text_addf(out, ": %" PRId64 " samples of %" PRId64 " tokens a step in %s\n",
                 plan->workload.batch, plan->workload.sequence,
                 yk_precision_name(plan->workload.precision));
    if (job->notes->length == 0) {
        return;
    }
    yk_text_add(out, "#\n# Not as planned, or not said here:\n");
    for (const char *line = yk_text_chars(job->notes); *line;) {
        const size_t length = strcspn(line, "\n");
        yk_text_add(out, "# - ");
        yk_text_add_bytes(out, line, length);
        yk_text_add(out, "\n");
        line += length + (line[length] == '\n' ? 1 : 0);
    }
}

/* "layer 0 to layer 10, head". Returns how many layers there are. */
static int32_t add_layers(struct yk_text *out, const struct yk_export_job *job,
                          bool (*is_one)(const struct yk_plan *plan, int32_t layer))
{
    const struct yk_plan *plan = job->plan;
    const struct yk_layer *layers = job->model->layers;
    int32_t count = 0;
    for (int32_t i = 0; i < plan->layer_count;) {
        int32_t last = i;
        if (!is_one(plan, i)) {
            i++;
            continue;
        }
        while (last + 1 < plan->layer_count && is_one(plan, last + 1)) {
            last++;
        }
        yk_text_addf(out, "%s%s", count > 0 ? ", " : "", layers[i].name);
        if (last > i) {
            yk_text_addf(out, " to %s", layers[last].name);
        }
        count += last - i + 1;
        i = last + 1;
    }
    return count;
}

void yk_export_job_add_layers_note(const struct yk_export_job *job,
                                   bool (*is_one)(const struct yk_plan *plan, int32_t layer),
                                   const char *sentence)
{
    struct yk_text layers = {0};
    if (add_layers(&layers, job, is_one) > 0) {
        yk_export_job_add_note(job, "%s: %s", yk_text_chars(&layers), sentence);
    }
    job->notes->failed |= layers.failed;
    yk_text_free(&layers);
}
