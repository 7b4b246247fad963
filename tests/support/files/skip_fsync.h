/*
 * Skip fsync: disks are not waited for in the program whose one source includes this; what must be
 * synced, checkpoint_fault_test and checkpoint_ranks_fault_test see to.
 */
#ifndef YK_TESTS_SKIP_FSYNC_H
#define YK_TESTS_SKIP_FSYNC_H

#include <sys/stat.h>
#include <unistd.h>

int fsync(int fd)
{
    struct stat info;
    return fstat(fd, &info);
}

#endif
