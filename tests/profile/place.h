/* Place: an empty folder for a test's profiles, which goes with all that is in it. It is in memory
 * where that can be had: every commit waits for the disk. */
#ifndef YK_TESTS_PROFILE_PLACE_H
#define YK_TESTS_PROFILE_PLACE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    char folder[32];
    char path[64];  /* of a profile */
    char other[64]; /* of another */
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place) {
        return -1;
    }
    snprintf(place->folder, sizeof place->folder, "%s/yoke-profile-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(place->folder)) {
        free(place);
        return -1;
    }
    snprintf(place->path, sizeof place->path, "%s/profile.db", place->folder);
    snprintf(place->other, sizeof place->other, "%s/other.db", place->folder);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    DIR *folder = opendir(place->folder);
    for (struct dirent *entry = NULL; folder && (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", place->folder, entry->d_name);
        unlink(path); /* "." and ".." stay */
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(place->folder);
    free(place);
    return 0;
}

#define in_place(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

#endif
