/* Replay: runs a fuzz target over every file of the folders given, where there is no libFuzzer. Its
 * reader must accept one of them at least. */
#include "fuzz/fuzz.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int replay_file(const char *path)
{
    struct yk_text text = {0};
    if (yk_file_read_document(path, &text) != YK_OK) {
        fprintf(stderr, "%s\n", yk_status_message());
        yk_text_free(&text);
        return -1;
    }
    /* Exactly as large as the file, so that the sanitizer sees a read past its end. */
    uint8_t *bytes = malloc(text.length > 0 ? text.length : 1);
    int result = -1;
    if (bytes) {
        memcpy(bytes, yk_text_chars(&text), text.length);
        result = LLVMFuzzerTestOneInput(bytes, text.length);
    }
    free(bytes);
    yk_text_free(&text);
    return result;
}

/* How many files were run, or -1. */
static int replay_folder(const char *folder)
{
    DIR *listing = opendir(folder);
    if (!listing) {
        perror(folder);
        return -1;
    }
    int count = 0;
    const struct dirent *entry = NULL;
    while (count >= 0 && (entry = readdir(listing)) != NULL) {
        struct stat info;
        struct yk_text path = {0};
        yk_text_addf(&path, "%s/%s", folder, entry->d_name);
        if (stat(yk_text_chars(&path), &info) == 0 && S_ISREG(info.st_mode)) {
            count = replay_file(yk_text_chars(&path)) == 0 ? count + 1 : -1;
        }
        yk_text_free(&path);
    }
    closedir(listing);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        const int count = replay_folder(argv[i]);
        if (count < 0) {
            return EXIT_FAILURE;
        }
        total += count;
    }
    printf("%d files replayed\n", total);
    return total > 0 && fuzz_accepted() > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
