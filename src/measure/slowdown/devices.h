/*
 * Beside devices: how much messages slow the computation of each device of a pair.
 *
 * What it takes of a GPU to send a message at all is more of a small one, or of a small part, than
 * of a large one: of devices with memory of their own it is a fact of each, beside that of their
 * link.
 */
#ifndef YK_MEASURE_SLOWDOWN_DEVICES_H
#define YK_MEASURE_SLOWDOWN_DEVICES_H

#include "measure/survey/exchange_groups.h"
#include "measure/survey/survey.h"

/* All ranks call it, with what each of the pair has found and the others with no samples. Of
 * several pairs that a device is in, the worst counts. */
yk_status yk_slowdown_pairs_add_devices(struct yk_survey *survey,
                                        const struct yk_measure_ranks *team,
                                        const struct yk_survey_request *wish,
                                        const struct yk_exchange_group *pair,
                                        const struct yk_profile_measurement *own) YK_MUST_USE;

#endif
