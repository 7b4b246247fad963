/* Profile pictures: the curves of a profile as files of a folder. */
#ifndef YK_CLI_COMMANDS_PROFILE_PICTURES_H
#define YK_CLI_COMMANDS_PROFILE_PICTURES_H

#include "base/arena.h"
#include "base/status.h"
#include "report/profile_report.h"

/* A picture for each link and each sort of layer. Makes the folder where it is missing. */
yk_status yk_profile_pictures_write(const struct yk_profile_report *report, const char *folder,
                                    struct yk_arena *arena) YK_MUST_USE;

#endif
