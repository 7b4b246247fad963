#include "report/profile/report.h"

#include <string.h>

struct reading {
    const struct yk_profile_report_request *request;
    struct yk_arena *arena;
    struct yk_profile_report *report;
    int32_t layer_capacity;
    int32_t link_capacity;
    int32_t fact_capacity;
};

static yk_status copy_word(struct reading *reading, const char **word)
{
    return yk_arena_strdup(reading->arena, *word ? *word : "", word);
}

static yk_status copy_measurement(struct reading *reading, struct yk_profile_measurement *row)
{
    YK_TRY(copy_word(reading, &row->versions));
    YK_TRY(copy_word(reading, &row->cpu));
    return copy_word(reading, &row->host);
}

/* Whether `wanted` selects the device, a name of `length` characters: it is the whole name, or the
 * part before a colon. */
static bool is_meant(const char *wanted, const char *device, size_t length)
{
    const size_t whole = strlen(wanted);
    const bool is_cpu = strncmp(device, "cpu", 3) == 0 && (length == 3 || device[3] == ':');
    if (strncmp(wanted, "cuda", 4) == 0 && (wanted[4] == 0 || wanted[4] == ':')) {
        return !is_cpu;
    }
    return whole <= length && strncmp(wanted, device, whole) == 0 &&
           (whole == length || device[whole] == ':');
}

/* Whether the subject, a device or a link of two devices, has the requested device. */
static bool has_device(const struct yk_profile_report_request *request, const char *subject)
{
    if (!request->device) {
        return true;
    }
    const size_t length = strcspn(subject, " ");
    for (size_t cut = 0; cut < length; cut++) {
        if (subject[cut] == '-' &&
            (is_meant(request->device, subject, cut) ||
             is_meant(request->device, subject + cut + 1, length - cut - 1))) {
            return true;
        }
    }
    return is_meant(request->device, subject, length);
}

static bool has_shape(const struct yk_profile_report_request *request, const char *shape)
{
    bool found = !request->shapes;
    for (int32_t i = 0; i < request->shape_count && !found; i++) {
        found = strcmp(request->shapes[i], shape) == 0;
    }
    return found;
}

/* Adds a copy of the row of `size` bytes to the end of `*rows`, an array in the arena. */
static yk_status append(struct reading *reading, void **rows, int32_t *capacity, int32_t *count,
                        const void *row, size_t size)
{
    if (*count == *capacity) {
        *capacity = 2 * *capacity + 64;
        void *grown = yk_arena_allocate(reading->arena, (size_t)*capacity, size);
        YK_TRY_ALLOCATED(grown);
        if (*count > 0) {
            memcpy(grown, *rows, (size_t)*count * size);
        }
        *rows = grown;
    }
    memcpy((char *)*rows + (size_t)(*count)++ * size, row, size);
    return YK_OK;
}

static yk_status add_layer(void *user, const struct yk_profile_layer_row *row)
{
    struct reading *reading = user;
    struct yk_profile_report *report = reading->report;
    struct yk_profile_layer_row kept = *row;
    report->known++;
    if (!has_device(reading->request, row->layer.device) ||
        !has_shape(reading->request, row->layer.shape) ||
        (reading->request->sequence > 0 && reading->request->sequence != row->layer.sequence)) {
        return YK_OK;
    }
    YK_TRY(copy_word(reading, &kept.layer.device));
    YK_TRY(copy_word(reading, &kept.layer.shape));
    YK_TRY(copy_word(reading, &kept.layer.pass));
    YK_TRY(copy_measurement(reading, &kept.measurement));
    return append(reading, (void **)&report->layer_rows, &reading->layer_capacity,
                  &report->layer_row_count, &kept, sizeof kept);
}

static yk_status add_link(void *user, const struct yk_profile_link_row *row)
{
    struct reading *reading = user;
    struct yk_profile_report *report = reading->report;
    struct yk_profile_link_row kept = *row;
    report->known++;
    if (!has_device(reading->request, row->link.link)) {
        return YK_OK;
    }
    YK_TRY(copy_word(reading, &kept.link.link));
    YK_TRY(copy_word(reading, &kept.link.collective));
    YK_TRY(copy_measurement(reading, &kept.measurement));
    return append(reading, (void **)&report->link_rows, &reading->link_capacity,
                  &report->link_row_count, &kept, sizeof kept);
}

