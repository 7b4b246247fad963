/* Process memory: what the system says this process takes. Any thread may ask. */
#ifndef YK_CLI_PROCESS_MEMORY_H
#define YK_CLI_PROCESS_MEMORY_H

struct yk_process_memory {
    double now_bytes;  /* resident; 0 where the system does not tell */
    double peak_bytes; /* the most there ever was */
};

struct yk_process_memory yk_process_memory(void);

#endif
