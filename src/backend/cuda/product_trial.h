/*
 * Product trial: which algorithm of the library a product is made by, and how much of the op it
 * does in one: the fastest that is right.
 */
#ifndef YK_BACKEND_CUDA_PRODUCT_TRIAL_H
#define YK_BACKEND_CUDA_PRODUCT_TRIAL_H

#include "backend/cuda/product_job.h"

/* A yk_product_chooser, whose user is a job. */
bool yk_product_choose(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                       void *user, struct yk_product_choice *out);

#endif
