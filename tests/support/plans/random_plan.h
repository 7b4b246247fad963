/* Random plan: plans of all forms that plan.h allows, and what two plans differ in. */
#ifndef YK_TESTS_RANDOM_PLAN_H
#define YK_TESTS_RANDOM_PLAN_H

#include "base/random.h"
#include "plan/plan_file.h"

/* A plan that yk_plan_check() passes, for some of the cluster's devices. */
struct yk_plan *support_random_plan(struct yk_random *random,
                                    const struct yk_plan_file_context *context,
                                    struct yk_arena *arena);

/* What differs, in words; NULL when nothing but the workload's `recompute` does. */
const char *support_plan_difference(const struct yk_plan *a, const struct yk_plan *b);

#endif
