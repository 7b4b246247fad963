#include "data/dataset.h"

#include "data/corpus.h"
#include "data/images/image_data.h"
#include "data/instruction_sampler.h"
#include "data/masked_sampler.h"
#include "data/sentence_pairs.h"

#include <stdlib.h>

struct yk_dataset {
    struct yk_dataset_request request;
    struct yk_corpus *corpus;              /* for windows and masked text */
    struct yk_corpus_range training;       /* range of the corpus */
    struct yk_corpus_range evaluation;     /* range of the corpus */
    struct yk_sentence_pairs *pairs;       /* for training */
    struct yk_sentence_pairs *other_pairs; /* held out; NULL or empty means: none */
    struct yk_instructions *instructions;
    struct yk_instructions *other_instructions;
    struct yk_masked_sampler_token_ids masked;
    struct yk_image_data *images;
};

static yk_status open_corpus(struct yk_dataset *dataset)
{
    const struct yk_dataset_request *request = &dataset->request;
    const struct yk_corpus_request inner = {request->path, request->part, request->tokenizer};
    YK_TRY(yk_corpus_open(&inner, &dataset->corpus));
    yk_corpus_split_train_eval(dataset->corpus, request->held_out, &dataset->training,
                               &dataset->evaluation);
    return YK_OK;
}

static yk_status open_masked(struct yk_dataset *dataset)
{
    YK_TRY(yk_masked_sampler_find_token_ids(dataset->request.tokenizer, &dataset->masked));
    return open_corpus(dataset);
}

static yk_status open_pairs(struct yk_dataset *dataset)
{
    const struct yk_dataset_request *request = &dataset->request;
    const double kept = request->part * (1 - request->held_out);
    struct yk_sentence_pairs_request inner = {
        .source_path = request->path,
        .target_path = request->target_path,
        .source_tokenizer = request->tokenizer,
        .target_tokenizer = request->tokenizer,
        .until = kept,
        .longest = request->longest,
        .start_id = request->start,
        .skip_faulty = request->skip_faulty,
    };
    YK_TRY(yk_sentence_pairs_open(&inner, &dataset->pairs));
    if (request->held_out == 0) {
        return YK_OK;
    }
    inner.from = kept;
    inner.until = request->part;
    return yk_sentence_pairs_open(&inner, &dataset->other_pairs);
}

static yk_status open_instructions(struct yk_dataset *dataset)
{
    const struct yk_dataset_request *request = &dataset->request;
    const double kept = request->part * (1 - request->held_out);
    struct yk_instructions_request inner = {
        .path = request->path,
        .tokenizer = request->tokenizer,
        .chat_variables = request->chat_variables,
        .longest = request->longest,
        .skip_faulty = request->skip_faulty,
        .until = kept,
    };
    YK_TRY(yk_instructions_open(&inner, &dataset->instructions));
    if (request->held_out == 0) {
        return YK_OK;
    }
    inner.from = kept;
    inner.until = request->part;
    return yk_instructions_open(&inner, &dataset->other_instructions);
}

static yk_status open_images(struct yk_dataset *dataset)
{
    const struct yk_dataset_request *request = &dataset->request;
    const struct yk_image_data_request inner = {
        .path = request->path,
        .processor = request->images,
        .part = request->part,
        .held_out = request->held_out,
        .skip_faulty = request->skip_faulty,
    };
    return yk_image_data_open(&inner, &dataset->images);
}

yk_status yk_dataset_open(const struct yk_dataset_request *request, struct yk_dataset **out)
{
    struct yk_dataset *dataset = calloc(1, sizeof *dataset);
    YK_TRY_ALLOCATED(dataset);
    dataset->request = *request;
    yk_status status = YK_OK;
    switch (request->kind) {
    case YK_DATASET_SENTENCE_PAIRS:
        status = open_pairs(dataset);
        break;
    case YK_DATASET_INSTRUCTIONS:
        status = open_instructions(dataset);
        break;
    case YK_DATASET_MASKED_TEXT:
        status = open_masked(dataset);
        break;
    case YK_DATASET_IMAGES:
        status = open_images(dataset);
        break;
    default:
        status = open_corpus(dataset);
        break;
    }
    YK_TRY_OR_CLEAN_UP(status, yk_dataset_close(dataset));
    *out = dataset;
    return YK_OK;
}

void yk_dataset_close(struct yk_dataset *dataset)
{
    if (dataset) {
        yk_corpus_close(dataset->corpus);
        yk_sentence_pairs_close(dataset->pairs);
        yk_sentence_pairs_close(dataset->other_pairs);
        yk_instructions_close(dataset->instructions);
        yk_instructions_close(dataset->other_instructions);
        yk_image_data_close(dataset->images);
        free(dataset);
    }
}

