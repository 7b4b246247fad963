#include "comm/trouble.h"

#include <stdio.h>

enum {
    NONE,
    BEING_WRITTEN,
    WRITTEN,
};

void yk_trouble_set(struct yk_trouble *trouble, yk_status status, const char *sentence)
{
    int none = NONE;
    if (!atomic_compare_exchange_strong(&trouble->state, &none, BEING_WRITTEN)) {
        return;
    }
    trouble->status = status;
    (void)snprintf(trouble->sentence, sizeof trouble->sentence, "%s", sentence);
    atomic_store(&trouble->state, WRITTEN);
}

bool yk_trouble_is(const struct yk_trouble *trouble)
{
    return atomic_load(&trouble->state) == WRITTEN;
}

yk_status yk_trouble_check(const struct yk_trouble *trouble)
{
    return yk_trouble_is(trouble) ? yk_fail(trouble->status, "%s", trouble->sentence) : YK_OK;
}
