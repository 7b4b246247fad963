/*
 * Dataset: the training data of a run, of any kind, and its samplers.
 *   windows       text or token shards (data/corpus.h); the model predicts each next token
 *   masked        the same, with some tokens masked; the model predicts them from both sides
 *   pairs         sentences and their translations (data/sentence_pairs.h)
 *   instructions  prompts and their completions (data/instructions.h)
 * An open dataset is immutable: any number of threads may use one. It must outlive its samplers,
 * and everything that the request points to must outlive the dataset.
 *
 * Files of this folder:
 *   sampler (with window_sampler.c and sentence_pair_sampler.c),
 *   masked_sampler, instruction_sampler         the samples of a batch
 *   corpus, sentence_pairs, instructions        the data of each kind
 *   file_list, text_reader, lines, json_records files of text
 *   token_shard                                 files of tokens
 *   instruction_files, instruction_encoder      files of instructions
 *   gettext_pairs, mo_catalogue, pair_cleaning  sentence pairs from gettext catalogues
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
    YK_DATASET_TEXT_WINDOWS,
    YK_DATASET_MASKED_TEXT,
    YK_DATASET_SENTENCE_PAIRS,
    YK_DATASET_INSTRUCTIONS,
};

struct yk_dataset_request {
    enum yk_dataset_kind kind;
    const char *path;
    const char *target_path;              /* pairs: the file of translations */
    const struct yk_tokenizer *tokenizer; /* windows: NULL means that each character is a token */
    double part;      /* use this fraction of the data, from its beginning: above 0, up to 1 */
    double held_out;  /* hold out the last fraction of that for evaluation: 0 to below 1 */
    int64_t longest;  /* pairs, instructions: the most tokens of a sentence or a sample */
    int32_t start;    /* pairs: the id of the first token that a decoder reads */
    bool skip_faulty; /* pairs, instructions: skip those that are empty or too long */
    bool packed;      /* instructions: put several into one sample */
};

struct yk_dataset;

yk_status yk_dataset_open(const struct yk_dataset_request *request,
                          struct yk_dataset **out) YK_MUST_USE;
void yk_dataset_close(struct yk_dataset *dataset);

/* The tokenizer of the request, or a character tokenizer that the dataset owns. NULL for token
 * shards. */
const struct yk_tokenizer *yk_dataset_tokenizer(const struct yk_dataset *dataset);

/* The largest token id; the embedding of a model needs at least one more row. */
yk_status yk_dataset_max_token(const struct yk_dataset *dataset, int32_t *out) YK_MUST_USE;

/* Adds "3 files, 1.2MB, 94 characters", "29000 pairs, …". */
void yk_dataset_describe(const struct yk_dataset *dataset, struct yk_text *out);

/* Creates a sampler over the training data: everything that is not held out. */
yk_status yk_dataset_create_sampler(const struct yk_dataset *dataset,
                                    const struct yk_sampler_options *options,
                                    struct yk_sampler **out) YK_MUST_USE;

/* Creates a sequential sampler over the data that is held out or, if `all`, over all data. `*out`
 * is NULL if there is none. */
yk_status yk_dataset_create_sequential_sampler(const struct yk_dataset *dataset,
                                               const struct yk_sampler_options *options, bool all,
                                               struct yk_sampler **out) YK_MUST_USE;

#endif
