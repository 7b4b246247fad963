#include "data/images/image_data.h"

#include "data/images/image_sampler.h"

#include <inttypes.h>
#include <math.h>

/* The images of one role: items of one split. */
struct selection {
    enum yk_image_split_kind split;
    int64_t *items; /* (count) ascending */
    int64_t count;
};

struct yk_image_data {
    struct yk_arena *arena;
    struct yk_image_data_request request;
    struct yk_image_set *set;
    struct selection roles[YK_IMAGE_DATA_ROLE_COUNT];
    struct yk_image_faults *faults; /* (splits); NULL means: faulty images are errors */
};

/* Marks of the images of a split. */
enum mark {
    UNUSED,
    KEPT,
    HELD_OUT
};

/* Divides `count` by a fraction so that the parts of successive counts add up to the fraction of
 * their sum: classes with few images alternate. */
static int64_t round_fraction(double fraction, int64_t count, int64_t *so_far)
{
    const int64_t before = (int64_t)floor((double)*so_far * fraction + 0.5);
    *so_far += count;
    return (int64_t)floor((double)*so_far * fraction + 0.5) - before;
}

/* Marks the images of each class: of n, the first ones of a random order are kept, the next ones
 * held out. `order` lists the images of each class after those of the classes before it. */
static void mark_classes(const int64_t *order, const int64_t *counts, int32_t classes, double part,
                         double held_out, uint8_t *marks)
{
    int64_t counted = 0;
    int64_t used_so_far = 0;
    for (int32_t c = 0; c < classes; c++) {
        const int64_t used = round_fraction(part, counts[c], &counted);
        const int64_t held = round_fraction(held_out, used, &used_so_far);
        const uint64_t key = yk_sampler_hash_seed_and_number(0, (uint64_t)c);
        for (int64_t i = 0; i < used; i++) {
            const int64_t item = order[yk_sampler_permuted_index(key, counts[c], i)];
            marks[item] = i < used - held ? KEPT : HELD_OUT;
        }
        order += counts[c];
    }
}

/* Marks the images of a split. The arena is for intermediate data. */
static yk_status mark_split(const struct yk_image_split *split, int32_t classes, double part,
                            double held_out, struct yk_arena *arena, uint8_t *marks)
{
    int64_t *order = NULL;
    int64_t *counts = NULL;
    int64_t *next = NULL;
    YK_TRY_NEW(arena, order, split->count);
    YK_TRY_NEW(arena, counts, classes);
    YK_TRY_NEW(arena, next, classes + 1);
    for (int64_t i = 0; i < split->count; i++) {
        counts[split->labels[i]]++;
        next[split->labels[i] + 1]++;
    }
    for (int32_t c = 0; c < classes; c++) {
        next[c + 1] += next[c];
    }
    for (int64_t i = 0; i < split->count; i++) {
        order[next[split->labels[i]]++] = i;
    }
    mark_classes(order, counts, classes, part, held_out, marks);
    return YK_OK;
}

static yk_status select_marked(const uint8_t *marks, int64_t count, enum mark mark,
                               enum yk_image_split_kind split, struct yk_arena *arena,
                               struct selection *out)
{
    *out = (struct selection){.split = split};
    YK_TRY_NEW(arena, out->items, count);
    for (int64_t i = 0; i < count; i++) {
        if (marks[i] == mark) {
            out->items[out->count++] = i;
        }
    }
    return YK_OK;
}

static yk_status mark_and_select(struct yk_image_data *data, enum yk_image_split_kind kind,
                                 double held_out, struct yk_arena *work, struct selection *kept,
                                 struct selection *held)
{
    const struct yk_image_split *split = &data->set->splits[kind];
    uint8_t *marks = NULL;
    YK_TRY_NEW(work, marks, split->count);
    YK_TRY(mark_split(split, data->set->class_count, data->request.part, held_out, work, marks));
    YK_TRY(select_marked(marks, split->count, KEPT, kind, data->arena, kept));
    return held ? select_marked(marks, split->count, HELD_OUT, kind, data->arena, held) : YK_OK;
}

/* Selects a fraction of a split; `held` may be NULL if nothing is held out. */
static yk_status select_split(struct yk_image_data *data, enum yk_image_split_kind kind,
                              double held_out, struct selection *kept, struct selection *held)
{
    YK_TRY_WITH_TEMPORARY_ARENA(work, mark_and_select(data, kind, held_out, work, kept, held));
    return YK_OK;
}

