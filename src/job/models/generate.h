/*
 * Generate: a trained decoder continues a prompt, token by token. The text is passed to a callback
 * as it is generated. Not thread-safe.
 */
#ifndef YK_JOB_MODELS_GENERATE_H
#define YK_JOB_MODELS_GENERATE_H

#include "base/status.h"
#include "job/chat_options.h"
#include "job/job.h"
#include "job/loaded_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_generate_request {
    struct yk_loaded_model_request model;
    const char *prompt; /* text, or token ids "464,3290" if the model has no tokenizer */
    bool chat; /* the model answers in a chat (job/models/chat_prompt.h); the prompt is the last
                  message of the user, or NULL */
    struct yk_chat_options chat_options;
    const char *system;   /* in a chat: what the system says; NULL means: nothing */
    const char *messages; /* in a chat: path of the messages before the prompt; NULL means: none */
    int64_t tokens;       /* maximum number of generated tokens */
    double temperature;   /* 0 means: greedy decoding */
    int64_t top_k;        /* sample from the k most probable tokens; 0 means: from all tokens */
    /* Sample from the smallest set of tokens whose total probability is at least this. */
    double top_p;
    int64_t seed;

    /* Receives the text in chunks of whole UTF-8 characters: first the prompt (unless `chat`), then
     * the generated text. If the callback fails, the job ends. */
    yk_status (*text)(void *user, const char *bytes, size_t length);
    void *user;

    const struct yk_job_callbacks *job; /* a stop ends the generation without an error */
};

struct yk_generate_result {
    int64_t prompt_tokens;
    int64_t tokens; /* number of generated tokens */
    bool ended; /* the model generated an end token; false if it reached the limit or was stopped */
};

yk_status yk_generate_run(const struct yk_generate_request *request,
                          struct yk_generate_result *out) YK_MUST_USE;

#endif
