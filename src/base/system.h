/*
 * System: information from the operating system about this machine and process. Any thread may call
 * this.
 */
#ifndef YK_BASE_SYSTEM_H
#define YK_BASE_SYSTEM_H

#include <stdbool.h>

enum {
    YK_SYSTEM_CPU_NAME_SIZE = 96
};

/* The name of the processor, under which profiles store measurements. If the system has no name:
 * the architecture and the ids of implementer and part, "aarch64 CPU 0x46/0x001". */
void yk_system_cpu_name(char out[YK_SYSTEM_CPU_NAME_SIZE]);

/* Memory that is available without swapping; 0 if unknown. */
double yk_system_free_memory_bytes(void);

struct yk_system_process_memory {
    double resident_bytes; /* resident memory; 0 if unknown */
    double peak_bytes;     /* the maximum since the last reset or the start of the process */
};

struct yk_system_process_memory yk_system_process_memory(void);

/* Resets the peak to the current resident memory. Returns false if the system does not support it.
 */
bool yk_system_reset_peak_memory(void);

#endif
