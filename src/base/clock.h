/* Clock: monotonic time in seconds, for measuring durations. Any thread may call it. */
#ifndef YK_BASE_CLOCK_H
#define YK_BASE_CLOCK_H

double yk_clock_now_s(void);

#endif
