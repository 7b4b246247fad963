/*
 * Set aside: renames a damaged profile when something is to be added to it. Several processes may
 * do this at the same time, each with one thread.
 */
#ifndef YK_PROFILE_SET_ASIDE_H
#define YK_PROFILE_SET_ASIDE_H

#include "base/text.h"
#include "profile/profile.h"

/*
 * Opens a profile for reading and adding, as yk_profile_create does, and looks through all of it.
 * Where the file is damaged, no database at all, or a profile of a form that is not known here, it
 * is renamed to PATH.damaged (PATH.damaged-2, … where that is taken), a new one is begun, and
 * `note` gets a sentence about it. A database of something else is refused, and a file that cannot
 * be read.
 */
yk_status yk_profile_create_or_set_aside(const char *path, struct yk_text *note,
                                         struct yk_profile **out) YK_MUST_USE;

#endif
