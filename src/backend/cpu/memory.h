/* Memory: what the CPU gives as a device, and copies and clears on its lanes. Any thread may call
 * these. */
#ifndef YK_BACKEND_CPU_MEMORY_H
#define YK_BACKEND_CPU_MEMORY_H

#include "backend/backend.h"

yk_status yk_cpu_memory_allocate(struct yk_backend_device *device, size_t bytes,
                                 void **out) YK_MUST_USE;
void yk_cpu_memory_free(struct yk_backend_device *device, void *memory);

void yk_cpu_memory_copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes);
void yk_cpu_memory_clear(struct yk_backend_lane *lane, void *memory, size_t bytes);

#endif
