/*
 * Workload: the options that say what one training step computes, such as batch size, sequence
 * length, precision and adapters.
 */
#ifndef YK_JOB_WORKLOAD_H
#define YK_JOB_WORKLOAD_H

#include "base/option.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_WORKLOAD_MAX_TOKENS = 1 << 30,
    YK_WORKLOAD_MAX_LORA_RANK = 1 << 20,
};

struct yk_workload_request {
    int64_t batch;    /* samples per step */
    int64_t sequence; /* tokens per sample; 0 means: the model's maximum, but at most 1024 */
    /* Tokens per sample in the decoder of an encoder–decoder; 0 means: equal to the sequence
     * length. */
    int64_t target_sequence;
    const char *precision;
    int64_t lora_rank; /* 0 means: no LoRA adapters */
    bool nf4;
    bool recompute;
};

/* Makes the workload of the model that `config` describes. */
yk_status yk_workload_from_request(const struct yk_workload_request *request,
                                   const struct yk_model_config *config,
                                   struct yk_workload *out) YK_MUST_USE;

/* Fails if there are more micro-batches than samples in the batch. */
yk_status yk_workload_check_micro_batches(const struct yk_workload_request *request,
                                          int64_t micro_batches) YK_MUST_USE;

/* Appends the batch: "5 samples of 1024 tokens", or "1 image of 224 × 224 pixels". */
void yk_workload_write_batch(const struct yk_model_config *config,
                             const struct yk_workload *workload, struct yk_text *out);

/* Appends a title such as "llama3-8b on 1xrtx6000ada + 2xrtx3090: 5 samples of 1024 tokens, bf16".
 */
void yk_workload_write_title(const struct yk_model_config *config, const struct yk_cluster *cluster,
                             const struct yk_workload *workload, struct yk_text *out);

/* Lists the precisions as the choices of an option. Sets `out` to choice `number`, or returns false
 * if `number` is too large. */
bool yk_workload_precision_choice_at(size_t number, struct yk_option_choice *out);

/* Heading of the workload options in help pages. */
#define YK_WORKLOAD_OPTION_HEADING "Workload options"

#endif
