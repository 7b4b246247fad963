#include "cli/train_source.h"

#include "base/log.h"
#include "cli/folder.h"
#include "cli/loaded.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define USUAL_MODEL "gpt-mini"

/* Where this source was when yoke was built: something to learn from that is always there. */
#ifndef YOKE_CORPUS
#define YOKE_CORPUS ""
#endif

static yk_status check_known(const struct yk_corpus *corpus, const char *path,
                             const struct yk_model_config *config)
{
    const int64_t known = yk_model_config_target_vocabulary(config);
    int32_t largest = 0;
    YK_TRY(yk_corpus_largest(corpus, &largest));
    if (largest < known) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: token %d is outside the vocabulary of %s, which has tokens 0 to %" PRId64
                   "; choose a model or data that fits the other",
                   path, (int)largest, config->name, known - 1);
}

yk_status yk_corpus_open_known(const char *path, double part, const struct yk_known_words *known,
                               struct yk_corpus **out)
{
    const struct yk_corpus_request request = {path, part, known->vocabulary};
    struct yk_corpus *corpus = NULL;
    YK_TRY(yk_corpus_open(&request, &corpus));
    const yk_status status = yk_corpus_vocabulary(corpus) && !known->vocabulary
                                 ? yk_fail(YK_ERROR_INPUT,
                                           "%s has no vocabulary of characters: give token shards "
                                           "(.bin) instead of text",
                                           known->model)
                                 : check_known(corpus, path, known->config);
    if (status != YK_OK) {
        yk_corpus_close(corpus);
        return status;
    }
    *out = corpus;
    return YK_OK;
}

static yk_status find_data(const struct yk_train_words *words, const char **out)
{
    *out = words->data ? words->data : YOKE_CORPUS;
    if (words->data || access(YOKE_CORPUS, R_OK) == 0) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_USAGE,
                   "name something to learn from: --data text.txt, a folder of texts, or token "
                   "shards; yoke's own source is not where it was built");
}

yk_status yk_train_weights_folder(const struct yk_train_words *words, struct yk_arena *arena,
                                  const char **out)
{
    const char *end = strrchr(words->weights, '/');
    *out = words->weights;
    if (!yk_folder_is(words->weights)) {
        const size_t length = !end ? 0 : end == words->weights ? 1 : (size_t)(end - words->weights);
        *out = end ? yk_arena_copy_text(arena, words->weights, length) : ".";
    }
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static yk_status open_config(const struct yk_train_words *words, struct yk_arena *arena,
                             const struct yk_model_config **out)
{
    const char *word = words->model ? words->model : USUAL_MODEL;
    if (!words->model && words->weights) {
        YK_TRY(yk_train_weights_folder(words, arena, &word));
    }
    if (yk_folder_is(word) && yk_folder_has(word, "config.json")) {
        YK_TRY(yk_train_path(word, "config.json", arena, &word));
    }
    return yk_model_config_open(word, arena, out);
}

/* The config with as many tokens as the text has characters. */
static yk_status fit_vocabulary(const struct yk_vocabulary *vocabulary, struct yk_arena *arena,
                                const struct yk_model_config **config)
{
    struct yk_model_config *fitted = NULL;
    YK_TRY_NEW(arena, fitted, 1);
    *fitted = **config;
    fitted->vocabulary = yk_vocabulary_count(vocabulary);
    fitted->target_vocabulary = 0;
    *config = fitted;
    return YK_OK;
}

static yk_status open_new(const struct yk_train_words *words, struct yk_arena *arena,
                          struct yk_train_source *out)
{
    YK_TRY(open_config(words, arena, &out->config));
    if (words->weights) {
        const char *folder = NULL;
        YK_TRY(yk_train_weights_folder(words, arena, &folder));
        YK_TRY(yk_loaded_read_vocabulary(folder, arena, &out->vocabulary));
        const struct yk_known_words known = {words->weights, out->vocabulary, out->config};
        return yk_corpus_open_known(out->data, words->data_part, &known, &out->corpus);
    }
    const struct yk_corpus_request request = {.path = out->data, .part = words->data_part};
    YK_TRY(yk_corpus_open(&request, &out->corpus));
    const struct yk_vocabulary *vocabulary = yk_corpus_vocabulary(out->corpus);
    return vocabulary ? fit_vocabulary(vocabulary, arena, &out->config)
                      : check_known(out->corpus, out->data, out->config);
}

yk_status yk_train_source_open(const struct yk_train_words *words,
                               const struct yk_checkpoint *checkpoint, struct yk_arena *arena,
                               struct yk_train_source *out)
{
    YK_TRY(find_data(words, &out->data));
    if (!checkpoint) {
        return open_new(words, arena, out);
    }
    out->config = checkpoint->config;
    const struct yk_known_words known = {checkpoint->path, checkpoint->vocabulary, out->config};
    return yk_corpus_open_known(out->data, words->data_part, &known, &out->corpus);
}

yk_status yk_train_source_cut(struct yk_train_source *source, const struct yk_train_words *words,
                              int64_t sequence)
{
    struct yk_corpus_range training;
    struct yk_corpus_range evaluation;
    yk_corpus_split(source->corpus, words->eval_part, &training, &evaluation);
    const yk_status status =
        yk_window_sampler_create(&training, sequence, (uint64_t)words->seed, &source->samples);
    if (status != YK_OK) {
        return yk_fail_in(status, source->data);
    }
    if (evaluation.count < 2) {
        if (words->eval_part > 0) {
            yk_log(YK_LOG_NOTE, "the data is too short to keep a part of it for evaluation");
        }
        return YK_OK;
    }
    return yk_window_sampler_create_sequential(&evaluation, sequence, &source->evaluation);
}

void yk_train_source_close(struct yk_train_source *source)
{
    yk_sampler_destroy(source->evaluation);
    yk_sampler_destroy(source->samples);
    yk_corpus_close(source->corpus);
    yk_vocabulary_destroy(source->vocabulary);
    *source = (struct yk_train_source){0};
}
