/* Op spans: from when until when each op of a rank took its lane, out of when it began and ended.
 */
#ifndef YK_PROGRAM_OP_SPANS_H
#define YK_PROGRAM_OP_SPANS_H

#include "program/program.h"

/*
 * Of one round of a rank's list, (ops) each. An op takes its lane from when it could begin: when
 * the one before it on its lane was over, and all that it waits for on other lanes. So pauses and
 * the time that lanes take to wake each other up belong to the op after them. Of the first on a
 * lane that waits for nothing the pause before it is not known, and left out. A release takes no
 * time: what lies before it belongs to the op that it follows.
 */
void yk_op_spans_find(const struct yk_program_rank *list, const double *begin_s,
                      const double *end_s, double *from_s, double *until_s);

#endif
