/*
 * Sentence pair extraction: builds a dataset of sentence pairs from the gettext catalogues of
 * installed programs (data/gettext_pairs.h). Each output file has one sentence per line.
 * Thread-safe.
 */
#ifndef YK_JOB_MODELS_SENTENCE_PAIR_EXTRACTION_H
#define YK_JOB_MODELS_SENTENCE_PAIR_EXTRACTION_H

#include "base/status.h"
#include "base/text.h"
#include "data/gettext_pairs.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_SENTENCE_PAIR_EXTRACTION_MAX_FILES = 4
};

struct yk_sentence_pair_extraction_request {
    const char *language;      /* name of a locale, such as de or pt_BR */
    const char *output;        /* prefix of the output files */
    const char *locale_folder; /* NULL means: /usr/share/locale and /usr/share/locale-langpack */
    int64_t held_out;       /* number of pairs that are written to separate files for evaluation */
    int64_t max_characters; /* maximum length of a sentence, in characters */
};

/* Starts as {0}; owns what it points to. */
struct yk_sentence_pair_extraction_result {
    struct yk_text
        paths[YK_SENTENCE_PAIR_EXTRACTION_MAX_FILES]; /* paths of the files that were written */
    size_t path_count;
    struct yk_gettext_pairs *pairs;
};

/* Writes PREFIX.en and PREFIX.LANGUAGE and, if pairs are held out, PREFIX.held-out.en and
 * PREFIX.held-out.LANGUAGE. If one file cannot be written, writes none. */
yk_status
yk_sentence_pair_extraction_run(const struct yk_sentence_pair_extraction_request *request,
                                struct yk_sentence_pair_extraction_result *out) YK_MUST_USE;
void yk_sentence_pair_extraction_result_free(struct yk_sentence_pair_extraction_result *result);

yk_status
yk_sentence_pair_extraction_write_text(const struct yk_sentence_pair_extraction_result *result,
                                       struct yk_text *out) YK_MUST_USE;
yk_status
yk_sentence_pair_extraction_write_json(const struct yk_sentence_pair_extraction_result *result,
                                       const char *language, struct yk_text *out) YK_MUST_USE;

#endif
