/*
 * Lower bound: a step time that no plan beats. Every sample passes through every layer on some
 * device; if work could be cut at will and moved for nothing, all devices would be busy to the end:
 * a linear program over kinds of layers and kinds of devices.
 *
 * Devices that are faster while others idle (sim/crowd.h) might do more if some of those idled.
 * What all of them get done is convex in the part of the step that any one works, so every choice
 * of who works has a program of its own, and the smallest of their times counts.
 */
#ifndef YK_PLANNER_SEARCH_LOWER_BOUND_H
#define YK_PLANNER_SEARCH_LOWER_BOUND_H

#include "planner/search/study.h"

yk_status yk_lower_bound_step_s(struct yk_study *study, double *out_s) YK_MUST_USE;

#endif
