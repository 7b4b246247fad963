#include "comm/failure.h"

#include <stdio.h>

enum {
    NONE,
    BEING_WRITTEN,
    WRITTEN,
};

void yk_failure_set(struct yk_failure *trouble, yk_status status, const char *sentence)
{
    int none = NONE;
    if (!atomic_compare_exchange_strong(&trouble->state, &none, BEING_WRITTEN)) {
        return;
    }
    trouble->status = status;
    (void)snprintf(trouble->sentence, sizeof trouble->sentence, "%s", sentence);
    atomic_store(&trouble->state, WRITTEN);
}

bool yk_failure_is_set(const struct yk_failure *trouble)
{
    return atomic_load(&trouble->state) == WRITTEN;
}

yk_status yk_failure_check(const struct yk_failure *trouble)
{
    return yk_failure_is_set(trouble) ? yk_fail(trouble->status, "%s", trouble->sentence) : YK_OK;
}
