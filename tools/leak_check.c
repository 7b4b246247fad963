/*
 * Leak check: skips the search for leaks at the end of a process that can have none.
 *
 * LeakSanitizer walks a table of the whole address space, which takes seconds for each process on
 * aarch64. A process that holds as many bytes at its end as before main() has leaked nothing, so it
 * need not search; any other one does. Linked into every program of the asan preset.
 */
#include <stddef.h>
#include <stdio.h>

/* Interfaces of the sanitizers; gcc's packages bring no headers for them. */
size_t __sanitizer_get_current_allocated_bytes(void);
int __lsan_is_turned_off(void);

static size_t bytes_before_main;

__attribute__((constructor)) static void remember_bytes(void)
{
    bytes_before_main = __sanitizer_get_current_allocated_bytes();
}

/* LeakSanitizer asks this before it searches. The buffers of the standard streams are the one thing
 * that every process still holds. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    fflush(NULL);
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IONBF, 0);
    return __sanitizer_get_current_allocated_bytes() == bytes_before_main;
}
