/*
 * Leak check: skips the search for leaks at the end of a process that can have none.
 *
 * LeakSanitizer walks a table of the whole address space, which takes seconds for each process on
 * aarch64. A process that holds as many bytes at its end as before main() has leaked nothing, so it
 * need not search; any other one does. Linked into every program of the asan preset.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

/* Interfaces of the sanitizers; gcc's packages bring no headers for them. */
size_t __sanitizer_get_current_allocated_bytes(void);
int __lsan_is_turned_off(void);
void __libc_freeres(void) __attribute__((weak));         /* glibc's, for tools as this one */
void yk_builtin_models_free(void) __attribute__((weak)); /* absent in programs without models */

static size_t bytes_before_main;

__attribute__((constructor)) static void remember_bytes(void)
{
    dlerror(); /* what AddressSanitizer looked for in vain */
    dlerror(); /* gives its text back */
    bytes_before_main = __sanitizer_get_current_allocated_bytes();
}

static int nothing_added(void)
{
    return __sanitizer_get_current_allocated_bytes() == bytes_before_main;
}

/* LeakSanitizer asks this before it searches. The buffers of the standard streams are the one thing
 * that every process still holds; some hold more of the C library's own, as of threads that have
 * ended and of variables of the environment, which it gives back when asked. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    fflush(NULL);
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IONBF, 0);
    if (yk_builtin_models_free) {
        yk_builtin_models_free();
    }
    if (!nothing_added() && __libc_freeres) {
        __libc_freeres();
    }
    return nothing_added();
}
