/* Remedy: the cheapest change with which a plan fits where none does, tried out. */
#ifndef YK_PLANNER_SEARCH_REMEDY_H
#define YK_PLANNER_SEARCH_REMEDY_H

#include "base/text.h"
#include "planner/search/study.h"

/* A clause such as "it fits with --lora 16", that nothing of the kind helps, or that what is left
 * of the study's budget was not enough to know. */
yk_status yk_search_remedy(struct yk_study *study, struct yk_text *out) YK_MUST_USE;

#endif
