/*
 * Generate: a trained decoder continues a text, token by token, and hands out what it writes as it
 * comes. One thread at a time.
 */
#ifndef YK_JOB_MODELS_GENERATE_H
#define YK_JOB_MODELS_GENERATE_H

#include "base/status.h"
#include "job/job.h"
#include "job/loaded_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_generate_request {
    struct yk_loaded_model_request model;
    const char *prompt; /* what the text begins with; without a tokenizer, ids: "464,3290" */
    bool chat; /* the prompt is a user's message (tokenizer/chat.h): the answer alone is written */
    int64_t tokens;     /* at most so many are generated */
    double temperature; /* 0: the likeliest token each time */
    int64_t top_k;      /* among the likeliest so many; 0: all */
    double top_p;       /* among the likeliest that have this probability together */
    int64_t seed;

    /* Is given the text, the prompt first, chunk by chunk; a chunk holds whole characters. A
     * failure ends the job. */
    yk_status (*text)(void *user, const char *bytes, size_t length);
    void *user;

    const struct yk_job *job; /* its stop ends the text */
};

struct yk_generate_result {
    int64_t prompt_tokens;
    int64_t tokens; /* that were generated */
    bool ended;     /* by the last of them; else there were enough, or the job was stopped */
};

yk_status yk_generate_run(const struct yk_generate_request *request,
                          struct yk_generate_result *out) YK_MUST_USE;

#endif
