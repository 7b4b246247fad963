/*
 * CPU name: what people call the processor of this machine. What was measured on a CPU is known by
 * it, so that processors that differ have different names.
 */
#ifndef YK_BASE_CPU_NAME_H
#define YK_BASE_CPU_NAME_H

enum {
    YK_SYSTEM_CPU_NAME_SIZE = 96
};

/* As the system tells it; where it does not, the architecture and the numbers of the core's maker
 * and model: "aarch64 CPU 0x46/0x001". */
void yk_system_cpu_name(char out[YK_SYSTEM_CPU_NAME_SIZE]);

#endif
