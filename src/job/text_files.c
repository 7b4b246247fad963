#include "job/text_files.h"

#include "base/array.h"
#include "data/file_list.h"
#include "data/text_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A list that grows. Its paths are allocated by malloc(). */
struct collection {
    struct yk_text_files list;
    int32_t capacity;
};

static yk_status add_path(struct collection *to, const char *path, double bytes)
{
    struct yk_text_files *list = &to->list;
    YK_TRY(yk_array_grow((void **)&list->paths, &to->capacity, list->count, sizeof *list->paths));
    list->paths[list->count++] = path;
    list->bytes += bytes;
    return YK_OK;
}

static double size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (double)info.st_size : 0;
}

static yk_status add_folder(struct collection *to, const char *folder, struct yk_arena *arena)
{
    struct yk_file_list list = {0};
    const int32_t before = to->list.count;
    YK_TRY(yk_file_list_read_folder(folder, arena, &list));
    YK_TRY(yk_text_reader_select_text_files(folder, arena, &list));
    for (int32_t i = 0; i < list.count; i++) {
        YK_TRY(add_path(to, list.paths[i], size_of(list.paths[i])));
    }
    return to->list.count > before ? YK_OK : yk_fail(YK_ERROR_INPUT, "%s holds no text", folder);
}

static yk_status collect(const char *const *paths, int32_t count, struct yk_arena *arena,
                         struct collection *to)
{
    if (count == 0) {
        return add_path(to, "-", 0);
    }
    for (int32_t i = 0; i < count; i++) {
        const char *path = paths[i];
        struct stat info = {0};
        const bool standard = strcmp(path, "-") == 0;
        if (!standard && stat(path, &info) != 0) {
            return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
        }
        YK_TRY(!standard && S_ISDIR(info.st_mode)
                   ? add_folder(to, path, arena)
                   : add_path(to, path, standard ? 0 : size_of(path)));
    }
    return YK_OK;
}

yk_status yk_text_files_list(const char *const *paths, int32_t count, struct yk_arena *arena,
                             struct yk_text_files *out)
{
    struct collection collection = {0};
    yk_status status = collect(paths, count, arena, &collection);
    const struct yk_text_files *list = &collection.list;
    const size_t size = (size_t)list->count;
    const char **copy = status == YK_OK ? yk_arena_allocate(arena, size, sizeof *copy) : NULL;
    if (status == YK_OK && !copy) {
        status = yk_fail_out_of_memory();
    }
    if (status == YK_OK) {
        if (list->paths) {
            memcpy(copy, list->paths, size * sizeof *copy);
        }
        *out = (struct yk_text_files){copy, list->count, list->bytes};
    }
    free(list->paths);
    return status;
}

/* A walk over all files. */
struct walk {
    const struct yk_text_files *files;
    const struct yk_text_files_chunk_consumer *consumer;
    const struct yk_job_callbacks *job;
    const char *what;
    int64_t bytes;
};

static yk_status walk_file(struct walk *walk, const char *path, struct yk_text_reader *reader)
{
    const char *text = NULL;
    size_t length = 0;
    const int64_t before = walk->bytes;
    do {
        YK_TRY(yk_text_reader_read_next_chunk(reader, &text, &length));
        YK_TRY(walk->consumer->consume(walk->consumer->user, path, text, length));
        walk->bytes = before + yk_text_reader_get_position(reader);
        if (walk->files->bytes > 0) {
            const double done = (double)walk->bytes / walk->files->bytes;
            yk_job_report_progress(walk->job, walk->what, done < 1 ? done : 1);
        }
        if (yk_job_stop_requested(walk->job)) {
            return yk_fail(YK_ERROR_STOPPED, "stopped between two pieces");
        }
    } while (length > 0);
    return YK_OK;
}

static yk_status walk_all(struct walk *walk, const struct yk_chunk_boundary_rules *cut)
{
    for (int32_t i = 0; i < walk->files->count; i++) {
        const char *path = walk->files->paths[i];
        struct yk_text_reader *reader = NULL;
        YK_TRY(yk_text_reader_open(path, cut, YK_TEXT_READER_CHUNK_BYTES, &reader));
        yk_text_reader_set_stop_flag(reader, yk_job_stop_flag(walk->job));
        const yk_status status = walk_file(walk, path, reader);
        yk_text_reader_close(reader);
        YK_TRY(status);
    }
    if (walk->bytes == 0) {
        const char *first = walk->files->paths[0];
        return yk_fail(YK_ERROR_INPUT, "%s%s: the text is empty",
                       strcmp(first, "-") == 0 ? "standard input" : first,
                       walk->files->count > 1 ? " and the others" : "");
    }
    return YK_OK;
}

yk_status yk_text_files_stopped_error(void)
{
    return yk_fail(YK_ERROR_STOPPED, "stopped; nothing was written");
}

yk_status yk_text_files_read_chunks(const struct yk_text_files *files,
                                    const struct yk_chunk_boundary_rules *cut, const char *what,
                                    const struct yk_text_files_chunk_consumer *consumer,
                                    const struct yk_job_callbacks *job, int64_t *bytes)
{
    struct walk walk = {.files = files, .consumer = consumer, .job = job, .what = what};
    yk_job_report_begin(job);
    const yk_status status = walk_all(&walk, cut);
    yk_job_report_end(job);
    *bytes = walk.bytes;
    return status == YK_ERROR_STOPPED ? yk_text_files_stopped_error() : status;
}
