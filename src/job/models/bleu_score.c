#include "job/models/bleu_score.h"

#include "base/json_write.h"
#include "base/text.h"

#include <inttypes.h>

static yk_status check_counts(const struct yk_lines *translations,
                              const struct yk_lines *references, const char *reference)
{
    if (references->count == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s has no lines to hold translations against", reference);
    }
    if (translations->count != references->count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has %" PRId64 " line%s for %" PRId64
                       " translation%s; there must be one for each",
                       reference, references->count, yk_text_plural_suffix(references->count),
                       translations->count, yk_text_plural_suffix(translations->count));
    }
    return YK_OK;
}

yk_status yk_bleu_score_compute_for_lines(const struct yk_lines *translations,
                                          const char *reference, bool lowercase,
                                          struct yk_bleu_score *out)
{
    struct yk_lines *references = NULL;
    YK_TRY(yk_lines_read_file(reference, &references));
    yk_status status = check_counts(translations, references, reference);
    if (status == YK_OK) {
        out->lowercase = lowercase;
        status = yk_bleu_compute(translations->items, references->items, translations->count,
                                 lowercase, &out->bleu);
    }
    yk_lines_destroy(references);
    return status;
}

yk_status yk_bleu_score_run(const struct yk_bleu_score_request *request, struct yk_bleu_score *out)
{
    struct yk_lines *translations = NULL;
    const char *source = NULL;
    YK_TRY(yk_lines_read_file_or_stdin(request->translations, &source, &translations));
    const yk_status status =
        yk_bleu_score_compute_for_lines(translations, request->reference, request->lowercase, out);
    yk_lines_destroy(translations);
    return status;
}

yk_status yk_bleu_score_write_text(const struct yk_bleu_score *score, struct yk_text *out)
{
    yk_bleu_write_score_line(&score->bleu, out);
    yk_text_add(out, "\n");
    yk_bleu_write_sacrebleu_signature(score->lowercase, out);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

yk_status yk_bleu_score_write_json(const struct yk_bleu_score *score, struct yk_text *out)
{
    const struct yk_bleu_result *bleu = &score->bleu;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "bleu");
    yk_json_write_number(&json, "score", bleu->score);
    yk_json_write_numbers(&json, "precisions", bleu->precisions, YK_BLEU_MAX_NGRAM);
    yk_json_write_number(&json, "brevity_penalty", bleu->brevity_penalty);
    yk_json_write_number(&json, "ratio", yk_bleu_length_ratio(bleu));
    yk_json_write_integer(&json, "hypothesis_length", bleu->hypothesis_length);
    yk_json_write_integer(&json, "reference_length", bleu->reference_length);
    yk_json_write_integers(&json, "matches", bleu->matches, YK_BLEU_MAX_NGRAM);
    yk_json_write_integers(&json, "totals", bleu->totals, YK_BLEU_MAX_NGRAM);
    /* A signature has nothing to escape. */
    yk_json_write_key(&json, "signature");
    yk_text_add(out, "\"");
    yk_bleu_write_sacrebleu_signature(score->lowercase, out);
    yk_text_add(out, "\"");
    return yk_json_write_end_yoke_document(&json);
}
