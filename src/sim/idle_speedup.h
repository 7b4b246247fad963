/*
 * Idle speed-up: devices that slow each other by nothing but computing, since they share power,
 * caches or memory: parts of one GPU do.
 *
 * Times were measured with all devices at work. While the others idle, a device takes s times as
 * long (others_idle_scale of yk_device_facts), and what lies in between is taken for a straight
 * line: where the others compute for a part u of the time, by what they are of a whole device, it
 * takes s + (1 - s) · u times as long. Clocks follow power over many steps, whoever computes at the
 * moment; caches and memory are shared with those at work right then. So u is the part of the step
 * that another one computes, or that part of one's own computing in which it does, whichever is
 * more.
 */
#ifndef YK_SIM_IDLE_SPEEDUP_H
#define YK_SIM_IDLE_SPEEDUP_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "cost/device_facts.h"
#include "program/program.h"
#include "sim/rank_classes.h"
#include "sim/rounds.h"
#include "sim/times.h"

#include <stdbool.h>

enum {
    YK_IDLE_SPEEDUP_PASSES =
        3, /* who computes less makes the others faster, which then compute less */
};

/* How many times as long as measured a device computes while others do that make up `busy` whole
 * devices; 1 where nothing is known of it. */
double yk_idle_speedup_factor(const struct yk_cluster *cluster, const struct yk_device_facts *facts,
                              int32_t device, double busy);

/* Scales what ops that compute take by what the rounds, run with `times`, came to; `changed` where
 * that is something else than before. New times live in `arena`. */
yk_status yk_idle_speedup_scale(const struct yk_program *program,
                                const struct yk_rank_classes *classes,
                                const struct yk_rounds *rounds, struct yk_arena *arena,
                                struct yk_times *times, bool *changed) YK_MUST_USE;

#endif
