/* Culprit: which rank hangs, from what all ranks report of themselves. */
#ifndef YK_COMM_WATCH_CULPRIT_H
#define YK_COMM_WATCH_CULPRIT_H

#include "comm/watch/watch.h"

/*
 * states (size), of which those of `left` ranks do not count. True when one hangs:
 *   - one whose computation or copy takes longer than `op_s`: the longest;
 *   - where an exchange takes longer, that is the fault of whoever is not in it. Somebody may still
 *     compute; once nobody has begun anything new for `op_s`, it is one that is in no exchange, and
 *     otherwise the one that came last, for which all others have waited longest.
 */
bool yk_watch_culprit_find(const struct yk_watch_state *states, const bool *left, int32_t size,
                           double op_s, struct yk_watch_verdict *out);

#endif
