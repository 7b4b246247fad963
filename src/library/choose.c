#include "base/nearest.h"
#include "library/library.h"

#include <string.h>

enum {
    MOST_NAMES = 64
};

yk_status yk_library_choose(const char *what, const char *word, yk_library_name name_of,
                            int32_t *out)
{
    const char *names[MOST_NAMES];
    struct yk_text all = {0};
    size_t count = 0;
    while (count < MOST_NAMES && (names[count] = name_of((int32_t)count)) != NULL) {
        if (strcmp(names[count], word) == 0) {
            yk_text_free(&all);
            *out = (int32_t)count;
            return YK_OK;
        }
        yk_text_addf(&all, "%s%s", count > 0 ? ", " : "", names[count]);
        count++;
    }
    const char *nearest = yk_nearest(word, names, count);
    const yk_status status =
        nearest ? yk_fail(YK_ERROR_USAGE, "there is no %s \"%s\"; did you mean \"%s\"?", what, word,
                          nearest)
                : yk_fail(YK_ERROR_USAGE, "there is no %s \"%s\"; there are: %s", what, word,
                          yk_text_chars(&all));
    yk_text_free(&all);
    return status;
}
