/*
 * Remedy: what to change when a model does not fit: another method, if the request names
 * one; recomputation, more micro-batches or NF4, whichever leads to the shortest step; two of them;
 * adapters instead of full training; one more device. Each is tried before it is offered.
 */
#ifndef YK_PLANNER_PLACEMENT_REMEDY_H
#define YK_PLANNER_PLACEMENT_REMEDY_H

#include "base/text.h"
#include "planner/placement/placement.h"

/* Adds "--recompute makes it fit, at 1.2s a step", that none of them does, or that none was found
 * before the deadline. */
yk_status yk_placement_remedy_search(const struct yk_placement_request *request,
                                     const struct yk_deadline *deadline,
                                     struct yk_text *out) YK_MUST_USE;

#endif
