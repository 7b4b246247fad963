#include "plan/plan_divide.h"

#include <math.h>

/* Largest remainders; ties go to the earlier rank. */
void yk_plan_divide(const double *speeds, int32_t count, int64_t batch, int64_t *out)
{
    double sum = 0;
    int64_t left = batch;
    for (int32_t i = 0; i < count; i++) {
        sum += speeds[i];
    }
    for (int32_t i = 0; i < count; i++) {
        out[i] = (int64_t)floor((double)batch * speeds[i] / sum);
        out[i] = out[i] == 0 && speeds[i] > 0 ? 1 : out[i];
        left -= out[i];
    }
    while (left != 0) {
        int32_t best = -1;
        double most = -INFINITY;
        for (int32_t i = 0; i < count; i++) {
            const double lacks = (double)batch * speeds[i] / sum - (double)out[i];
            const double urgency = left > 0 ? lacks : -lacks;
            if (speeds[i] > 0 && (left > 0 || out[i] > 1) && urgency > most) {
                most = urgency;
                best = i;
            }
        }
        if (best < 0) {
            break; /* more ranks than samples */
        }
        out[best] += left > 0 ? 1 : -1;
        left += left > 0 ? -1 : 1;
    }
}
