/*
 * Dataset: the training data of a run, and the samplers of this data. There are five kinds:
 *   windows       text or token shards (data/corpus.h); the model predicts each next token
 *   masked        text or token shards; some tokens are masked, and the model predicts them from
 *                 the tokens before and after them
 *   pairs         sentences and their translations (data/sentence_pairs.h)
 *   instructions  prompts and their completions (data/instructions.h)
 *   images        images and their classes (data/images/image_set.h)
 * An open dataset is immutable: any number of threads may use the same dataset. A dataset must
 * outlive its samplers. Everything that the request points to must outlive the dataset.
 *
 * Files of this folder:
 *   sampler (with window_sampler.c and sentence_pair_sampler.c),
 *   masked_sampler, instruction_sampler         choose the samples of a batch
 *   corpus, sentence_pairs, instructions        the data of each kind
 *   file_list, text_reader, lines, json_records read files of text
 *   token_shard                                 reads and writes files of tokens
 *   instruction_files, instruction_form,
 *   instruction_encoder                         read files of instructions
 *   gettext_pairs, mo_catalogue,
 *   sentence_pair_cleaning                      collect sentence pairs from gettext catalogues
 *   images/                                     images: files, decoding, resizing, sampling
 *   bleu                                        computes the score of translations
 */
#ifndef YK_DATA_DATASET_H
#define YK_DATA_DATASET_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "data/images/image_processor.h"
#include "data/sampler.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_dataset_kind {
    YK_DATASET_TEXT_WINDOWS,
    YK_DATASET_MASKED_TEXT,
    YK_DATASET_SENTENCE_PAIRS,
    YK_DATASET_INSTRUCTIONS,
    YK_DATASET_IMAGES,
};

struct yk_dataset_request {
    enum yk_dataset_kind kind;
    const char *path;
    const char *target_path;              /* pairs: path of the translations */
    const struct yk_tokenizer *tokenizer; /* windows: if NULL, each character is a token */
    double part;     /* use only this fraction of the data, from the beginning: above 0, up to 1 */
    double held_out; /* fraction of the used data, at its end, that is held out for evaluation: 0 to
                        below 1; for images see data/images/image_data.h */
    int64_t longest; /* pairs: maximum number of tokens of a sentence; instructions: of an
                        instruction */
    int32_t start;   /* pairs: id of the first token that a decoder reads */
    bool skip_faulty; /* pairs, instructions: skip items that are empty or too long; images: leave
                         out images that cannot be decoded; false means: fail */
    const struct yk_json *chat_variables; /* instructions: variables of the chat template, an
                                             object, or NULL */
    bool packed; /* instructions: put several instructions into one sample */
    const struct yk_image_processor *images; /* images: how the model expects them */
};

struct yk_dataset;

yk_status yk_dataset_open(const struct yk_dataset_request *request,
                          struct yk_dataset **out) YK_MUST_USE;
void yk_dataset_close(struct yk_dataset *dataset);

/* Returns the tokenizer of the request, or a character tokenizer that the dataset owns. Returns
 * NULL for token shards. */
const struct yk_tokenizer *yk_dataset_tokenizer(const struct yk_dataset *dataset);

/* Finds the largest token id of the tokenizer or, without a tokenizer, of the data. The embedding
 * of a model needs at least `*out` + 1 rows. */
yk_status yk_dataset_find_max_token_id(const struct yk_dataset *dataset, int32_t *out) YK_MUST_USE;

/* Appends a description such as "3 files, 1.2MB, 94 characters" or "29000 pairs, …". */
void yk_dataset_describe(const struct yk_dataset *dataset, struct yk_text *out);

/* These two functions return the number of classes of images, and the name of a class. The number
 * is 0 if the data is not images. */
int32_t yk_dataset_class_count(const struct yk_dataset *dataset);
const char *yk_dataset_class_name(const struct yk_dataset *dataset, int32_t class_index);

/* For images: changes the labels to the numbers that the classes have in `names`, before any
 * sampler is used. Fails if a class does not occur there (data/images/image_set.h). */
yk_status yk_dataset_renumber_classes(struct yk_dataset *dataset, const char *const *names,
                                      int64_t count, const char *unknown) YK_MUST_USE;

/* Returns the number of images that were left out until now because they cannot be decoded. */
int64_t yk_dataset_skipped_images(const struct yk_dataset *dataset);

/* Creates a sampler over the training data, which is all data that is not held out. */
yk_status yk_dataset_create_training_sampler(const struct yk_dataset *dataset,
                                             const struct yk_sampler_options *options,
                                             struct yk_sampler **out) YK_MUST_USE;

/* Creates a sequential sampler. If `all` is false, it samples the held-out data; `*out` is NULL if
 * there is none. If `all` is true, it samples the whole corpus; for pairs and instructions, the
 * data that is not held out; for images, those of the final evaluation (data/images/image_data.h).
 */
yk_status yk_dataset_create_evaluation_sampler(const struct yk_dataset *dataset,
                                               const struct yk_sampler_options *options, bool all,
                                               struct yk_sampler **out) YK_MUST_USE;

#endif
