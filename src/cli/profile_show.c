#include "cli/profile.h"

yk_status yk_profile_show_run(const struct yk_profile_words *words, struct yk_text *out)
{
    (void)words;
    (void)out;
    return yk_fail(YK_ERROR_USAGE, "--show is being written");
}
