#include "cli/once.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool yk_once_is_first(const char *sentence)
{
    /* mpirun and srun both set it; it may be the folder of several runs, which the namespace tells
     * apart. */
    const char *folder = getenv("PMIX_SERVER_TMPDIR");
    const char *run = getenv("PMIX_NAMESPACE");
    if (!folder || !run) {
        return true;
    }
    char path[4096];
    const int length =
        snprintf(path, sizeof path, "%s/yoke-%016" PRIx64 "-%016" PRIx64, folder,
                 yk_hash_bytes(run, strlen(run)), yk_hash_bytes(sentence, strlen(sentence)));
    if (length < 0 || length >= (int)sizeof path) {
        return true;
    }
    const int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) {
        return errno != EEXIST;
    }
    (void)close(file);
    return true;
}
