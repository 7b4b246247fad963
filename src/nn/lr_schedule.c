#include "nn/lr_schedule.h"

#include <math.h>
#include <string.h>

bool yk_lr_schedule_find_kind(const char *name, enum yk_lr_schedule_kind *out)
{
    static const char *const names[] = {"constant", "cosine", "inverse-root"};
    for (int i = YK_LR_SCHEDULE_CONSTANT; i <= YK_LR_SCHEDULE_INVERSE_ROOT; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum yk_lr_schedule_kind)i;
            return true;
        }
    }
    return false;
}

/* Vaswani et al. 2017, with the peak at the end of the warm-up. */
static double inverse_root(const struct yk_lr_schedule *schedule, double step)
{
    const double warmup = schedule->warmup > 0 ? (double)schedule->warmup : 1;
    return schedule->max_lr * fmin(step / warmup, sqrt(warmup / step));
}

double yk_lr_schedule_lr_at_step(const struct yk_lr_schedule *schedule, int64_t step)
{
    if (schedule->kind == YK_LR_SCHEDULE_INVERSE_ROOT) {
        return inverse_root(schedule, (double)step + 1);
    }
    if (step < schedule->warmup) {
        return schedule->max_lr * (double)(step + 1) / (double)(schedule->warmup + 1);
    }
    if (schedule->kind == YK_LR_SCHEDULE_CONSTANT || schedule->steps <= schedule->warmup) {
        return schedule->max_lr;
    }
    const double done =
        (double)(step - schedule->warmup) / (double)(schedule->steps - schedule->warmup);
    return schedule->min_lr +
           0.5 * (1 + cos(M_PI * fmin(1, done))) * (schedule->max_lr - schedule->min_lr);
}
