#include "fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int64_t accepted;
static char folder[64]; /* "": not made yet */

void fuzz_break(const char *promise)
{
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

void fuzz_accept(void)
{
    accepted++;
}

int64_t fuzz_accepted(void)
{
    return accepted;
}

const char *fuzz_folder(void)
{
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/yoke-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        fuzz_expect(mkdtemp(folder) != NULL, "there is a folder for files");
    }
    return folder;
}

void fuzz_write_file(const char *name, const void *data, size_t size, char out[FUZZ_PATH_SIZE])
{
    snprintf(out, FUZZ_PATH_SIZE, "%s/%s", fuzz_folder(), name);
    const int file = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_expect(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0,
                "there is room for a file");
}

void fuzz_clear_folder(void)
{
    DIR *listing = folder[0] ? opendir(folder) : NULL;
    const struct dirent *entry = NULL;
    while (listing && (entry = readdir(listing)) != NULL) {
        (void)unlinkat(dirfd(listing), entry->d_name, 0); /* "." and ".." are refused */
    }
    if (listing) {
        (void)closedir(listing);
    }
}

__attribute__((destructor)) static void finish(void)
{
    fprintf(stderr, "accepted: %" PRId64 "\n", accepted);
    fuzz_clear_folder();
    if (folder[0]) {
        (void)rmdir(folder);
    }
}
