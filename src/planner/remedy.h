/*
 * Remedy: what to change when a model fits nowhere: of recomputation, more micro-batches, NF4 and
 * one more device, whichever leads to the shortest step that fits.
 */
#ifndef YK_PLANNER_REMEDY_H
#define YK_PLANNER_REMEDY_H

#include "base/text.h"
#include "planner/place.h"

/* Adds "--recompute makes it fit, at 1.2s a step" or that none of them does. */
yk_status yk_remedy_find(const struct yk_place_request *request, struct yk_text *out) YK_MUST_USE;

#endif
