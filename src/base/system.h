/* Process memory: what the system says this process takes. Any thread may ask. */
#ifndef YK_BASE_SYSTEM_H
#define YK_BASE_SYSTEM_H

#include <stdbool.h>

struct yk_system_process_memory {
    double now_bytes;  /* resident; 0 where the system does not tell */
    double peak_bytes; /* the most there was since the peak was forgotten, or ever */
};

struct yk_system_process_memory yk_system_process_memory(void);

/* Lets the peak begin anew with what is resident now; false where the system does not. */
bool yk_system_reset_peak_memory(void);

#endif
