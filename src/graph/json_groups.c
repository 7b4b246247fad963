#include "graph/json_groups.h"

#include "base/array.h"
#include "base/json.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

enum {
    NOT_LISTED = -1
};

struct record {
    double resident;   /* NAN where nobody said */
    int64_t listed_at; /* its place in "groups", or NOT_LISTED */
    bool used;
};

struct yk_graph_json_groups {
    struct yk_names *names;
    struct record *records; /* by number of the name */
    int32_t capacity;
};

static yk_status add(struct yk_graph_json_groups *groups, const char *name, struct record **out)
{
    bool added = false;
    int32_t number = 0;
    YK_TRY(yk_names_add(groups->names, name, &added, &number));
    if (added) {
        YK_TRY(yk_array_grow((void **)&groups->records, &groups->capacity, number,
                             sizeof *groups->records));
        groups->records[number] = (struct record){.resident = NAN, .listed_at = NOT_LISTED};
    }
    *out = &groups->records[number];
    return YK_OK;
}

static yk_status add_listed(struct yk_graph_json_groups *groups, const struct yk_json *node,
                            size_t place)
{
    static const char *const known[] = {"name", "resident", "store"};
    const char *name = NULL;
    struct record *record = NULL;
    YK_TRY(yk_json_check_object(node, known, sizeof known / sizeof known[0]));
    YK_TRY(yk_json_read_name(yk_json_get(node, "name"), "name", &name));
    YK_TRY(add(groups, name, &record));
    if (record->listed_at != NOT_LISTED) {
        return yk_fail(YK_ERROR_INPUT, "this group is given twice");
    }
    record->listed_at = (int64_t)place;
    const struct yk_json *resident = yk_json_get(node, "resident");
    return resident ? yk_json_read_quantity(resident, "resident", YK_UNIT_BYTES, &record->resident)
                    : YK_OK;
}

static yk_status learn(struct yk_graph_json_groups *groups, const struct yk_json *root)
{
    const struct yk_json *listed = NULL;
    YK_TRY(yk_json_get_list(root, "groups", &listed));
    for (size_t i = 0; i < yk_json_count(listed); i++) {
        const struct yk_json *node = yk_json_at(listed, i);
        YK_TRY(yk_json_add_location(add_listed(groups, node, i), "groups", i,
                                    yk_json_string(yk_json_get(node, "name"))));
    }
    const struct yk_json *tasks = yk_json_get(root, "tasks");
    for (size_t i = 0; i < yk_json_count(tasks); i++) {
        const char *name = yk_json_string(yk_json_get(yk_json_at(tasks, i), "group"));
        struct record *record = NULL;
        if (name) {
            YK_TRY(add(groups, name, &record));
        }
    }
    return YK_OK;
}

yk_status yk_graph_json_groups_create(const struct yk_json *root, struct yk_graph_json_groups **out)
{
    struct yk_graph_json_groups *groups = calloc(1, sizeof *groups);
    if (!groups) {
        return yk_fail_out_of_memory();
    }
    yk_status status = YK_OK;
    YK_TRY_GOTO(yk_names_create(&groups->names), fail);
    YK_TRY_GOTO(learn(groups, root), fail);
    *out = groups;
    return YK_OK;
fail:
    yk_graph_json_groups_destroy(groups);
    return status;
}

void yk_graph_json_groups_destroy(struct yk_graph_json_groups *groups)
{
    if (!groups) {
        return;
    }
    yk_names_destroy(groups->names);
    free(groups->records);
    free(groups);
}

/* A group for one task alone: named like the task unless another group has that name. */
static yk_status add_own(struct yk_graph_json_groups *groups, const char *task, struct record **out)
{
    struct yk_text name = {0};
    yk_text_add(&name, task);
    for (int copy = 2; !name.failed && yk_names_find(groups->names, name.bytes) >= 0; copy++) {
        name.length = 0;
        yk_text_addf(&name, "%s (%d)", task, copy);
    }
    yk_status status = yk_text_status(&name);
    if (status == YK_OK) {
        status = add(groups, name.bytes, out);
    }
    yk_text_free(&name);
    return status;
}

yk_status yk_graph_json_groups_join(struct yk_graph_json_groups *groups, const char *task,
                                    const char *group, double resident, const char **out)
{
    struct record *record = NULL;
    *out = NULL;
    if (group) {
        YK_TRY(add(groups, group, &record));
    } else if (!isnan(resident)) {
        YK_TRY(add_own(groups, task, &record));
    } else {
        return YK_OK;
    }
    record->used = true;
    *out = yk_names_at(groups->names, (int32_t)(record - groups->records));
    if (isnan(resident) || resident == record->resident) {
        return YK_OK;
    }
    if (!isnan(record->resident)) {
        char here[YK_NUMBER_SIZE];
        char before[YK_NUMBER_SIZE];
        yk_number_format(resident, here);
        yk_number_format(record->resident, before);
        return yk_fail(YK_ERROR_INPUT,
                       "\"resident\" is %s here, but %s bytes were given for group \"%s\" before",
                       here, before, *out);
    }
    record->resident = resident;
    return YK_OK;
}

/* The names that tasks use and the list lacks: one of them may be the unused one misspelt. */
static yk_status fail_unused(const struct yk_graph_json_groups *groups, int32_t unused)
{
    const int32_t count = yk_names_count(groups->names);
    const char **candidates = calloc((size_t)count, sizeof *candidates);
    if (!candidates) {
        return yk_fail_out_of_memory();
    }
    size_t candidate_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (groups->records[i].used && groups->records[i].listed_at == NOT_LISTED) {
            candidates[candidate_count++] = yk_names_at(groups->names, i);
        }
    }
    const char *name = yk_names_at(groups->names, unused);
    const char *nearest = yk_nearest(name, candidates, candidate_count);
    const yk_status status =
        nearest ? yk_fail(YK_ERROR_INPUT, "no task is in this group; did you mean \"%s\"?", nearest)
                : yk_fail(YK_ERROR_INPUT, "no task is in this group");
    free(candidates);
    return yk_json_add_location(status, "groups", (size_t)groups->records[unused].listed_at, name);
}

yk_status yk_graph_json_groups_finish(const struct yk_graph_json_groups *groups,
                                      struct yk_graph_builder *builder)
{
    for (int32_t i = 0; i < yk_names_count(groups->names); i++) {
        const struct record *record = &groups->records[i];
        if (!record->used) {
            return fail_unused(groups, i);
        }
        if (!isnan(record->resident)) {
            YK_TRY(yk_graph_builder_set_resident(builder, yk_names_at(groups->names, i),
                                                 record->resident));
        }
    }
    return YK_OK;
}
