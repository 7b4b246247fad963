/*
 * Dataset: what is trained on, of whichever kind, and the samplers over it.
 *   windows       text or token shards (data/corpus.h), each token predicted from those before it,
 *   masked        the same text with some tokens masked, predicted from both sides,
 *   pairs         sentences and their translations (data/pair_list.h),
 *   instructions  prompts and their completions (data/instructions.h).
 * A dataset does not change once it is open: any number of threads may use one. It must outlive its
 * samplers, and what the request points to must outlive it. The rest of the room:
 *
 *   sampler, window_sampler, masked_sampler,
 *   pair_sampler, instruction_sampler           which samples make up a batch
 *   corpus, pair_list, instructions             the data of each kind
 *   file_list, text_reader, lines, records      files of text
 *   token_shard                                 files of tokens
 *   instruction_files, instruction_line         files of instructions
 *   gettext_pairs, mo_catalogue, pair_cleaning  pairs from gettext's files
 *   bleu                                        the score of translations
 */
#ifndef YK_DATA_DATASET_H
#define YK_DATA_DATASET_H

#include "base/status.h"
#include "base/text.h"
#include "data/sampler.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_dataset_kind {
    YK_DATASET_WINDOWS,
    YK_DATASET_MASKED,
    YK_DATASET_PAIRS,
    YK_DATASET_INSTRUCTIONS,
};

struct yk_dataset_request {
    enum yk_dataset_kind kind;
    const char *path;
    const char *target_path;              /* of pairs: the translations */
    const struct yk_tokenizer *tokenizer; /* NULL: of windows, the characters of the text */
    double part;                          /* of it, from the beginning: above 0, up to 1 */
    double held_out;  /* the last part of that, for evaluation: from 0 to below 1 */
    int64_t longest;  /* of pairs and instructions: the most tokens of a sentence or a sample */
    int32_t start;    /* of pairs: what a decoder reads first */
    bool skip_faulty; /* leave out pairs and instructions that are empty or too long */
    bool packed;      /* instructions share samples */
};

struct yk_dataset;

yk_status yk_dataset_open(const struct yk_dataset_request *request,
                          struct yk_dataset **out) YK_MUST_USE;
void yk_dataset_close(struct yk_dataset *dataset);

/* The one that was asked for, or by character the dataset's own; NULL for tokens of shards. */
const struct yk_tokenizer *yk_dataset_tokenizer(const struct yk_dataset *dataset);

/* The largest token there may be: a model needs more rows than that. */
yk_status yk_dataset_max_token(const struct yk_dataset *dataset, int32_t *out) YK_MUST_USE;

/* "3 files, 1.2MB, 94 characters", "29000 pairs, …". */
void yk_dataset_describe(const struct yk_dataset *dataset, struct yk_text *out);

/* Samples to train on: all that is not held out. */
yk_status yk_dataset_create_sampler(const struct yk_dataset *dataset,
                                    const struct yk_sampler_options *options,
                                    struct yk_sampler **out) YK_MUST_USE;

/* What is held out, or with `all` everything, once and in order. NULL where nothing is. */
yk_status yk_dataset_create_sequential_sampler(const struct yk_dataset *dataset,
                                               const struct yk_sampler_options *options, bool all,
                                               struct yk_sampler **out) YK_MUST_USE;

#endif
