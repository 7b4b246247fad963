/*
 * Pair extraction: builds a dataset of sentence pairs from the gettext catalogues of installed
 * programs (data/gettext_pairs.h). Each output file has one sentence per line. Thread-safe.
 */
#ifndef YK_JOB_MODELS_PAIR_EXTRACTION_H
#define YK_JOB_MODELS_PAIR_EXTRACTION_H

#include "base/status.h"
#include "base/text.h"
#include "data/pair_cleaning.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_PAIR_EXTRACTION_MAX_FILES = 4
};

struct yk_pair_extraction_request {
    const char *language;      /* locale name: de, pt_BR */
    const char *output;        /* prefix of the output files */
    const char *locale_folder; /* locale folder; NULL: /usr/share/locale and locale-langpack */
    int64_t held_out;          /* number of pairs written to separate files for evaluation */
    int64_t max_characters;    /* maximum length of a sentence, in characters */
};

/* Number of messages rejected for one reason. */
struct yk_pair_extraction_rejections {
    const char *reason; /* "not translated" */
    int64_t count;
};

/* Starts as {0}. */
struct yk_pair_extraction_result {
    struct yk_text paths[YK_PAIR_EXTRACTION_MAX_FILES]; /* files written */
    size_t path_count;
    int32_t catalogues; /* catalogues read */
    int32_t broken;     /* catalogues skipped because they could not be read */
    int64_t messages;   /* messages in the catalogues */
    int32_t pairs;      /* pairs written, excluding the held-out ones */
    int32_t held_out;   /* held-out pairs */
    struct yk_pair_extraction_rejections left_out[YK_PAIR_REJECT_REASON_COUNT];
    size_t left_out_count;
};

/* Writes PREFIX.en and PREFIX.LANGUAGE and, if pairs are held out, PREFIX.held-out.en and
 * PREFIX.held-out.LANGUAGE. Writes all files or none. */
yk_status yk_pair_extraction_run(const struct yk_pair_extraction_request *request,
                                 struct yk_pair_extraction_result *out) YK_MUST_USE;
void yk_pair_extraction_result_free(struct yk_pair_extraction_result *result);

#endif
