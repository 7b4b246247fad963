#include "cli/commands/bleu_output.h"

#include "base/wording.h"

#include <inttypes.h>

static void add_text(const struct yk_bleu *bleu, const struct yk_bleu_options *options,
                     struct yk_text *out)
{
    yk_bleu_add_line(bleu, out);
    yk_text_add(out, "\n");
    yk_bleu_add_signature(options, out);
    yk_text_add(out, "\n");
}

static void add_counts(const char *key, const int64_t counts[YK_BLEU_ORDERS], struct yk_text *out)
{
    yk_text_addf(out, ",\"%s\":[", key);
    for (int n = 0; n < YK_BLEU_ORDERS; n++) {
        yk_text_addf(out, "%s%" PRId64, n == 0 ? "" : ",", counts[n]);
    }
    yk_text_add(out, "]");
}

static void add_json(const struct yk_bleu *bleu, const struct yk_bleu_options *options,
                     struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"bleu\",\"score\":");
    yk_text_add_number(out, bleu->score);
    yk_text_add(out, ",\"precisions\":[");
    for (int n = 0; n < YK_BLEU_ORDERS; n++) {
        yk_text_add(out, n == 0 ? "" : ",");
        yk_text_add_number(out, bleu->precisions[n]);
    }
    yk_text_add(out, "],\"brevity_penalty\":");
    yk_text_add_number(out, bleu->brevity_penalty);
    yk_text_add(out, ",\"ratio\":");
    yk_text_add_number(out, yk_bleu_ratio(bleu));
    yk_text_addf(out, ",\"hypothesis_length\":%" PRId64 ",\"reference_length\":%" PRId64,
                 bleu->hypothesis_length, bleu->reference_length);
    add_counts("matches", bleu->matches, out);
    add_counts("totals", bleu->totals, out);
    yk_text_add(out, ",\"signature\":\"");
    yk_bleu_add_signature(options, out);
    yk_text_add(out, "\"}\n");
}

static yk_status report(const struct yk_lines *hypotheses, const struct yk_lines *references,
                        const char *reference_path, const struct yk_bleu_options *options,
                        bool json, struct yk_text *out)
{
    struct yk_bleu bleu = {0};
    if (references->count == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s has no lines to hold translations against",
                       reference_path);
    }
    if (hypotheses->count != references->count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has %" PRId64 " line%s for %" PRId64
                       " translation%s; there must be one for each",
                       reference_path, references->count, yk_wording_plural(references->count),
                       hypotheses->count, yk_wording_plural(hypotheses->count));
    }
    YK_TRY(yk_bleu_compute(hypotheses->items, references->items, hypotheses->count,
                           options->lowercase, &bleu));
    if (json) {
        add_json(&bleu, options, out);
    } else {
        add_text(&bleu, options, out);
    }
    return yk_text_status(out);
}

yk_status yk_bleu_report(const struct yk_lines *hypotheses, const char *reference_path,
                         const struct yk_bleu_options *options, bool json, struct yk_text *out)
{
    struct yk_lines *references = NULL;
    YK_TRY(yk_lines_read(reference_path, &references));
    const yk_status status = report(hypotheses, references, reference_path, options, json, out);
    yk_lines_destroy(references);
    return status;
}
