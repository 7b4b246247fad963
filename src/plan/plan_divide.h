/* Dividing: a batch among ranks of unequal speed. */
#ifndef YK_PLAN_PLAN_DIVIDE_H
#define YK_PLAN_PLAN_DIVIDE_H

#include <stdint.h>

/* Samples in proportion to `speeds`, rounded so that they add up to `batch`: nobody is further than
 * one from the exact proportion unless that is for a rank that would get none. Every rank with a
 * speed above 0 gets at least one where there are enough, the others none; some speed is above 0.
 */
void yk_plan_divide(const double *speeds, int32_t count, int64_t batch, int64_t *out);

#endif
