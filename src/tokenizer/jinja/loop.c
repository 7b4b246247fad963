#include "tokenizer/jinja/loop.h"

#include "tokenizer/jinja/value_compare.h"

yk_status yk_jinja_loop_open(struct yk_jinja_value value, struct yk_jinja_loop *out)
{
    *out = (struct yk_jinja_loop){.index0 = -1, .length = -1};
    return yk_jinja_iterator_open(value, &out->iterator);
}

static yk_status pull(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                      struct yk_jinja_value *out, bool *found)
{
    *found = false;
    if (!loop->finished) {
        YK_TRY(loop->iterator.next(run, &loop->iterator, out, found));
        loop->finished = !*found;
    }
    return YK_OK;
}

/* Reads an item ahead, if that was not done yet. */
static yk_status peek(struct yk_jinja_run *run, struct yk_jinja_loop *loop)
{
    struct yk_jinja_value item = {0};
    bool found = false;
    if (loop->after.kind != YK_JINJA_ABSENT) {
        return YK_OK;
    }
    YK_TRY(pull(run, loop, &item, &found));
    if (found) {
        loop->after = item;
    }
    return YK_OK;
}

yk_status yk_jinja_loop_next(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                             struct yk_jinja_value *out, bool *found)
{
    if (loop->after.kind != YK_JINJA_ABSENT) {
        *out = loop->after;
        *found = true;
        loop->after = (struct yk_jinja_value){0};
    } else {
        YK_TRY(pull(run, loop, out, found));
    }
    if (*found) {
        loop->index0++;
        loop->before = loop->current;
        loop->current = *out;
    }
    return YK_OK;
}

/* The length of a generator is known when all its items have been read. */
static yk_status find_length(struct yk_jinja_run *run, struct yk_jinja_loop *loop)
{
    const enum yk_jinja_kind kind = loop->iterator.source.kind;
    if (loop->length >= 0) {
        return YK_OK;
    }
    if (kind != YK_JINJA_ITERATOR && kind != YK_JINJA_ABSENT) {
        return yk_jinja_iterator_count(loop->iterator.source, &loop->length);
    }
    struct yk_jinja_list_builder builder = {0};
    struct yk_jinja_value item = {0};
    bool found = true;
    while (found) {
        YK_TRY(pull(run, loop, &item, &found));
        if (found) {
            YK_TRY(yk_jinja_value_append(run, &builder, item));
        }
    }
    loop->length = builder.count + loop->index0 + 1 + (loop->after.kind != YK_JINJA_ABSENT ? 1 : 0);
    YK_TRY(yk_jinja_value_finish_list(run, &builder, YK_JINJA_LIST, &item));
    loop->finished = false;
    return yk_jinja_iterator_open(item, &loop->iterator);
}

static yk_status get_index(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                           struct yk_jinja_value *out)
{
    (void)run;
    *out = yk_jinja_value_int(loop->index0 + 1);
    return YK_OK;
}

static yk_status get_index0(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                            struct yk_jinja_value *out)
{
    (void)run;
    *out = yk_jinja_value_int(loop->index0);
    return YK_OK;
}

static yk_status get_first(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                           struct yk_jinja_value *out)
{
    (void)run;
    *out = yk_jinja_value_bool(loop->index0 == 0);
    return YK_OK;
}

static yk_status get_last(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                          struct yk_jinja_value *out)
{
    YK_TRY(peek(run, loop));
    *out = yk_jinja_value_bool(loop->after.kind == YK_JINJA_ABSENT);
    return YK_OK;
}

static yk_status get_length(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                            struct yk_jinja_value *out)
{
    YK_TRY(find_length(run, loop));
    *out = yk_jinja_value_int(loop->length);
    return YK_OK;
}

static yk_status get_revindex(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                              struct yk_jinja_value *out)
{
    YK_TRY(find_length(run, loop));
    *out = yk_jinja_value_int(loop->length - loop->index0);
    return YK_OK;
}

static yk_status get_revindex0(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                               struct yk_jinja_value *out)
{
    YK_TRY(find_length(run, loop));
    *out = yk_jinja_value_int(loop->length - loop->index0 - 1);
    return YK_OK;
}

static yk_status get_depth(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                           struct yk_jinja_value *out)
{
    (void)run;
    *out = yk_jinja_value_int(loop->depth0 + 1);
    return YK_OK;
}

static yk_status get_depth0(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                            struct yk_jinja_value *out)
{
    (void)run;
    *out = yk_jinja_value_int(loop->depth0);
    return YK_OK;
}

static yk_status get_previtem(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                              struct yk_jinja_value *out)
{
    if (loop->index0 == 0) {
        return yk_jinja_value_new_undefined(
            run, (struct yk_jinja_undefined){.hint = "the loop has no previous item"}, out);
    }
    *out = loop->before;
    return YK_OK;
}

static yk_status get_nextitem(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                              struct yk_jinja_value *out)
{
    YK_TRY(peek(run, loop));
    if (loop->after.kind == YK_JINJA_ABSENT) {
        return yk_jinja_value_new_undefined(
            run, (struct yk_jinja_undefined){.hint = "the loop has no next item"}, out);
    }
    *out = loop->after;
    return YK_OK;
}

static const struct {
    const char *name;
    yk_status (*get)(struct yk_jinja_run *run, struct yk_jinja_loop *loop,
                     struct yk_jinja_value *out);
} attributes[] = {
    {"index0", get_index0}, {"first", get_first},       {"last", get_last},
    {"index", get_index},   {"previtem", get_previtem}, {"nextitem", get_nextitem},
    {"length", get_length}, {"revindex", get_revindex}, {"revindex0", get_revindex0},
    {"depth", get_depth},   {"depth0", get_depth0},
};

yk_status yk_jinja_loop_get(struct yk_jinja_run *run, struct yk_jinja_loop *loop, const char *name,
                            size_t length, struct yk_jinja_value *out, bool *found)
{
    *found = false;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (strlen(attributes[i].name) == length && memcmp(attributes[i].name, name, length) == 0) {
            *found = true;
            return attributes[i].get(run, loop, out);
        }
    }
    return YK_OK;
}

static yk_status cycle(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_arguments *arguments = call->arguments;
    if (arguments->positional == 0 || arguments->named > 0) {
        return yk_fail(YK_ERROR_INPUT, "loop.cycle() needs values and no names");
    }
    *out = arguments->values[call->subject.as.loop->index0 % arguments->positional];
    return YK_OK;
}

static yk_status changed(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    struct yk_jinja_loop *loop = call->subject.as.loop;
    const int64_t count = call->arguments->positional;
    struct yk_jinja_value *items = NULL;
    struct yk_jinja_value tuple = {0};
    bool equal = false;
    YK_TRY(yk_jinja_value_new_list(call->run, YK_JINJA_TUPLE, count, &items, &tuple));
    for (int64_t i = 0; i < count; i++) {
        items[i] = call->arguments->values[i];
    }
    YK_TRY(yk_jinja_value_compare_equal(call->run, loop->changed, tuple, &equal));
    loop->changed = tuple;
    *out = yk_jinja_value_bool(!equal);
    return YK_OK;
}

static const struct yk_jinja_function methods[] = {
    {.name = "cycle", .call = cycle, .any = true},
    {.name = "changed", .call = changed, .any = true},
};

const struct yk_jinja_function_table yk_jinja_loop_methods = YK_JINJA_FUNCTION_TABLE(methods);