static yk_status select_roles(struct yk_image_data *data)
{
    const struct yk_image_split *splits = data->set->splits;
    struct selection *roles = data->roles;
    const bool has_validation = splits[YK_IMAGE_SPLIT_VALIDATION].count > 0;
    YK_TRY(select_split(data, YK_IMAGE_SPLIT_TRAIN, has_validation ? 0 : data->request.held_out,
                        &roles[YK_IMAGE_DATA_TRAINING], &roles[YK_IMAGE_DATA_HELD_OUT]));
    if (has_validation) {
        YK_TRY(
            select_split(data, YK_IMAGE_SPLIT_VALIDATION, 0, &roles[YK_IMAGE_DATA_HELD_OUT], NULL));
    }
    const enum yk_image_split_kind final = splits[YK_IMAGE_SPLIT_TEST].count > 0
                                               ? YK_IMAGE_SPLIT_TEST
                                           : has_validation ? YK_IMAGE_SPLIT_VALIDATION
                                                            : YK_IMAGE_SPLIT_TRAIN;
    return select_split(data, final, 0, &roles[YK_IMAGE_DATA_FINAL], NULL);
}

static yk_status create_faults(struct yk_image_data *data)
{
    YK_TRY_NEW(data->arena, data->faults, YK_IMAGE_SPLIT_COUNT);
    for (enum yk_image_split_kind s = 0; s < YK_IMAGE_SPLIT_COUNT; s++) {
        YK_TRY_NEW(data->arena, data->faults[s].known, data->set->splits[s].count);
    }
    return YK_OK;
}

static yk_status open(struct yk_image_data *data)
{
    YK_TRY(yk_image_set_open(data->request.path, &data->set));
    if (data->request.skip_faulty) {
        YK_TRY(create_faults(data));
    }
    return select_roles(data);
}

yk_status yk_image_data_open(const struct yk_image_data_request *request,
                             struct yk_image_data **out)
{
    struct yk_image_data *data = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(data);
    data->request = *request;
    YK_TRY_OR_CLEAN_UP(open(data), yk_image_data_close(data));
    *out = data;
    return YK_OK;
}

void yk_image_data_close(struct yk_image_data *data)
{
    if (data) {
        yk_image_set_close(data->set);
        yk_arena_destroy(data->arena);
    }
}

const struct yk_image_set *yk_image_data_set(const struct yk_image_data *data)
{
    return data->set;
}

yk_status yk_image_data_renumber_classes(struct yk_image_data *data, const char *const *names,
                                         int64_t count, const char *unknown)
{
    return yk_image_set_renumber_classes(data->set, names, count, unknown);
}

int64_t yk_image_data_skipped(const struct yk_image_data *data)
{
    int64_t skipped = 0;
    for (enum yk_image_split_kind s = 0; data->faults && s < YK_IMAGE_SPLIT_COUNT; s++) {
        skipped += atomic_load(&data->faults[s].count);
    }
    return skipped;
}

void yk_image_data_describe(const struct yk_image_data *data, struct yk_text *out)
{
    static const char *const purposes[YK_IMAGE_SPLIT_COUNT] = {"", " to validate", " to test"};
    const struct yk_image_set *set = data->set;
    const int64_t training = set->splits[YK_IMAGE_SPLIT_TRAIN].count;
    yk_text_addf(out, "%" PRId64 " image%s of %" PRId32 " class%s (%s)", training,
                 training == 1 ? "" : "s", set->class_count, set->class_count == 1 ? "" : "es",
                 set->form);
    for (enum yk_image_split_kind s = YK_IMAGE_SPLIT_VALIDATION; s < YK_IMAGE_SPLIT_COUNT; s++) {
        if (set->splits[s].count > 0) {
            yk_text_addf(out, ", %" PRId64 "%s", set->splits[s].count, purposes[s]);
        }
    }
}

yk_status yk_image_data_create_sampler(const struct yk_image_data *data,
                                       enum yk_image_data_role role,
                                       const struct yk_sampler_options *options,
                                       struct yk_sampler **out)
{
    const struct selection *selection = &data->roles[role];
    struct yk_image_sampler_request request = {
        .split = &data->set->splits[selection->split],
        .items = selection->items,
        .count = selection->count,
        .processor = data->request.processor,
        .faults = data->faults ? &data->faults[selection->split] : NULL,
        .options = *options,
    };
    request.options.sequential = role != YK_IMAGE_DATA_TRAINING;
    *out = NULL;
    if (role == YK_IMAGE_DATA_TRAINING && selection->count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: there is no image to train with; either all are for testing, or the "
                       "part that is used is too small",
                       data->request.path);
    }
    return selection->count > 0 ? yk_image_sampler_create(&request, out) : YK_OK;
}
