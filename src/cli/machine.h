/*
 * Machine: the devices of this machine, as far as the system tells. One thread at a time.
 */
#ifndef YK_CLI_MACHINE_H
#define YK_CLI_MACHINE_H

#include <stdint.h>

enum {
    YK_MACHINE_NAME_SIZE = 96
};

struct yk_machine_cpu {
    char name[YK_MACHINE_NAME_SIZE];
    int cores;            /* that this process may use */
    int64_t memory_bytes; /* 0 where the system does not say */
};

struct yk_machine_gpu {
    char name[YK_MACHINE_NAME_SIZE];
    int64_t memory_bytes;
    int capability_major; /* CUDA compute capability */
    int capability_minor;
};

void yk_machine_find_cpu(struct yk_machine_cpu *out);

/* Finds up to `room` NVIDIA GPUs and returns how many; none where NVML cannot be loaded. */
int yk_machine_find_gpus(struct yk_machine_gpu *out, int room);

#endif
