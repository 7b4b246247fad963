/* Find remedy: the cheapest change that lets a model fit where no plan does, tried out. */
#ifndef YK_PLANNER_FIND_REMEDY_H
#define YK_PLANNER_FIND_REMEDY_H

#include "base/text.h"
#include "planner/study.h"

/* A clause such as "it fits with --lora 16", or that nothing of the kind helps. */
yk_status yk_find_remedy(const struct yk_plan_request *request, struct yk_text *out) YK_MUST_USE;

#endif
