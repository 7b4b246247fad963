/*
 * Scratch: a folder of a test's own under /tmp, for tests of what reads and writes files.
 *
 * Give support_scratch_make and support_scratch_drop to cmocka as the setup and teardown of a test:
 * each test begins with an empty folder. One test at a time.
 */
#ifndef YK_TESTS_SUPPORT_FILES_SCRATCH_H
#define YK_TESTS_SUPPORT_FILES_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

int support_scratch_make(void **state);
int support_scratch_drop(void **state);

/* The folder, and the path of a name in it; valid until a few paths later. */
const char *support_scratch_folder(void);
const char *support_scratch_path(const char *name);

/* Writes a file into the folder, and the folders its name needs; returns its path. */
const char *support_scratch_write(const char *name, const void *bytes, size_t length);
const char *support_scratch_write_text(const char *name, const char *words);

bool support_scratch_holds(const char *name);

/* How many files and folders are in the folder `name` there, but for hidden ones. */
int support_scratch_count(const char *name);

#endif
