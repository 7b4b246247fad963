/*
 * Model sizes: one model under batches of several sizes, each described when it is first needed.
 * Descriptions live as long as the sizes do. One thread at a time.
 */
#ifndef YK_MODEL_MODEL_SIZES_H
#define YK_MODEL_MODEL_SIZES_H

#include "base/status.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_model_sizes;

/* `workload` is that of the whole batch; its batch and recompute are replaced in each description.
 * `config` must outlive the sizes. */
yk_status yk_model_sizes_create(const struct yk_model_config *config,
                                const struct yk_workload *workload,
                                struct yk_model_sizes **out) YK_MUST_USE;
void yk_model_sizes_destroy(struct yk_model_sizes *sizes);

/* The model for `batch` samples, from 1 to the whole batch. With `recompute` its blocks save only
 * their inputs. */
yk_status yk_model_sizes_get(struct yk_model_sizes *sizes, int64_t batch, bool recompute,
                             const struct yk_model **out) YK_MUST_USE;

/* The model for the whole batch, without recomputation: for names, parameters and edges. */
const struct yk_model *yk_model_sizes_whole_batch(const struct yk_model_sizes *sizes);

#endif
