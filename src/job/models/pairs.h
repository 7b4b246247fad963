/*
 * Pairs: files of sentence pairs, a sentence a line, from the translations that programs bring
 * along (data/gettext_pairs.h). Any thread may call this.
 */
#ifndef YK_JOB_MODELS_PAIRS_H
#define YK_JOB_MODELS_PAIRS_H

#include "base/status.h"
#include "base/text.h"
#include "data/pair_cleaning.h"

#include <stddef.h>
#include <stdint.h>

enum {
    YK_PAIRS_MAX_FILES = 4
};

struct yk_pairs_request {
    const char *language; /* as folders of translations are called: de, pt_BR */
    const char *output;   /* what the files' names begin with */
    const char *from;     /* the folder of all languages; NULL: those of this system */
    int64_t held_out;     /* pairs that go into files of their own */
    int64_t longest;      /* characters of a sentence */
};

/* Messages that were left out for one reason. */
struct yk_pairs_left_out {
    const char *reason; /* "not translated" */
    int64_t count;
};

/* Starts as {0}. */
struct yk_pairs_result {
    struct yk_text paths[YK_PAIRS_MAX_FILES]; /* of the files that were written */
    size_t path_count;
    int32_t catalogues; /* that were read */
    int32_t broken;     /* catalogues that were left out */
    int64_t messages;   /* in the catalogues */
    int32_t pairs;      /* without those held out */
    int32_t held_out;
    struct yk_pairs_left_out left_out[YK_PAIR_FAULTS];
    size_t left_out_count;
};

/* Writes PREFIX.en and PREFIX.LANGUAGE, and where pairs are held out PREFIX.held-out.en and
 * .LANGUAGE: all of them, or none. */
yk_status yk_pairs_run(const struct yk_pairs_request *request,
                       struct yk_pairs_result *out) YK_MUST_USE;
void yk_pairs_result_free(struct yk_pairs_result *result);

#endif
