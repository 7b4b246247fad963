/*
 * Trained models: evaluate one on a text, and let one generate text. What is loaded is a
 * checkpoint, the folder of a run (its newest checkpoint), or a folder in Hugging Face format. Each
 * call loads the weights and frees them.
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

/* The model and where it computes. Filled by the caller. */
struct yoke_trained {
    const char *path;    /* of the checkpoint, run or folder */
    const char *weights; /* of what an adapter adapts; NULL: where the checkpoint says */
    const char *device;  /* "cpu", "cuda", "cuda:1"; NULL: a GPU where there is one */
    int32_t threads;     /* on a CPU; 0: one for each core */
};

/* Filled by the caller. */
struct yoke_evaluation_request {
    struct yoke_trained model;
    const char *data;   /* text, a folder of texts, token shards, instructions, or sentences */
    const char *target; /* the translations of those sentences; NULL: none */
    double data_part;   /* of the data, from its beginning, 0 to 1; 0: all */
    int64_t samples;    /* at most; 0: all */
    int64_t batch;      /* samples at a time; 0: 16 */
    int64_t sequence;   /* tokens of a sample; 0: as it was trained */
    bool skip_faulty;   /* leave out pairs and instructions that are empty or too long */
};

struct yoke_evaluation {
    double loss; /* mean cross entropy a token, in nats */
    double perplexity;
    int64_t tokens; /* that it is the mean of */
    int64_t step;   /* of the checkpoint */
};

YOKE_API yoke_status yoke_evaluate(const struct yoke_evaluation_request *request,
                                   struct yoke_evaluation *out) YOKE_MUST_USE;

/* Called with generated text, whole characters, as it comes; false ends the text. */
typedef bool (*yoke_generated)(void *user, const char *text, size_t length);

/* Filled by the caller. */
struct yoke_generation_request {
    struct yoke_trained model;
    const char *prompt;  /* for a model without a tokenizer, ids of tokens: "464,3290" */
    bool chat;           /* the prompt is what a user asks */
    int64_t tokens;      /* at most; 0: 200 */
    double temperature;  /* 0: the likeliest token every time */
    int64_t top_k;       /* choose among so many; 0: among all */
    double top_p;        /* choose among those that together have this probability; 0: 1 */
    uint64_t seed;       /* 0: 1 */
    yoke_generated text; /* NULL: no callback */
    void *text_user;
    const yoke_stop *stop; /* raised: the text ends; NULL: it is not stopped */
};

/* The prompt and what follows it, for yoke_free(); `out` may be NULL. */
YOKE_API yoke_status yoke_generate(const struct yoke_generation_request *request,
                                   char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
