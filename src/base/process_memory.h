/* Process memory: what the system says this process takes. Any thread may ask. */
#ifndef YK_BASE_PROCESS_MEMORY_H
#define YK_BASE_PROCESS_MEMORY_H

#include <stdbool.h>

struct yk_process_memory {
    double now_bytes;  /* resident; 0 where the system does not tell */
    double peak_bytes; /* the most there was since the peak was forgotten, or ever */
};

struct yk_process_memory yk_process_memory(void);

/* Lets the peak begin anew with what is resident now; false where the system does not. */
bool yk_process_memory_forget_peak(void);

#endif
