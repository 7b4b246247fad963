/* Free memory: what the system could give without swapping. Any thread may ask. */
#ifndef YK_BASE_FREE_MEMORY_H
#define YK_BASE_FREE_MEMORY_H

/* In bytes; 0 where the system does not tell. */
double yk_system_free_memory_bytes(void);

#endif
