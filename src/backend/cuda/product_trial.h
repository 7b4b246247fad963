/*
 * Product trial: which algorithm of the library a product is made by, and how much of the op it
 * does in one: the fastest that is right.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_TRIAL_H
#define YK_BACKEND_CUDA_PRODUCT_TRIAL_H

#include "backend/cuda/lane.h"
#include "backend/cuda/product_run.h"
#include "backend/ops.h"

struct yk_product_job {
    struct yk_backend_lane *lane;
    struct yk_matmul op;
    struct yk_product_shape shape;
    enum yk_product_variant variant;
    const void *made_sums; /* by the library */
};

/* The job as the library sees it. */
struct yk_product_call yk_product_job_call(const struct yk_product_job *job, void *workspace,
                                           void *sums);

/* What the library did not do in the job's variant. */
void yk_product_job_rest(const struct yk_product_job *job);

/* A yk_product_chooser, whose user is a job. */
bool yk_product_choose(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                       void *user, struct yk_product_choice *out);

#endif
