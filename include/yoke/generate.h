/*
 * Trained models: evaluation on data, and text generation. A model is a checkpoint, the folder of a
 * run (its newest checkpoint is used), or a folder in Hugging Face format. Each call loads the
 * weights and frees them at the end.
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
    const char *path;    /* of the checkpoint, the run or the folder */
    const char *weights; /* base weights of an adapter; NULL means: as the checkpoint says */
    const char *device;  /* "cpu", "cuda", "cuda:1"; NULL means: a GPU if there is one */
    int32_t threads;     /* of the CPU; 0 means: one per core */
};

/* Filled by the caller. */
struct yoke_evaluation_request {
    struct yoke_trained model;
    const char *data;   /* text, a folder of texts, token shards, instructions, or sentences */
    const char *target; /* the translations of the sentences; NULL means: none */
    double data_part;   /* use this fraction of the data, from its beginning; 0 means: all */
    int64_t samples;    /* the most samples to use; 0 means: all */
    int64_t batch;      /* samples that are computed together; 0 means: 16 */
    int64_t sequence;   /* tokens of a sample; 0 means: as in training */
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

/* A callback with newly generated text, always whole characters. Return false to stop. */
typedef bool (*yoke_generated)(void *user, const char *text, size_t length);

/* Filled by the caller. */
struct yoke_generation_request {
    struct yoke_trained model;
    const char *prompt; /* text; or token ids, "464,3290", for a model without a tokenizer */
    bool chat;          /* the prompt is a message of the user in a chat */
    int64_t tokens;     /* the most tokens to generate; 0 means: 200 */
    double temperature; /* 0 means: always choose the most probable token */
    int64_t top_k;      /* sample from the k most probable tokens; 0 means: from all */
    double top_p; /* sample from the most probable tokens with this total probability; 0 means: 1 */
    uint64_t seed;       /* of sampling; 0 means: 1 */
    yoke_generated text; /* or NULL */
    void *text_user;
    const yoke_stop *stop; /* raise it to stop generation; may be NULL */
};

/* Generates text. `*out` is the prompt and its continuation; free it with yoke_free(). `out` may be
 * NULL. */
YOKE_API yoke_status yoke_generate(const struct yoke_generation_request *request,
                                   char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
