#include "base/system.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

#define KIB 1024.0

/* The value of a line such as "VmHWM:	   12345 kB", if it begins with `name`. */
static void read_line(const char *line, const char *name, double *out)
{
    const size_t length = strlen(name);
    if (strncmp(line, name, length) != 0) {
        return;
    }
    const char *digits = line + length + strspn(line + length, " \t");
    double kilobytes = 0;
    if (yk_number_read(digits, strspn(digits, "0123456789"), &kilobytes)) {
        *out = kilobytes * KIB;
    }
}

struct yk_system_process_memory yk_system_process_memory(void)
{
    struct yk_system_process_memory memory = {0};
    FILE *stream = fopen("/proc/self/status", "r");
    if (!stream) {
        return memory;
    }
    char line[256];
    while (fgets(line, sizeof line, stream)) {
        read_line(line, "VmRSS:", &memory.now_bytes);
        read_line(line, "VmHWM:", &memory.peak_bytes);
    }
    (void)fclose(stream);
    return memory;
}

bool yk_system_reset_peak_memory(void)
{
    FILE *stream = fopen("/proc/self/clear_refs", "w");
    if (!stream) {
        return false;
    }
    const bool written = fputs("5", stream) >= 0; /* proc(5): the peak alone */
    return fclose(stream) == 0 && written;
}
