/* Plan path: paths in a plan file, relative to its folder. */
#include "plan/plan_provenance.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t folder_length(const char *path)
{
    const char *end = strrchr(path, '/');
    return end ? (size_t)(end - path) + 1 : 0;
}

static bool is_same(const char *a, const char *b)
{
    struct stat first;
    struct stat second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Removes the last component of the path that begins at `start` in `out`. Returns false if there is
 * none, or if it is "..". */
static bool drop_last(struct yk_text *out, size_t start)
{
    const char *text = yk_text_chars(out);
    size_t begin = out->length;
    while (begin > start && text[begin - 1] != '/') {
        begin--;
    }
    if (begin == out->length || strcmp(text + begin, "..") == 0) {
        return false;
    }
    out->length = begin > start ? begin - 1 : start;
    out->bytes[out->length] = '\0';
    return true;
}

/* Adds the path with "." and ".." resolved, without looking at the file system. */
static void add_plain(struct yk_text *out, const char *path)
{
    const size_t root = path[0] == '/' ? 1 : 0;
    yk_text_add_bytes(out, path, root);
    const size_t start = out->length;
    while (*path) {
        const size_t length = strcspn(path, "/");
        const bool up = length == 2 && strncmp(path, "..", 2) == 0;
        const bool stays = length == 0 || (length == 1 && path[0] == '.');
        if (!stays && !(up && (drop_last(out, start) || root > 0))) {
            yk_text_add(out, out->length > start ? "/" : "");
            yk_text_add_bytes(out, path, length);
        }
        path += length + (path[length] == '/' ? 1 : 0);
    }
}

/* The same for the absolute form of the first `length` bytes of `path`. */
static void add_absolute(struct yk_text *out, const char *path, size_t length)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    struct yk_text whole = {0};
    yk_text_addf(&whole, "%s%s%.*s", here ? here : "", here ? "/" : "", (int)length, path);
    add_plain(out, yk_text_chars(&whole));
    out->failed |= whole.failed;
    yk_text_free(&whole);
    free(here);
}

/* The relative path from one absolute folder to an absolute path. */
static void add_relative(struct yk_text *out, const char *folder, const char *path)
{
    size_t common = 0;
    for (size_t i = 0;; i++) {
        const bool ends = folder[i] == '\0' || folder[i] == '/';
        if (ends && (path[i] == '/' || path[i] == '\0')) {
            common = i;
        }
        if (folder[i] == '\0' || folder[i] != path[i]) {
            break;
        }
    }
    for (const char *rest = folder + common; *rest; rest += strcspn(rest, "/")) {
        rest += strspn(rest, "/");
        yk_text_add(out, *rest ? "../" : "");
    }
    yk_text_add(out, path + common + strspn(path + common, "/"));
}

/* Adds "./" if the path could be mistaken for a model's name, such as "tiny". */
static void mark_path(const char *text, struct yk_text *out)
{
    const char *end = strrchr(text, '.');
    const bool plain = text[0] == '.' || text[0] == '/' || (end && strcmp(end, ".json") == 0);
    yk_text_addf(out, "%s%s", plain ? "" : "./", text);
}

/* Whether two paths name one file. It may not exist yet; then folder and name must be the same. */
static bool lead_to_one(const char *a, const char *b)
{
    const size_t first = folder_length(a);
    const size_t second = folder_length(b);
    struct yk_text folders[2] = {0};
    if (access(a, F_OK) == 0 || access(b, F_OK) == 0) {
        return is_same(a, b);
    }
    yk_text_addf(&folders[0], "%.*s.", (int)first, a);
    yk_text_addf(&folders[1], "%.*s.", (int)second, b);
    const bool one = strcmp(a + first, b + second) == 0 &&
                     is_same(yk_text_chars(&folders[0]), yk_text_chars(&folders[1]));
    yk_text_free(&folders[0]);
    yk_text_free(&folders[1]);
    return one;
}

/* Whether `relative`, seen from the plan's folder, is `source`. Symbolic links may prevent that. */
static bool leads_there(const char *plan, const struct yk_text *relative, const char *source)
{
    struct yk_text joined = {0};
    yk_text_addf(&joined, "%.*s%s", (int)folder_length(plan), plan, yk_text_chars(relative));
    const bool there = lead_to_one(yk_text_chars(&joined), source);
    yk_text_free(&joined);
    return there;
}

yk_status yk_plan_path_make_relative(const char *source, const char *plan, struct yk_arena *arena,
                                     const char **out)
{
    struct yk_text folder = {0};
    struct yk_text path = {0};
    struct yk_text relative = {0};
    struct yk_text stored = {0};
    const size_t length = folder_length(plan);
    if (length > 1 && source[0] == '/' && strncmp(source, plan, length) == 0) {
        mark_path(source + length, &stored);
        return yk_text_move_to_arena(&stored, arena, out);
    }
    if (length == 0) {
        mark_path(source, &stored);
        return yk_text_move_to_arena(&stored, arena, out);
    }
    if (source[0] == '/') {
        return yk_arena_strdup(arena, source, out);
    }
    add_absolute(&folder, plan, folder_length(plan));
    add_absolute(&path, source, strlen(source));
    add_relative(&relative, yk_text_chars(&folder), yk_text_chars(&path));
    if (leads_there(plan, &relative, source)) {
        mark_path(yk_text_chars(&relative), &stored);
    } else {
        yk_text_add(&stored, yk_text_chars(&path));
    }
    stored.failed |= folder.failed | path.failed | relative.failed;
    yk_text_free(&folder);
    yk_text_free(&path);
    yk_text_free(&relative);
    return yk_text_move_to_arena(&stored, arena, out);
}

yk_status yk_plan_path_resolve(const char *source, const char *plan, struct yk_arena *arena,
                               const char **out)
{
    struct yk_text joined = {0};
    struct yk_text plain = {0};
    struct yk_text found = {0};
    yk_text_addf(&joined, "%.*s%s", (int)folder_length(plan), plan, source);
    if (source[0] == '/' || folder_length(plan) == 0 || access(yk_text_chars(&joined), F_OK) != 0) {
        yk_text_add(&found, source);
    } else {
        add_plain(&plain, yk_text_chars(&joined));
        if (is_same(yk_text_chars(&plain), yk_text_chars(&joined))) {
            mark_path(yk_text_chars(&plain), &found);
        } else {
            yk_text_add(&found, yk_text_chars(&joined));
        }
    }
    found.failed |= joined.failed | plain.failed;
    yk_text_free(&joined);
    yk_text_free(&plain);
    return yk_text_move_to_arena(&found, arena, out);
}
