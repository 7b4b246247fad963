/*
 * What all fuzz targets share. A target calls fuzz_accept whenever its reader accepts an input:
 * replay.c and tools/fuzz fail where no seed is accepted, since nothing behind the first check of
 * the reader is then tested.
 */
#ifndef YK_FUZZ_FUZZ_H
#define YK_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says which promise of the reader's header is broken, and aborts, which fuzzers report. */
_Noreturn void fuzz_break(const char *promise);

static inline void fuzz_expect(bool kept, const char *promise)
{
    if (!kept) {
        fuzz_break(promise);
    }
}

/* The count is printed to stderr when the process exits: "accepted: 12". */
void fuzz_accept(void);
int64_t fuzz_accepted(void);

/* A folder of this process, in memory where there is /dev/shm; removed with its files at exit. */
const char *fuzz_folder(void);

/* Writes a file of that folder, in place of what has the name; `out` gets its path. */
enum {
    FUZZ_PATH_SIZE = 128
};
void fuzz_write_file(const char *name, const void *data, size_t size, char out[FUZZ_PATH_SIZE]);

/* Removes all files of the folder: those that readers make beside theirs, too. */
void fuzz_clear_folder(void);

#endif
