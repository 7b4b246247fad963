/* Clock: seconds that only ever grow, for measuring how long something took. Any thread may ask. */
#ifndef YK_BASE_CLOCK_H
#define YK_BASE_CLOCK_H

double yk_clock_now_s(void);

#endif
