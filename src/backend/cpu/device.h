/* Device: the cores of this machine that one process computes with. */
#ifndef YK_BACKEND_CPU_DEVICE_H
#define YK_BACKEND_CPU_DEVICE_H

#include "backend/backend.h"
#include "backend/cpu/pin.h"

struct yk_backend_device {
    int threads;
    struct yk_cpu_pins pins;
};

#endif
