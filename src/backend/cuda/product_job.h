/*
 * Product job: one product of operands of one type, into that type or fp32, with all that comes
 * with it: what the library does of an op in one, and what is left to kernels of ours.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_JOB_H
#define YK_BACKEND_CUDA_PRODUCT_JOB_H

#include "backend/cuda/lane.h"
#include "backend/cuda/product_run.h"
#include "backend/ops.h"

enum {
    YK_PRODUCT_SUMS = 1 << 20, /* bytes behind the library's workspace, for sums on their way */
};

struct yk_product_job {
    struct yk_backend_lane *lane;
    struct yk_matmul op;
    struct yk_product_shape shape;
    enum yk_product_variant variant;
    const void *made_sums; /* by the library */
};

/* `workspace` holds YK_PRODUCT_WORKSPACE and YK_PRODUCT_SUMS bytes. */
struct yk_product_job yk_product_job_make(struct yk_backend_lane *lane, const struct yk_matmul *op,
                                          void *workspace);

/* The job as the library sees it. */
struct yk_product_call yk_product_job_call(const struct yk_product_job *job, void *workspace,
                                           void *sums);

/* What the library did not do in the job's variant. */
void yk_product_job_rest(const struct yk_product_job *job);

/* An op's sums alone, by kernels of ours. */
void yk_product_job_sum(struct yk_backend_lane *lane, const struct yk_matmul *op);

/* What is to be done once c has the product, and what was to be added to it in place. */
void yk_product_job_end(struct yk_backend_lane *lane, const struct yk_matmul *op);

#endif
