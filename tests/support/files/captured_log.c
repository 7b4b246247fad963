#include "support/files/captured_log.h"

#include "base/log.h"
#include "support/files/scratch.h"

#include <stdio.h>
#include <string.h>

char logged[4096];

static void keep_line(void *user, enum yk_log_level level, const char *line)
{
    (void)user;
    (void)level;
    const size_t length = strlen(logged);
    (void)snprintf(logged + length, sizeof logged - length, "%s\n", line);
}

void logged_start(void)
{
    logged[0] = '\0';
    yk_log_set_sink(keep_line, NULL);
}

void logged_stop(void)
{
    yk_log_set_sink(NULL, NULL);
}

int logged_scratch_make(void **state)
{
    logged_start();
    return support_scratch_make(state);
}

int logged_scratch_drop(void **state)
{
    logged_stop();
    return support_scratch_drop(state);
}
