/*
 * Plan provenance: the members "model", "cluster" and "profile" of a plan file. They contain the
 * names or paths of the model, the cluster and the profile for which the plan was made, and their
 * hashes.
 */
#ifndef YK_PLAN_PLAN_PROVENANCE_H
#define YK_PLAN_PLAN_PROVENANCE_H

#include "base/json.h"
#include "base/json_write.h"
#include "base/status.h"
#include "plan/plan_file.h"

/* Fails if the plan was made for another model, cluster or profile. The message says what differs.
 */
yk_status yk_plan_provenance_check(const struct yk_json *root,
                                   const struct yk_plan_file_context *context) YK_MUST_USE;

/* Reads the names or paths of the model, the cluster and the profile from the plan file at `path`.
 * The strings are in `arena`. */
yk_status yk_plan_provenance_read_source_paths(const struct yk_json *root, const char *path,
                                               struct yk_arena *arena,
                                               struct yk_plan_source_paths *out) YK_MUST_USE;

yk_status yk_plan_provenance_write_json(const struct yk_plan *plan,
                                        const struct yk_plan_file_context *context,
                                        struct yk_arena *arena,
                                        struct yk_json_writer *json) YK_MUST_USE;

/*
 * The hashes are 64-bit FNV-1a in hexadecimal. They cover everything that a plan depends on, also
 * the names of devices, but not the names of models and not the paths of files. So the hash of a
 * model or of a cluster does not change when its file is renamed.
 */
enum {
    YK_PLAN_PROVENANCE_HASH_SIZE = 17 /* 16 digits and the terminating zero */
};

void yk_plan_provenance_hash_bytes(const char *bytes, size_t length,
                                   char out[YK_PLAN_PROVENANCE_HASH_SIZE]);

yk_status yk_plan_provenance_hash_model(const struct yk_model_config *config,
                                        char out[YK_PLAN_PROVENANCE_HASH_SIZE]) YK_MUST_USE;

/* Hashes all properties of the cluster. */
yk_status yk_plan_provenance_hash_cluster(const struct yk_cluster *cluster,
                                          char out[YK_PLAN_PROVENANCE_HASH_SIZE]) YK_MUST_USE;

/* Hashes only the links of the cluster. */
yk_status yk_plan_provenance_hash_links(const struct yk_cluster *cluster,
                                        char out[YK_PLAN_PROVENANCE_HASH_SIZE]) YK_MUST_USE;

/*
 * Paths in a plan file are relative to the folder of the plan file, so that the plan file and
 * the files at these paths can be moved together. Older versions wrote paths relative to the
 * working directory. Such plan files can still be read.
 */

/* Converts `source`, a path relative to the working directory, to a path relative to the folder of
 * the plan file `plan`. Neither file has to exist. An absolute `source` stays absolute, unless
 * `plan` is also absolute and `source` is in the folder of `plan`. If symbolic links make the
 * relative path wrong, the result is an absolute path. */
yk_status yk_plan_path_make_relative(const char *source, const char *plan, struct yk_arena *arena,
                                     const char **out) YK_MUST_USE;

/* Converts `source`, a path in the plan file `plan`, to a path relative to the working directory.
 * If the file does not exist relative to the folder of the plan file, `*out` is a copy of
 * `source`. */
yk_status yk_plan_path_resolve(const char *source, const char *plan, struct yk_arena *arena,
                               const char **out) YK_MUST_USE;

#endif
