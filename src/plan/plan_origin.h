/*
 * Plan origin: the members of a plan file that say what it was made for, written, and held against
 * what is there now.
 */
#ifndef YK_PLAN_PLAN_ORIGIN_H
#define YK_PLAN_PLAN_ORIGIN_H

#include "base/json.h"
#include "base/json_write.h"
#include "base/status.h"
#include "plan/plan_file.h"

/* Refuses a file for another model, cluster or profile, saying what differs. */
yk_status yk_plan_origin_check(const struct yk_json *root,
                               const struct yk_plan_context *context) YK_MUST_USE;

/* What the file at `path` names, in the arena. */
yk_status yk_plan_origin_sources(const struct yk_json *root, const char *path,
                                 struct yk_arena *arena, struct yk_plan_sources *out) YK_MUST_USE;

/* Writes the members, each on a line of its own. */
yk_status yk_plan_origin_write(const struct yk_plan *plan, const struct yk_plan_context *context,
                               struct yk_json_writer *json) YK_MUST_USE;

/*
 * What a plan was made for, as a few characters: the FNV-1a of 64 bits, in hexadecimal, over all
 * that a plan depends on. Names and paths are no part of it, so that a model is the same whatever
 * its file is called, and a cluster the same as a line and as a file.
 */
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