static yk_status add_fact(void *user, const struct yk_profile_fact_row *row)
{
    struct reading *reading = user;
    struct yk_profile_report *report = reading->report;
    struct yk_profile_fact_row kept = *row;
    report->known++;
    if (!has_device(reading->request, row->fact.subject)) {
        return YK_OK;
    }
    YK_TRY(copy_word(reading, &kept.fact.subject));
    YK_TRY(copy_word(reading, &kept.fact.fact));
    YK_TRY(copy_measurement(reading, &kept.measurement));
    return append(reading, (void **)&report->facts, &reading->fact_capacity, &report->fact_count,
                  &kept, sizeof kept);
}

static bool are_one_sort(const struct yk_profile_layer_row *a, const struct yk_profile_layer_row *b)
{
    return strcmp(a->layer.device, b->layer.device) == 0 &&
           strcmp(a->measurement.cpu, b->measurement.cpu) == 0 && a->layer.part == b->layer.part &&
           strcmp(a->layer.shape, b->layer.shape) == 0 && a->layer.sequence == b->layer.sequence;
}

static bool are_one_curve(const struct yk_profile_link_row *a, const struct yk_profile_link_row *b)
{
    return strcmp(a->link.link, b->link.link) == 0 &&
           strcmp(a->measurement.cpu, b->measurement.cpu) == 0 &&
           strcmp(a->link.collective, b->link.collective) == 0 && a->link.ranks == b->link.ranks;
}

/* Rows of one layer are consecutive. */
static yk_status sort_layers(struct yk_profile_report *report, struct yk_arena *arena)
{
    YK_TRY_NEW(arena, report->layers, report->layer_row_count + 1);
    for (int32_t i = 0; i < report->layer_row_count; i++) {
        const struct yk_profile_layer_row *row = &report->layer_rows[i];
        if (i == 0 || !are_one_sort(row, &row[-1])) {
            report->layers[report->layer_count++].rows = row;
        }
        report->layers[report->layer_count - 1].count++;
    }
    return YK_OK;
}

static yk_status find_knee(struct yk_profile_report_link_curve *link, struct yk_arena *arena)
{
    struct yk_profile_point *points = NULL;
    const struct yk_profile_link_key *what = &link->rows[0].link;
    YK_TRY_NEW(arena, points, link->count);
    for (int32_t i = 0; i < link->count; i++) {
        const struct yk_profile_measurement *measurement = &link->rows[i].measurement;
        points[i] = (struct yk_profile_point){(double)link->rows[i].bytes, measurement->value,
                                              measurement->spread};
    }
    const struct yk_profile_curve curve = {points, link->count};
    link->has_knee = yk_saturation_size_from_curve(
        &curve, yk_saturation_size_bus_bandwidth_factor(what->collective, what->ranks),
        &link->saturation);
    return YK_OK;
}

static yk_status sort_links(struct yk_profile_report *report, struct yk_arena *arena)
{
    YK_TRY_NEW(arena, report->links, report->link_row_count + 1);
    for (int32_t i = 0; i < report->link_row_count; i++) {
        const struct yk_profile_link_row *row = &report->link_rows[i];
        if (i == 0 || !are_one_curve(row, &row[-1])) {
            report->links[report->link_count++].rows = row;
        }
        report->links[report->link_count - 1].count++;
    }
    for (int32_t i = 0; i < report->link_count; i++) {
        YK_TRY(find_knee(&report->links[i], arena));
    }
    return YK_OK;
}

yk_status yk_profile_report_make(struct yk_profile *profile,
                                 const struct yk_profile_report_request *request,
                                 struct yk_arena *arena, struct yk_profile_report *out)
{
    struct yk_profile_report report = {.path = request->path, .now = request->now};
    struct reading reading = {.request = request, .arena = arena, .report = &report};
    const struct yk_profile_visitor visitor = {&reading, add_layer, add_link, add_fact};
    YK_TRY(yk_profile_visit_rows(profile, &visitor));
    YK_TRY(sort_layers(&report, arena));
    YK_TRY(sort_links(&report, arena));
    *out = report;
    return YK_OK;
}

double yk_profile_report_curve_row_bandwidth(const struct yk_profile_report_link_curve *link,
                                             int32_t i)
{
    const struct yk_profile_link_row *row = &link->rows[i];
    return yk_saturation_size_bus_bandwidth_factor(row->link.collective, row->link.ranks) *
           (double)row->bytes / row->measurement.value;
}
