/*
 * Disk calls: the calls by which checkpoints change the disk, for the one source of a program that
 * includes this behind two functions of its own:
 *
 *   static void pass(void);                    before each call: the process may end here
 *   static bool fails(enum disk_call call);    whether the call fails, with errno set
 *
 * Nothing is lost that needs syncing while the machine itself stays up, and tests are faster
 * without: fsync() only looks whether there is such a file.
 */
#ifndef YK_TESTS_DISK_CALLS_H
#define YK_TESTS_DISK_CALLS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum disk_call {
    DISK_FSYNC,
    DISK_RENAME,
    DISK_WRITE,
};

static void pass(void);
static bool fails(enum disk_call call);

int fsync(int fd)
{
    struct stat info;
    pass();
    return fails(DISK_FSYNC) ? -1 : fstat(fd, &info);
}

int rename(const char *old, const char *new)
{
    pass();
    return fails(DISK_RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
}

int mkdir(const char *path, mode_t mode)
{
    pass();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int remove(const char *filename)
{
    struct stat info;
    pass();
    const bool folder = lstat(filename, &info) == 0 && S_ISDIR(info.st_mode);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, filename, folder ? AT_REMOVEDIR : 0);
}

ssize_t write(int fd, const void *buf, size_t n)
{
    pass();
    return fails(DISK_WRITE) ? -1 : (ssize_t)syscall(SYS_write, fd, buf, n);
}

#endif
