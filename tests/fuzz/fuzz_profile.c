/*
 * Fuzz target of profiles: the bytes are an SQLite file, which is read as the planner reads it,
 * imported into another profile, and opened for adding. What is found in it must keep the promises
 * of profile.h.
 */
#include "fuzz/fuzz.h"

#include "base/file.h"
#include "profile/profile.h"

#include <math.h>

enum {
    MOST_ROWS = 8, /* of a table, asked for again */
};

struct rows {
    struct yk_profile *profile;
    int32_t count;
};

static void check_curve(yk_status status, const struct yk_profile_curve *curve)
{
    for (int32_t i = 0; status == YK_OK && i < curve->count; i++) {
        const struct yk_profile_point *point = &curve->points[i];
        fuzz_expect(point->size > (i > 0 ? point[-1].size : 0) && isfinite(point->size),
                    "sizes grow");
        fuzz_expect(point->seconds > 0 && isfinite(point->seconds), "times are times");
        fuzz_expect(point->spread >= 0 && isfinite(point->spread), "spreads are spreads");
    }
}

static yk_status look_at_layer(void *user, const struct yk_profile_layer_row *row)
{
    struct rows *rows = user;
    struct yk_profile_curve curve = {0};
    int64_t below = 0;
    int64_t above = 0;
    double part = 0;
    bool has = false;
    if (rows->count++ >= MOST_ROWS) {
        return YK_OK;
    }
    check_curve(yk_profile_find_layer_times(rows->profile, &row->layer, &curve), &curve);
    if (yk_profile_find_nearest_sequence_lengths(rows->profile, &row->layer, &below, &above) ==
        YK_OK) {
        fuzz_expect(below == 0 || (below > 0 && below < row->layer.sequence), "below is below");
        fuzz_expect(above == 0 || above > row->layer.sequence, "above is above");
    }
    if (yk_profile_find_nearest_fraction(rows->profile, row->layer.device, 0.5, 0.25, &part) ==
        YK_OK) {
        fuzz_expect(isnan(part) || (part >= 0.25 && part <= 0.75), "a part is as near as asked");
    }
    return yk_profile_has_layer_time(rows->profile, &row->layer, row->batch,
                                     row->measurement.versions, &has);
}

static yk_status look_at_link(void *user, const struct yk_profile_link_row *row)
{
    struct rows *rows = user;
    struct yk_profile_curve curve = {0};
    bool has = false;
    if (rows->count++ >= MOST_ROWS) {
        return YK_OK;
    }
    fuzz_expect(row->link.ranks > 0, "links join ranks");
    check_curve(yk_profile_find_link_times(rows->profile, &row->link, &curve), &curve);
    return yk_profile_has_link_time(rows->profile, &row->link, row->bytes,
                                    row->measurement.versions, &has);
}

static yk_status look_at_fact(void *user, const struct yk_profile_fact_row *row)
{
    struct rows *rows = user;
    double value = 0;
    if (rows->count++ < MOST_ROWS &&
        yk_profile_find_fact_value(rows->profile, &row->fact, &value) == YK_OK) {
        fuzz_expect(isnan(value) || isfinite(value), "facts are numbers");
    }
    return YK_OK;
}

static void read_all(const char *path)
{
    struct rows rows[3] = {{0}}; /* layers, links, facts */
    const struct yk_profile_visitor visitors[] = {{.argument = &rows[0], .layer = look_at_layer},
                                                  {.argument = &rows[1], .link = look_at_link},
                                                  {.argument = &rows[2], .fact = look_at_fact}};
    struct yk_text text = {0};
    struct yk_profile *profile = NULL;
    if (yk_profile_open_for_reading(path, &profile) != YK_OK) {
        fuzz_expect(yk_status_message()[0] != '\0', "a refusal says why");
        return;
    }
    rows[0].profile = rows[1].profile = rows[2].profile = profile;
    if (yk_profile_visit_rows(profile, &visitors[0]) == YK_OK &&
        yk_profile_visit_rows(profile, &visitors[1]) == YK_OK &&
        yk_profile_visit_rows(profile, &visitors[2]) == YK_OK &&
        yk_profile_write_rows_as_text(profile, &text) == YK_OK &&
        rows[0].count + rows[1].count + rows[2].count > 0) {
        fuzz_accept();
    }
    yk_text_free(&text);
    yk_profile_close(profile);
}

/* Into an empty profile, of which the file is made once. */
static void import(const char *path)
{
    static struct yk_text empty;
    char own[FUZZ_PATH_SIZE];
    struct yk_profile *profile = NULL;
    struct yk_profile_import_counts counts = {0};
    if (empty.length == 0) {
        fuzz_write_file("own.db", "", 0, own);
        fuzz_expect(yk_profile_open_or_create(own, &profile) == YK_OK, "a profile can be begun");
        yk_profile_close(profile);
        fuzz_expect(yk_file_read_document(own, &empty) == YK_OK, "and read");
    }
    fuzz_write_file("own.db", empty.bytes, empty.length, own);
    fuzz_expect(yk_profile_open_or_create(own, &profile) == YK_OK,
                "an empty profile can be opened");
    if (yk_profile_import(profile, path, &counts) == YK_OK) {
        fuzz_expect(counts.added >= 0 && counts.replaced >= 0 && counts.left >= 0,
                    "rows can be counted");
        struct rows layers = {.profile = profile};
        const struct yk_profile_visitor visitor = {.argument = &layers, .layer = look_at_layer};
        fuzz_expect(yk_profile_visit_rows(profile, &visitor) == YK_OK,
                    "what was imported can be read");
    }
    yk_profile_close(profile);
}

static void add(const char *path)
{
    static const struct yk_profile_fact_key fact = {"cpu:1", YK_PROFILE_FACT_CONTEXT_BYTES};
    static const struct yk_profile_measurement one = {.value = 1, .samples = 1, .versions = ""};
    struct yk_profile *profile = NULL;
    struct yk_text note = {0};
    double value = 0;
    if (yk_profile_open_or_recreate(path, &note, &profile) == YK_OK &&
        yk_profile_add_fact(profile, &fact, &one) == YK_OK) {
        fuzz_expect(yk_profile_find_fact_value(profile, &fact, &value) != YK_OK || value == 1,
                    "what was added is found");
    }
    yk_text_free(&note);
    yk_profile_close(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE];
    fuzz_write_file("profile.db", data, size, path);
    read_all(path);
    import(path);
    add(path);
    fuzz_clear_folder();
    return 0;
}
