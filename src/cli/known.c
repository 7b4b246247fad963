#include "cli/known.h"

#include "model/architecture.h"

#include <inttypes.h>
#include <string.h>

enum {
    USUAL_PAIR = 32,
    USUAL_MASKED = 128,
    USUAL_INSTRUCTION = 512,
};

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path);
    const size_t wanted = strlen(ending);
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

static bool is_instructions(const char *path)
{
    return ends_with(path, ".jsonl") || ends_with(path, ".json");
}

enum yk_dataset_kind yk_known_kind(const struct yk_model_config *config, const char *path)
{
    if (config->architecture == &yk_architecture_transformer) {
        return YK_DATASET_PAIRS;
    }
    if (config->architecture == &yk_architecture_bert) {
        return YK_DATASET_MASKED;
    }
    return is_instructions(path) ? YK_DATASET_INSTRUCTIONS : YK_DATASET_WINDOWS;
}

int64_t yk_known_usual_sequence(enum yk_dataset_kind kind)
{
    static const int64_t usual[] = {
        [YK_DATASET_WINDOWS] = 0,
        [YK_DATASET_MASKED] = USUAL_MASKED,
        [YK_DATASET_PAIRS] = USUAL_PAIR,
        [YK_DATASET_INSTRUCTIONS] = USUAL_INSTRUCTION,
    };
    return usual[kind];
}

yk_status yk_known_check(const struct yk_dataset *dataset, const char *path,
                         const struct yk_model_config *config)
{
    const int64_t known = yk_model_config_target_vocabulary(config);
    int32_t largest = 0;
    YK_TRY(yk_dataset_largest(dataset, &largest));
    if (largest < known) {
        return YK_OK;
    }
    if (yk_dataset_tokenizer(dataset)) {
        return yk_fail(YK_ERROR_INPUT,
                       "the tokenizer has %d tokens, but %s knows %" PRId64
                       "; choose a tokenizer or a model that fits the other",
                       (int)largest + 1, config->name, known);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: token %d is outside the vocabulary of %s, which has tokens 0 to %" PRId64
                   "; choose a model or data that fits the other",
                   path, (int)largest, config->name, known - 1);
}

int32_t yk_known_start(const struct yk_model_config *config, const struct yk_tokenizer *tokenizer)
{
    const int32_t begin = yk_tokenizer_role(tokenizer, YK_TOKEN_BEGIN);
    const int32_t pad = yk_tokenizer_role(tokenizer, YK_TOKEN_PAD);
    if (config->ids.decoder_start >= 0) {
        return (int32_t)config->ids.decoder_start;
    }
    return begin >= 0 ? begin : pad;
}

static yk_status check_request(const struct yk_dataset_request *request)
{
    static const char *const asks[][2] = {
        [YK_DATASET_MASKED] = {"BERT learns from text that a tokenizer cut into words", "bert"},
        [YK_DATASET_PAIRS] = {"pairs of sentences share a tokenizer", "pairs"},
        [YK_DATASET_INSTRUCTIONS] = {"a .jsonl or .json file holds instructions, which a "
                                     "tokenizer cuts into tokens",
                                     "llama3"},
    };
    if (request->kind == YK_DATASET_PAIRS && !request->target_path) {
        return yk_fail(YK_ERROR_USAGE,
                       "an encoder–decoder learns from pairs: name the translations of %s by "
                       "--target",
                       request->path);
    }
    if (request->kind != YK_DATASET_PAIRS && request->target_path) {
        return yk_fail(YK_ERROR_USAGE,
                       "--target goes with an encoder–decoder, such as --model transformer-small");
    }
    if (request->kind != YK_DATASET_WINDOWS && !request->tokenizer) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s; name it by --tokenizer, or learn one: yoke tokenize --learn 8000 "
                       "--special %s -o tokenizer.json TEXT…",
                       asks[request->kind][0], asks[request->kind][1]);
    }
    if (request->kind == YK_DATASET_MASKED && is_instructions(request->path)) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s holds instructions, by its name; BERT learns from plain text",
                       request->path);
    }
    if (request->packed && request->kind != YK_DATASET_INSTRUCTIONS) {
        return yk_fail(YK_ERROR_USAGE, "--packed goes with instructions (.jsonl, .json)");
    }
    if (request->kind == YK_DATASET_PAIRS && request->start < 0) {
        return yk_fail(YK_ERROR_INPUT, "the tokenizer has neither <s> nor <pad>, with one of which "
                                       "a decoder begins");
    }
    return YK_OK;
}

yk_status yk_known_open_any(const struct yk_dataset_request *wish,
                            const struct yk_model_config *config,
                            const struct yk_tokenizer *tokenizer, struct yk_dataset **out)
{
    struct yk_dataset_request request = *wish;
    request.kind = yk_known_kind(config, wish->path);
    request.tokenizer = tokenizer;
    request.start = tokenizer ? yk_known_start(config, tokenizer) : -1;
    YK_TRY(check_request(&request));
    return yk_dataset_open(&request, out);
}

yk_status yk_known_open(const struct yk_dataset_request *request, const struct yk_known *known,
                        struct yk_dataset **out)
{
    struct yk_dataset *dataset = NULL;
    YK_TRY(yk_known_open_any(request, known->config, known->tokenizer, &dataset));
    const yk_status status =
        yk_dataset_tokenizer(dataset) && !known->tokenizer
            ? yk_fail(YK_ERROR_INPUT,
                      "%s has no tokenizer: give token shards (.bin) instead of "
                      "text, or a model with its tokenizer.json beside it",
                      known->model)
            : yk_known_check(dataset, request->path, known->config);
    if (status != YK_OK) {
        yk_dataset_close(dataset);
        return status;
    }
    *out = dataset;
    return YK_OK;
}
