#include "tokenizer/jinja/interpreter.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"

enum {
    ENTRIES_PER_STEP = 8 /* that are passed in a search */
};

yk_status yk_jinja_scope_open(struct yk_jinja_interpreter *interpreter,
                              struct yk_jinja_scope *parent)
{
    struct yk_jinja_scope *scope = NULL;
    YK_JINJA_TRY_NEW(&interpreter->run, scope, 1);
    scope->parent = parent;
    interpreter->scope = scope;
    return YK_OK;
}

yk_status yk_jinja_scope_find(struct yk_jinja_interpreter *interpreter, int32_t name,
                              struct yk_jinja_value *out)
{
    int64_t passed = 0;
    for (const struct yk_jinja_scope *scope = interpreter->scope; scope; scope = scope->parent) {
        for (int32_t i = scope->count - 1; i >= 0; i--) {
            if (scope->entries[i].name == name) {
                *out = scope->entries[i].value;
                passed += scope->count - i;
                return yk_jinja_run_step(&interpreter->run, passed / ENTRIES_PER_STEP);
            }
        }
        passed += scope->count + 1;
    }
    *out = interpreter->variables[name];
    return yk_jinja_run_step(&interpreter->run, passed / ENTRIES_PER_STEP);
}

static yk_status grow(struct yk_jinja_run *run, struct yk_jinja_scope *scope)
{
    struct yk_jinja_scope_entry *entries = NULL;
    const int32_t capacity = scope->capacity > 0 ? scope->capacity * 2 : 4;
    YK_JINJA_TRY_NEW(run, entries, capacity);
    for (int32_t i = 0; i < scope->count; i++) {
        entries[i] = scope->entries[i];
    }
    scope->entries = entries;
    scope->capacity = capacity;
    return YK_OK;
}

yk_status yk_jinja_scope_set(struct yk_jinja_interpreter *interpreter, int32_t name,
                             struct yk_jinja_value value)
{
    struct yk_jinja_scope *scope = interpreter->scope;
    if (!scope) {
        interpreter->variables[name] = value;
        return YK_OK;
    }
    for (int32_t i = 0; i < scope->count; i++) {
        if (scope->entries[i].name == name) {
            scope->entries[i].value = value;
            return yk_jinja_run_step(&interpreter->run, i / ENTRIES_PER_STEP);
        }
    }
    YK_TRY(yk_jinja_run_step(&interpreter->run, scope->count / ENTRIES_PER_STEP));
    if (scope->count == scope->capacity) {
        YK_TRY(grow(&interpreter->run, scope));
    }
    scope->entries[scope->count++] = (struct yk_jinja_scope_entry){.name = name, .value = value};
    return YK_OK;
}

static yk_status assign_attribute(struct yk_jinja_interpreter *interpreter,
                                  const struct yk_jinja_expression *target,
                                  struct yk_jinja_value value)
{
    struct yk_jinja_value object = {0};
    YK_TRY(yk_jinja_scope_find(interpreter, target->name, &object));
    if (object.kind != YK_JINJA_NAMESPACE) {
        return yk_fail(YK_ERROR_INPUT,
                       "attributes can be set only of a namespace, not of a value of type %s",
                       yk_jinja_value_type_name(object));
    }
    if (target->attribute->bytes[0] == '_') {
        return yk_fail(YK_ERROR_INPUT, "attributes of a namespace must not begin with \"_\"");
    }
    return yk_jinja_dict_set(&interpreter->run, object.as.dict,
                             yk_jinja_value_string(target->attribute), value);
}

static yk_status assign_tuple(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *target, struct yk_jinja_value value)
{
    const struct yk_jinja_list *list = NULL;
    YK_TRY(yk_jinja_iterator_to_list(&interpreter->run, value, &list));
    if (list->count != target->item_count) {
        return yk_fail(YK_ERROR_INPUT, "%d values are expected, but there are %lld",
                       (int)target->item_count, (long long)list->count);
    }
    for (int32_t i = 0; i < target->item_count; i++) {
        YK_TRY(yk_jinja_scope_assign(interpreter, target->items[i], list->items[i]));
    }
    return YK_OK;
}

yk_status yk_jinja_scope_assign(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_expression *target,
                                struct yk_jinja_value value)
{
    switch (target->kind) {
    case YK_JINJA_NAME:
        return yk_jinja_scope_set(interpreter, target->name, value);
    case YK_JINJA_NAMESPACE_REFERENCE:
        return assign_attribute(interpreter, target, value);
    default:
        return assign_tuple(interpreter, target, value);
    }
}
