/*
 * System: information from the operating system about this machine and this process. Any thread may
 * call these functions.
 */
#ifndef YK_BASE_SYSTEM_H
#define YK_BASE_SYSTEM_H

#include "base/status.h"

#include <stdbool.h>

enum {
    YK_SYSTEM_CPU_NAME_SIZE = 96
};

/* Writes the name of the processor. Profiles store measurements under this name. If Linux reports
 * no name, writes the name of a well-known Arm core ("Arm Neoverse N1"). For other Arm cores,
 * writes the architecture and the ids of the implementer and the part ("aarch64 CPU 0x46/0x001").
 * For all other processors, writes only the architecture ("riscv64 CPU"). */
void yk_system_cpu_name(char out[YK_SYSTEM_CPU_NAME_SIZE]);

/* Returns the memory of this machine that is available without swapping; 0 means: unknown. */
double yk_system_free_memory_bytes(void);

/* Fails if a limit of the address space (ulimit -v) leaves so little that fork() might wait for
 * ever: handlers that libraries registered for it may need memory. OpenBLAS's waits for the end of
 * its threads, and each of them retries until it has its buffer. */
yk_status yk_system_check_room_to_fork(void) YK_MUST_USE;

struct yk_system_process_memory {
    double resident_bytes; /* 0 means: unknown */
    /* Maximum of the resident memory since the most recent reset or, if there was none, since the
     * start of the process; 0 means: unknown. */
    double peak_bytes;
};

struct yk_system_process_memory yk_system_process_memory(void);

/* Resets the peak to the current resident memory. Returns false if the system does not support
 * this. */
bool yk_system_reset_peak_memory(void);

#endif
