/*
 * Pin: threads that stay on the cores they were given. A system that refuses is no failure: the
 * thread runs anyway, and a note says so once.
 */
#ifndef YK_BACKEND_CPU_PIN_H
#define YK_BACKEND_CPU_PIN_H

#include "backend/backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct yk_cpu_pins {
    int32_t *cores; /* thread i of a kernel is on cores[i mod count] */
    int32_t count;  /* 0: threads are where the system likes */
    int32_t comm;   /* of the lane "comm" */
    atomic_bool refused;
};

yk_status yk_cpu_pins_init(struct yk_cpu_pins *pins,
                           const struct yk_backend_options *options) YK_MUST_USE;
void yk_cpu_pins_destroy(struct yk_cpu_pins *pins);

/* Called by the thread of a lane before anything else: starts the `*threads` that it computes with
 * and pins them all. `*threads` is how many they are from now on: on the lane "comm", one. False
 * where the system refuses so many. */
bool yk_cpu_pin_lane(struct yk_cpu_pins *pins, const char *lane, int *threads);

#endif
