/*
 * Generate: evaluates trained models on data, and generates text with them. A model is a
 * checkpoint, the folder of a run (its newest checkpoint is used), or a folder in Hugging Face
 * format. Each call loads the weights and frees them at the end.
 */
#ifndef YOKE_GENERATE_H
#define YOKE_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A trained model and the device that runs it. Filled by the caller. */
struct yoke_trained {
    const char *path;    /* path of the checkpoint, the run or the folder */
    const char *weights; /* path of the base weights of an adapter; NULL means: the path in the
                            checkpoint */
    const char *device;  /* "cpu", "cuda", "cuda:1"; NULL means: a GPU if there is one */
    int32_t threads;     /* number of CPU threads; 0 means: one per core */
};

/* Filled by the caller. */
struct yoke_evaluation_request {
    struct yoke_trained model;
    const char *data; /* path of the data: a text, a folder of texts, token shards, instructions, or
                         sentences */
    const char *target; /* path of the translations of the sentences; NULL means: none */
    double data_part;   /* use this fraction of the data, from its beginning; 0 means: all */
    int64_t samples;    /* maximum number of samples to use; 0 means: all */
    int64_t batch;      /* number of samples that are computed together; 0 means: 16 */
    int64_t sequence;   /* number of tokens of a sample; 0 means: as in training */
    bool skip_faulty;   /* skip sentence pairs and instructions that are empty or too long */
};

struct yoke_evaluation {
    double loss; /* mean cross entropy per token, in nats */
    double perplexity;
    int64_t tokens; /* number of tokens in the mean */
    int64_t step;   /* training step of the checkpoint */
};

YOKE_API yoke_status yoke_evaluate(const struct yoke_evaluation_request *request,
                                   struct yoke_evaluation *out) YOKE_MUST_USE;

/* A callback that receives the text piece by piece: first the prompt (not in a chat), then the
 * generated text. A piece never ends in the middle of a character. The callback returns false to
 * stop the generation. */
typedef bool (*yoke_generated)(void *user, const char *text, size_t length);

/* Filled by the caller. */
struct yoke_generation_request {
    struct yoke_trained model;
    const char *prompt; /* a text; or token ids such as "464,3290" if the model has no tokenizer */
    bool chat;          /* the prompt is a message of the user in a chat */
    int64_t tokens;     /* maximum number of tokens to generate; 0 means: 200 */
    double temperature; /* 0 means: always choose the most probable token */
    int64_t top_k;      /* sample from the `top_k` most probable tokens; 0 means: from all tokens */
    double top_p; /* sample from the most probable tokens with this total probability; 0 means: 1 */
    uint64_t seed;       /* seed of the random numbers for sampling; 0 means: 1 */
    yoke_generated text; /* may be NULL */
    void *text_user;
    const yoke_stop *stop; /* a flag that stops the generation; may be NULL */
};

/* Generates text. Sets `*out` to the prompt and its continuation, or in a chat to the answer only;
 * free it with yoke_free(). `out` may be NULL. */
YOKE_API yoke_status yoke_generate(const struct yoke_generation_request *request,
                                   char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
