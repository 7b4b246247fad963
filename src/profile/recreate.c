#include "profile/profile.h"

#include "profile/profile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_NAMES = 1000,
    MAX_TRIES = 10, /* of a file that others set aside, and damage, at the same time */
};

/* Checks all pages: a damaged page may be one that no query reads. */
static yk_status check_pages(struct yk_sqlite *sqlite)
{
    struct yk_sqlite_statement *statement = NULL;
    bool found = false;
    YK_TRY(yk_sqlite_prepare(sqlite, "PRAGMA quick_check(1)", &statement));
    yk_status status = yk_sqlite_step(statement, &found);
    const char *text = status == YK_OK && found ? yk_sqlite_column_text(statement, 0) : "ok";
    if (strcmp(text, "ok") != 0) {
        const char *line = strrchr(text, '\n'); /* the first says which database */
        yk_sqlite_mark_damaged(sqlite);
        status = yk_fail(YK_ERROR_INPUT, "%s: the profile is damaged: %s", yk_sqlite_path(sqlite),
                         line ? line + 1 : text);
    }
    yk_sqlite_finalize(statement);
    return status;
}

/* Opens the profile and checks it; `broken` says whether an error means that the file is damaged.
 */
static yk_status open_whole(const char *path, bool *broken, struct yk_profile **out)
{
    struct yk_profile *profile = NULL;
    *broken = false;
    YK_TRY(yk_profile_open_unchecked(path, true, &profile));
    yk_status status = yk_schema_prepare_for_writing(profile->sqlite);
    YK_IF_OK(check_pages(profile->sqlite));
    if (status != YK_OK) {
        *broken = yk_sqlite_is_damaged(profile->sqlite);
        yk_profile_close(profile);
        return status;
    }
    *out = profile;
    return YK_OK;
}

/* Finds an unused name for the damaged file. */
static yk_status find_name(const char *path, struct yk_text *out)
{
    for (int i = 1; i <= MAX_NAMES; i++) {
        struct stat found;
        yk_text_free(out);
        yk_text_addf(out, i > 1 ? "%s.damaged-%d" : "%s.damaged", path, i);
        YK_TRY(yk_text_status(out));
        if (lstat(yk_text_chars(out), &found) != 0) {
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_SYSTEM, "%s: damaged, and so are %d files before it; move them away",
                   path, MAX_NAMES);
}

/* Renames the file, and the journal of an unfinished transaction, which belongs to it. */
static yk_status rename_with_journal(const char *path, const char *name)
{
    struct yk_text journal = {0};
    struct yk_text journal_name = {0};
    yk_text_addf(&journal, "%s-journal", path);
    yk_text_addf(&journal_name, "%s-journal", name);
    yk_status status = yk_text_status(&journal);
    YK_IF_OK(yk_text_status(&journal_name));
    if (status == YK_OK) {
        rename(yk_text_chars(&journal), yk_text_chars(&journal_name)); /* mostly there is none */
        status = rename(path, name) == 0
                     ? YK_OK
                     : yk_fail(YK_ERROR_SYSTEM, "%s: damaged, and cannot be renamed to %s: %s",
                               path, name, strerror(errno));
    }
    yk_text_free(&journal);
    yk_text_free(&journal_name);
    return status;
}

static yk_status rename_file(const char *path, const char *reason, struct yk_text *note)
{
    struct yk_text name = {0};
    yk_status status = find_name(path, &name);
    YK_IF_OK(rename_with_journal(path, yk_text_chars(&name)));
    if (status == YK_OK) {
        yk_text_addf(note, "%s; it is kept as %s, and a new profile was begun", reason,
                     yk_text_chars(&name));
        status = yk_text_status(note);
    }
    yk_text_free(&name);
    return status;
}

static bool is_same(int descriptor, const char *path)
{
    struct stat held;
    struct stat named;
    return fstat(descriptor, &held) == 0 && stat(path, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/*
 * Renames the file that `descriptor` holds open since before it was found damaged. While it is held
 * nothing else can be the same file, and only who has its lock renames it: if it still has its
 * name, it is the damaged one, and not a new one that another process has begun there meanwhile.
 */
static yk_status rename_damaged(int descriptor, const char *path, struct yk_text *note)
{
    struct yk_text reason = {0};
    yk_text_add(&reason, yk_status_message());
    yk_status status = yk_text_status(&reason);
    if (status == YK_OK && flock(descriptor, LOCK_EX) != 0) {
        status = yk_fail(YK_ERROR_SYSTEM, "%s: damaged, and cannot be locked: %s", path,
                         strerror(errno));
    }
    if (status == YK_OK && is_same(descriptor, path)) {
        status = rename_file(path, yk_text_chars(&reason), note);
    }
    yk_text_free(&reason);
    return status;
}

/* Opens the profile. If it is damaged, renames it and sets `again`. */
static yk_status open_or_move(const char *path, struct yk_text *note, bool *again,
                              struct yk_profile **out)
{
    const int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 && errno != ENOENT) {
        return yk_fail(YK_ERROR_SYSTEM, "%s: damaged, and cannot be set aside: %s", path,
                       strerror(errno));
    }
    yk_status status = open_whole(path, again, out);
    if (descriptor >= 0) {
        if (*again) {
            status = rename_damaged(descriptor, path, note);
        }
        close(descriptor);
    }
    return status;
}

yk_status yk_profile_open_or_recreate(const char *path, struct yk_text *note,
                                      struct yk_profile **out)
{
    bool again = false;
    const yk_status status = open_whole(path, &again, out);
    if (!again) {
        return status;
    }
    for (int i = 0; i < MAX_TRIES && again; i++) {
        YK_TRY(open_or_move(path, note, &again, out));
    }
    return again ? yk_fail(YK_ERROR_SYSTEM, "%s: damaged again and again; keep it elsewhere", path)
                 : YK_OK;
}
