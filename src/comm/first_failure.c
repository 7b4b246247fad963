#include "comm/comm.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    NONE,
    BEING_WRITTEN,
    WRITTEN,
};

void yk_first_failure_set(struct yk_first_failure *failure, yk_status status, const char *format,
                          ...)
{
    int none = NONE;
    if (!atomic_compare_exchange_strong(&failure->state, &none, BEING_WRITTEN)) {
        return;
    }
    failure->status = status;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure->sentence, sizeof failure->sentence, format, arguments);
    va_end(arguments);
    atomic_store(&failure->state, WRITTEN);
}

bool yk_first_failure_is_set(const struct yk_first_failure *failure)
{
    return atomic_load(&failure->state) == WRITTEN;
}

yk_status yk_first_failure_check(const struct yk_first_failure *failure)
{
    return yk_first_failure_is_set(failure) ? yk_fail(failure->status, "%s", failure->sentence)
                                            : YK_OK;
}
