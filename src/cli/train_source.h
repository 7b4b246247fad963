/*
 * Train source: what is trained and on what: the model's config and the data, made to fit each
 * other.
 *
 * Characters of text are tokens, so the model of a new run gets the text's vocabulary; weights and
 * checkpoints have one already, and the data must then be within it.
 */
#ifndef YK_CLI_TRAIN_SOURCE_H
#define YK_CLI_TRAIN_SOURCE_H

#include "cli/train.h"
#include "data/corpus.h"
#include "data/window_sampler.h"
#include "model/config.h"
#include "model/model.h"
#include "train/checkpoint.h"

/* Starts as {0}. Owns all but the config. */
struct yk_train_source {
    const struct yk_model_config *config; /* built-in, in the arena, or the checkpoint's */
    struct yk_vocabulary *vocabulary;     /* that came with the weights; NULL: none */
    const char *data;                     /* the corpus's path */
    struct yk_corpus *corpus;
    struct yk_sampler *samples;
    struct yk_sampler *evaluation; /* NULL: no data is kept for it */
};

/* `checkpoint` is that of the run to go on with, or NULL. */
yk_status yk_train_source_open(const struct yk_train_words *words,
                               const struct yk_checkpoint *checkpoint, struct yk_arena *arena,
                               struct yk_train_source *out) YK_MUST_USE;

/* The folder that --weights, which are there, lie in: where their config.json would be. */
yk_status yk_train_weights_folder(const struct yk_train_words *words, struct yk_arena *arena,
                                  const char **out) YK_MUST_USE;

/* The samples of the data, once the length of one is known. */
yk_status yk_train_source_cut(struct yk_train_source *source, const struct yk_train_words *words,
                              int64_t sequence) YK_MUST_USE;

void yk_train_source_close(struct yk_train_source *source);

/* A model whose tokens have a meaning already. */
struct yk_known_words {
    const char *model;                      /* what the user knows it by */
    const struct yk_vocabulary *vocabulary; /* NULL: its tokens are no characters */
    const struct yk_model_config *config;
};

/* Opens a corpus whose tokens are all known to the model. Text is refused where the model has no
 * vocabulary of characters: ids by character would mean something else to it. */
yk_status yk_corpus_open_known(const char *path, double part, const struct yk_known_words *known,
                               struct yk_corpus **out) YK_MUST_USE;

#endif
