/*
 * Training case: a tiny model that PyTorch trained for 20 steps, with all that happened: what
 * tests/oracle/make_training_fixtures.py recorded in tests/nn/fixtures. The first comment there
 * says by which rules it was trained; tests/oracle/README.md how near to it is near enough.
 *
 * Opening a case reads all of it. The case owns everything these functions return. Whatever a case
 * should have and does not have fails the test that asks for it.
 */
#ifndef YK_TESTS_TRAINING_CASE_H
#define YK_TESTS_TRAINING_CASE_H

#include "base/arena.h"
#include "base/precision.h"
#include "base/text.h"
#include "data/sampler.h"
#include "model/config.h"
#include "nn/lr_schedule.h"
#include "nn/optimizer.h"
#include "tensors/safetensors.h"

#include <stdbool.h>
#include <stdint.h>

struct training_case_options {
    int64_t steps;
    int64_t batch;           /* B, of all micro-batches together */
    int64_t sequence;        /* T */
    int64_t target_sequence; /* S of an encoder–decoder; else 0 */
    int64_t accumulation;    /* micro-batches a step: equal counts of consecutive rows */
    struct yk_optimizer_options optimizer;
    struct yk_lr_schedule rate;
    double clip; /* 0: none */
    double smoothing;
    int64_t lora_rank; /* 0: no adapters */
    double lora_alpha;
    bool nf4;
    enum yk_precision precision;
};

/* How far PyTorch itself was from fp64; over several tensors the most. */
struct training_case_spread {
    double logits;
    double losses;
    double norms;
    double gradients;
    double final;              /* 0 where it is not recorded, and below */
    double gradients_together; /* all of them as one */
};

struct training_tensor {
    const char *name; /* "gradients.lm_head.weight" */
    enum yk_tensor_dtype type;
    int32_t rank;
    int64_t shape[YK_TENSOR_MAX_RANK];
    int64_t count;
    const float *floats; /* NULL unless of that type, here and below */
    const int32_t *whole;
    const uint8_t *bytes;
};

struct training_case {
    const char *name;
    struct yk_arena *arena;
    const char *config_text;  /* config.json */
    const char *adapter_text; /* adapter_config.json as PEFT wrote it; NULL without adapters */
    const struct yk_model_config *config;
    struct training_case_options options;
    struct training_case_spread spread; /* as training_case_apart() measures */
    /* Of a case in fp32: in 16 bits, as model_oracle_apart_in_norm() measures. */
    struct training_case_spread spread_bf16;
    struct training_case_spread spread_fp16;
    const struct training_tensor *tensors;
    int32_t tensor_count;
    const int32_t *whole; /* (B) lengths of sequences that are not filled up */
    const float *logits;  /* (B, T, V) of step 0; (B, S, V) of an encoder–decoder; (B, V) of a
                             classifier */
    const float *losses;  /* (steps), before each update */
    const float *norms;   /* (steps), before clipping */
    const float *rates;   /* (steps) */
};

/* Every case there is; ended by NULL. */
extern const char *const training_case_names[];

struct training_case *training_case_open(const char *name);
void training_case_close(struct training_case *c);

/* The path of a file of the case: `suffix` is ".json" or ".safetensors". */
void training_case_path(const char *name, const char *suffix, struct yk_text *out);

/* All samples of a step; its arrays are the case's. */
struct yk_sample_slice training_case_slice(const struct training_case *c, int64_t step);

/* How many rows of logits and targets a step has: B·T, or B·S of an encoder–decoder, or B of a
 * classifier. */
int64_t training_case_rows(const struct training_case *c);

/*
 * Whether a parameter has a gradient of 0 but for rounding. Softmax does not see what is added to
 * all of its inputs, so a bias of keys changes nothing, unless positions turn the keys.
 */
bool training_case_is_still(const struct training_case *c, const char *name);

/* The tensor "<kind>.<name>", or "<kind>" where name is NULL; NULL when there is none. */
const struct training_tensor *training_case_find(const struct training_case *c, const char *kind,
                                                 const char *name);

/* The floats of "<kind>.<name>": "weights", "gradients", "exact.gradients" or "final" of a
 * parameter, which must have `count` of them. */
const float *training_case_floats(const struct training_case *c, const char *kind, const char *name,
                                  int64_t count);

/* What a parameter is filled with before the first step: that of one in NF4 is the weight that was
 * quantised, not what its codes stand for. */
const float *training_case_start(const struct training_case *c, const char *name, int64_t count);

/* The name, without the kind, of the kind's tensor of that number; NULL past the last one. */
const char *training_case_name(const struct training_case *c, const char *kind, int32_t number);

/* The largest difference, relative to the largest expected number (or to 1e-6, where all are
 * smaller); infinite where a given number is not finite. */
double training_case_apart(const float *given, const float *expected, int64_t count);

#endif
