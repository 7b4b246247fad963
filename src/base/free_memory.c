#include "base/free_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double yk_system_free_memory_bytes(void)
{
    FILE *stream = fopen("/proc/meminfo", "r");
    if (!stream) {
        return 0;
    }
    char line[128];
    double kibibytes = 0;
    while (fgets(line, sizeof line, stream)) {
        if (strncmp(line, "MemAvailable:", 13) == 0) {
            kibibytes = strtod(line + 13, NULL);
            break;
        }
    }
    (void)fclose(stream);
    return kibibytes * 1024;
}
