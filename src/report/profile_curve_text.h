/* Profile curve text: the bandwidth of a link over the size of messages, drawn with characters. */
#ifndef YK_REPORT_PROFILE_CURVE_TEXT_H
#define YK_REPORT_PROFILE_CURVE_TEXT_H

#include "base/text.h"
#include "report/profile_report.h"

/* Both axes are logarithmic; `o` are sizes that were measured, dots lie between them, dashes on the
 * plateau, and a bar stands at the knee. Small messages, with less than a hundredth of the highest
 * bandwidth, are left out. At most `columns` wide. */
void yk_profile_draw_curve(const struct yk_profile_report_link *link, int columns,
                           struct yk_text *out);

#endif
