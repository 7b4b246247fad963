/*
 * Plan hash: what a plan was made for, as a few characters: the FNV-1a of 64 bits, in hexadecimal,
 * over everything that a plan depends on. Names and paths are no part of it, so that a model is the
 * same whatever its file is called, and a cluster the same as a line and as a file.
 */
#ifndef YK_PLAN_PLAN_HASH_H
#define YK_PLAN_PLAN_HASH_H

#include "base/status.h"
#include "cluster/cluster.h"
#include "model/config.h"
#include "profile/profile.h"

#include <stddef.h>

enum {
    YK_PLAN_HASH_SIZE = 17 /* 16 digits and the end */
};

void yk_plan_origin_hash(const char *bytes, size_t length, char out[YK_PLAN_HASH_SIZE]);

yk_status yk_plan_origin_hash_model(const struct yk_model_config *config,
                                    char out[YK_PLAN_HASH_SIZE]) YK_MUST_USE;

/* Everything about the cluster, and its links alone. */
yk_status yk_plan_origin_hash_cluster(const struct yk_cluster *cluster,
                                      char out[YK_PLAN_HASH_SIZE]) YK_MUST_USE;
yk_status yk_plan_origin_hash_links(const struct yk_cluster *cluster,
                                    char out[YK_PLAN_HASH_SIZE]) YK_MUST_USE;

yk_status yk_plan_origin_hash_profile(struct yk_profile *profile,
                                      char out[YK_PLAN_HASH_SIZE]) YK_MUST_USE;

#endif
