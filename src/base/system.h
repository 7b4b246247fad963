/* System: what the operating system says about this machine and process. Any thread may ask. */
#ifndef YK_BASE_SYSTEM_H
#define YK_BASE_SYSTEM_H

#include <stdbool.h>

enum {
    YK_SYSTEM_CPU_NAME_SIZE = 96
};

/* The processor's name, under which measurements are kept, so that processors that differ have
 * different names. Without one: the architecture and the numbers of the core's maker and model,
 * "aarch64 CPU 0x46/0x001". */
void yk_system_cpu_name(char out[YK_SYSTEM_CPU_NAME_SIZE]);

/* Memory that is available without swapping; 0 where the system does not say. */
double yk_system_free_memory_bytes(void);

struct yk_system_process_memory {
    double now_bytes;  /* resident; 0 where the system does not say */
    double peak_bytes; /* since the last reset, or the start */
};

struct yk_system_process_memory yk_system_process_memory(void);

/* Restarts the peak from what is resident now; false where the system does not support it. */
bool yk_system_reset_peak_memory(void);

#endif
