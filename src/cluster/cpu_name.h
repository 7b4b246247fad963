/* CPU name: what people call the processor of this machine. */
#ifndef YK_CLUSTER_CPU_NAME_H
#define YK_CLUSTER_CPU_NAME_H

enum {
    YK_CPU_NAME_SIZE = 96
};

/* As the system tells it; where it does not, the architecture: "aarch64 CPU". */
void yk_cpu_name(char out[YK_CPU_NAME_SIZE]);

#endif
