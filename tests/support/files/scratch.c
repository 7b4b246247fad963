#include "support/files/scratch.h"

#include "support/support.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 512,
    PATHS = 8
};

static char folder[64];

int support_scratch_make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/yoke-scratch-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop(const char *path, const struct stat *info, int kind, struct FTW *level)
{
    (void)info;
    (void)kind;
    (void)level;
    return remove(path);
}

int support_scratch_drop(void **state)
{
    (void)state;
    return nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *support_scratch_folder(void)
{
    return folder;
}

const char *support_scratch_path(const char *name)
{
    static char paths[PATHS][PATH_SIZE];
    static int next = 0;
    char *path = paths[next];
    next = (next + 1) % PATHS;
    assert_true(snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
    return path;
}

static void make_folders(const char *path)
{
    char outer[PATH_SIZE];
    for (const char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        memcpy(outer, path, (size_t)(slash - path));
        outer[slash - path] = '\0';
        (void)mkdir(outer, 0777);
    }
}

const char *support_scratch_write(const char *name, const void *bytes, size_t length)
{
    const char *path = support_scratch_path(name);
    make_folders(path);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(length ? fwrite(bytes, 1, length, stream) : 0, length);
    assert_int_equal(fclose(stream), 0);
    return path;
}

const char *support_scratch_write_text(const char *name, const char *words)
{
    return support_scratch_write(name, words, strlen(words));
}

bool support_scratch_holds(const char *name)
{
    return access(support_scratch_path(name), F_OK) == 0;
}

int support_scratch_count(const char *name)
{
    int count = 0;
    DIR *listing = opendir(support_scratch_path(name));
    assert_non_null(listing);
    for (struct dirent *entry = NULL; (entry = readdir(listing));) {
        count += entry->d_name[0] != '.';
    }
    closedir(listing);
    return count;
}
