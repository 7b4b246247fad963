/*
 * Train devices: where the ranks of a training compute, and which devices a plan may be for.
 */
#ifndef YK_JOB_TRAINING_DEVICES_H
#define YK_JOB_TRAINING_DEVICES_H

#include "cluster/cluster.h"
#include "job/device.h"
#include "job/training/request.h"
#include "job/training/team.h"

/* How many ranks there will be: those of --ranks in a run that is only foreseen. */
int32_t yk_train_devices_ranks(const struct yk_train_request *request,
                               const struct yk_train_team *team);

/* All ranks call it, and compute alike: yk_train_team_choose_device(), also for ranks that will be.
 */
yk_status yk_train_devices_choose(const struct yk_train_request *request,
                                  const struct yk_train_team *team,
                                  struct yk_device_choice *out) YK_MUST_USE;

/* The cluster to plan for: what --cluster says, or what the ranks have, as a line that a plan's
 * file can keep. */
yk_status yk_train_devices_describe(const struct yk_train_request *request,
                                    const struct yk_train_team *team,
                                    const struct yk_device_choice *device, struct yk_arena *arena,
                                    const char **out) YK_MUST_USE;

/* Whether training runs on such devices: a CPU for each rank, or a GPU. `device` becomes the one of
 * the cluster's kind; `source` is what the cluster is called, by the plan's file or by --cluster.
 */
yk_status yk_train_devices_check(const struct yk_train_request *request, const char *source,
                                 bool from_plan, int32_t ranks, const struct yk_cluster *cluster,
                                 struct yk_device_choice *device) YK_MUST_USE;

#endif