const struct yk_tokenizer *yk_dataset_tokenizer(const struct yk_dataset *dataset)
{
    return dataset->corpus ? yk_corpus_tokenizer(dataset->corpus) : dataset->request.tokenizer;
}

int32_t yk_dataset_class_count(const struct yk_dataset *dataset)
{
    return dataset->images ? yk_image_data_set(dataset->images)->class_count : 0;
}

yk_status yk_dataset_renumber_classes(struct yk_dataset *dataset, const char *const *names,
                                      int64_t count, const char *unknown)
{
    return yk_image_data_renumber_classes(dataset->images, names, count, unknown);
}

const char *yk_dataset_class_name(const struct yk_dataset *dataset, int32_t class_index)
{
    return yk_image_data_set(dataset->images)->class_names[class_index];
}

int64_t yk_dataset_skipped_images(const struct yk_dataset *dataset)
{
    return dataset->images ? yk_image_data_skipped(dataset->images) : 0;
}

yk_status yk_dataset_find_max_token_id(const struct yk_dataset *dataset, int32_t *out)
{
    if (dataset->corpus) {
        return yk_corpus_find_max_token_id(dataset->corpus, out);
    }
    if (dataset->images) {
        *out = 0; /* the one token of every image */
        return YK_OK;
    }
    *out = yk_tokenizer_vocabulary_size(dataset->request.tokenizer) - 1;
    return YK_OK;
}

void yk_dataset_describe(const struct yk_dataset *dataset, struct yk_text *out)
{
    if (dataset->pairs) {
        yk_sentence_pairs_describe(dataset->pairs, out);
    } else if (dataset->instructions) {
        yk_instructions_describe(dataset->instructions, out);
    } else if (dataset->images) {
        yk_image_data_describe(dataset->images, out);
    } else {
        yk_corpus_describe(dataset->corpus, out);
    }
}

/* Creates a sampler over the training data or, if sequential, over the held-out data (with `all`,
 * over all data). */
static yk_status create_sampler(const struct yk_dataset *dataset,
                                const struct yk_sampler_options *options, bool all,
                                struct yk_sampler **out)
{
    const bool held_out = options->sequential && !all;
    const enum yk_image_data_role role = !options->sequential ? YK_IMAGE_DATA_TRAINING
                                         : all                ? YK_IMAGE_DATA_FINAL
                                                              : YK_IMAGE_DATA_HELD_OUT;
    const struct yk_sentence_pairs *pairs = held_out ? dataset->other_pairs : dataset->pairs;
    const struct yk_instructions *instructions =
        held_out ? dataset->other_instructions : dataset->instructions;
    struct yk_corpus_range range = held_out ? dataset->evaluation : dataset->training;
    if (options->sequential && all && dataset->corpus) {
        range = yk_corpus_full_range(dataset->corpus);
    }
    const struct yk_masked_sampler_request masked = {range, dataset->masked, *options};
    *out = NULL;
    switch (dataset->request.kind) {
    case YK_DATASET_SENTENCE_PAIRS:
        return pairs && pairs->count > 0 ? yk_sentence_pair_sampler_create(pairs, options, out)
                                         : YK_OK;
    case YK_DATASET_INSTRUCTIONS:
        return instructions && instructions->count > 0
                   ? yk_instruction_sampler_create(instructions, options, out)
                   : YK_OK;
    case YK_DATASET_MASKED_TEXT:
        return options->sequential && range.count == 0 ? YK_OK
                                                       : yk_masked_sampler_create(&masked, out);
    case YK_DATASET_IMAGES:
        return yk_image_data_create_sampler(dataset->images, role, options, out);
    default:
        return held_out && range.count < 2 ? YK_OK : yk_window_sampler_create(&range, options, out);
    }
}

yk_status yk_dataset_create_training_sampler(const struct yk_dataset *dataset,
                                             const struct yk_sampler_options *options,
                                             struct yk_sampler **out)
{
    struct yk_sampler_options training = *options;
    training.packed = dataset->request.packed;
    const yk_status status = create_sampler(dataset, &training, false, out);
    /* Messages about images name the file. */
    return dataset->images ? status : yk_status_prefix_message(status, dataset->request.path);
}

yk_status yk_dataset_create_evaluation_sampler(const struct yk_dataset *dataset,
                                               const struct yk_sampler_options *options, bool all,
                                               struct yk_sampler **out)
{
    struct yk_sampler_options evaluation = *options;
    evaluation.packed = dataset->request.packed;
    evaluation.sequential = true;
    return create_sampler(dataset, &evaluation, all, out);
}
