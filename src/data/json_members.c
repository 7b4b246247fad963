#include "data/json_members.h"

#include "base/grow.h"
#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A walk over JSON that is known to be right: strings and brackets are all there is to tell apart,
 * and a string is a name when a colon follows. */
struct walk {
    const char *bytes;
    size_t length;
    size_t at;
    int64_t depth; /* 1: inside the document's own object */
};

/* One past the closing quote of the string that opens at `at`. */
static size_t string_end(const struct walk *walk, size_t at)
{
    at++;
    while (at < walk->length && walk->bytes[at] != '"') {
        at += walk->bytes[at] == '\\' ? 2 : 1;
    }
    return at < walk->length ? at + 1 : walk->length;
}

static bool is_name(const struct walk *walk, size_t at)
{
    while (at < walk->length && strchr(" \t\r\n", walk->bytes[at])) {
        at++;
    }
    return at < walk->length && walk->bytes[at] == ':';
}

/* Goes on behind the next name; false at the end. `start` and `end` are outside its quotes. */
static bool next_name(struct walk *walk, size_t *start, size_t *end)
{
    while (walk->at < walk->length) {
        const char c = walk->bytes[walk->at];
        if (c == '"') {
            *start = walk->at;
            *end = string_end(walk, walk->at);
            walk->at = *end;
            if (is_name(walk, *end)) {
                return true;
            }
            continue;
        }
        walk->depth += c == '{' || c == '[';
        walk->depth -= c == '}' || c == ']';
        walk->at++;
    }
    return false;
}

/* The name between the quotes at `quoted`; escapes are read by the JSON library. */
static yk_status keep_name(const char *quoted, size_t length, struct yk_arena *arena,
                           const char **out)
{
    if (!memchr(quoted, '\\', length)) {
        *out = yk_arena_copy_text(arena, quoted + 1, length - 2);
        return *out ? YK_OK : yk_fail_out_of_memory();
    }
    struct yk_text list = {0};
    struct yk_json *json = NULL;
    yk_text_add(&list, "[");
    yk_text_add_bytes(&list, quoted, length);
    yk_text_add(&list, "]");
    yk_status status = yk_text_status(&list);
    if (status == YK_OK) {
        status = yk_json_parse(list.bytes, list.length, &json);
    }
    if (status == YK_OK) {
        const char *name = yk_json_string(yk_json_at(json, 0));
        *out = name ? yk_arena_copy_text(arena, name, strlen(name)) : NULL;
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_json_destroy(json);
    yk_text_free(&list);
    return status;
}

struct collection {
    const char **names;
    int32_t count;
    int32_t capacity;
};

static yk_status collect(struct walk *walk, const char *member, struct yk_arena *arena,
                         struct collection *names)
{
    size_t start = 0;
    size_t end = 0;
    bool inside = false; /* the member that is asked for */
    while (next_name(walk, &start, &end)) {
        const bool outer = walk->depth == 1;
        const bool wanted = member ? inside && walk->depth == 2 : outer;
        const char *name = NULL;
        if (!wanted && !(member && outer)) {
            continue;
        }
        YK_TRY(keep_name(walk->bytes + start, end - start, arena, &name));
        if (wanted) {
            YK_TRY(yk_grow((void **)&names->names, &names->capacity, names->count, sizeof name));
            names->names[names->count++] = name;
        } else {
            inside = strcmp(name, member) == 0;
        }
    }
    return YK_OK;
}

yk_status yk_json_members_list(const char *bytes, size_t length, const char *member,
                               struct yk_arena *arena, int32_t *count, const char *const **out)
{
    struct walk walk = {.bytes = bytes, .length = length};
    struct collection names = {0};
    const char **kept = NULL;
    yk_status status = collect(&walk, member, arena, &names);
    if (status == YK_OK) {
        kept = yk_arena_take(arena, (size_t)names.count, sizeof *kept);
        status = kept ? YK_OK : yk_fail_out_of_memory();
    }
    if (status == YK_OK) {
        if (names.count > 0) {
            memcpy(kept, names.names, (size_t)names.count * sizeof *kept);
        }
        *count = names.count;
        *out = kept;
    }
    free(names.names);
    return status;
}
