/*
 * Model oracle: a training case of support/training_case.h trained once more, on any backend, and
 * how far that is from what PyTorch recorded: logits, every gradient, losses and norms of all
 * steps, parameters at the end. In fp32 that is PyTorch's own run. A case in bf16 is held against
 * fp64 instead: two ways of rounding are as far from each other as they like, but neither should be
 * much farther than the other from what is right.
 *
 * Whatever cannot be made or run fails the test.
 */
#ifndef YK_TESTS_MODEL_ORACLE_H
#define YK_TESTS_MODEL_ORACLE_H

#include "backend/backend.h"
#include "support/training/training_case.h"

#include <stdbool.h>

struct model_oracle_request {
    const struct yk_backend *backend;                /* NULL: the CPU's */
    const struct yk_backend_device_options *options; /* NULL: two threads of the CPU */
    bool recompute;
    enum yk_precision precision; /* of weights and activations; the case's own, or 16 bits */
    /* How far apart numbers are: training_case_apart() or model_oracle_apart_in_norm(). */
    double (*apart)(const float *given, const float *expected, int64_t count);
};

struct model_oracle_distance {
    double logits;
    double gradients;          /* of the tensor that is farthest off, named below */
    double gradients_together; /* the norm of all differences over that of all gradients */
    double losses;
    double norms;
    double final;
    const char *gradient_name; /* the case's; NULL: there is none */
    const char *final_name;
};

struct model_oracle_distance model_oracle_run(const struct training_case *c,
                                              const struct model_oracle_request *request);

/* Fails the test where a distance is larger than that of `max`. */
void model_oracle_expect(const struct training_case *c, const struct model_oracle_distance *found,
                         const struct model_oracle_distance *max);

/* How far PyTorch's own run of a case in bf16 is from fp64. */
struct model_oracle_distance
model_oracle_recorded(const struct training_case *c,
                      double (*apart)(const float *given, const float *expected, int64_t count));

/* The norm of the difference over that of what is expected, or a fourth of training_case_apart(),
 * whichever is more: a single number may be as far off as rounding at the largest one, several
 * times. */
double model_oracle_apart_in_norm(const float *given, const float *expected, int64_t count);

#endif
