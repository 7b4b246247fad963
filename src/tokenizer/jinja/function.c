#include "tokenizer/jinja/function.h"

#include "tokenizer/jinja/value_compare.h"

const struct yk_jinja_function *yk_jinja_function_find(const struct yk_jinja_function_table *table,
                                                       const char *name, size_t length)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *known = table->functions[i].name;
        if (length > 0 && known[0] == name[0] && strlen(known) == length &&
            memcmp(known, name, length) == 0) {
            return &table->functions[i];
        }
    }
    return NULL;
}

static int parameter_count(const struct yk_jinja_function *function)
{
    int count = 0;
    while (count < YK_JINJA_MAX_PARAMETERS && function->parameters[count]) {
        count++;
    }
    return count;
}

static int find_parameter(const struct yk_jinja_function *function,
                          const struct yk_jinja_string *name)
{
    const int count = parameter_count(function);
    for (int i = 0; i < count && !function->no_names; i++) {
        if (strlen(function->parameters[i]) == name->length &&
            memcmp(function->parameters[i], name->bytes, name->length) == 0) {
            return i;
        }
    }
    return -1;
}

static yk_status bind(const struct yk_jinja_function *function,
                      const struct yk_jinja_arguments *arguments, struct yk_jinja_call *call)
{
    const int count = parameter_count(function);
    if (arguments->positional > count) {
        return yk_fail(YK_ERROR_INPUT, "%s() has at most %d argument%s, not %d", function->name,
                       count, count == 1 ? "" : "s", (int)arguments->positional);
    }
    for (int64_t i = 0; i < arguments->positional; i++) {
        call->values[i] = arguments->values[i];
    }
    for (int64_t i = 0; i < arguments->named; i++) {
        const struct yk_jinja_string *name = arguments->names[i];
        const int index = find_parameter(function, name);
        if (index < 0 || call->values[index].kind != YK_JINJA_ABSENT) {
            return yk_fail(YK_ERROR_INPUT, "%s() %s an argument \"%.*s\"", function->name,
                           index < 0 ? "does not have" : "has two values for",
                           (int)(name->length < 100 ? name->length : 100), name->bytes);
        }
        call->values[index] = arguments->values[arguments->positional + i];
    }
    for (int i = 0; i < function->required; i++) {
        if (call->values[i].kind == YK_JINJA_ABSENT) {
            return yk_fail(YK_ERROR_INPUT, "%s() needs the argument \"%s\"", function->name,
                           function->parameters[i]);
        }
    }
    return YK_OK;
}

static yk_status fail_unsupported(const struct yk_jinja_function *function,
                                  struct yk_jinja_value object)
{
    return yk_fail(YK_ERROR_INPUT,
                   function->unsafe ? "the method %s() would change a value of type %s, which "
                                      "templates may not"
                                    : "\"%s\" is not supported for a value of type %s",
                   function->name, yk_jinja_value_type_name(object));
}

yk_status yk_jinja_function_call(struct yk_jinja_run *run, const struct yk_jinja_function *function,
                                 struct yk_jinja_value subject,
                                 const struct yk_jinja_arguments *arguments,
                                 struct yk_jinja_value *out)
{
    struct yk_jinja_call call = {.run = run, .subject = subject, .arguments = arguments};
    if (!function->call) {
        return fail_unsupported(function, subject);
    }
    if (!function->any) {
        YK_TRY(bind(function, arguments, &call));
    }
    return function->call(&call, out);
}

static yk_status call_bound(struct yk_jinja_run *run, const struct yk_jinja_callable *callable,
                            const struct yk_jinja_arguments *arguments, struct yk_jinja_value *out)
{
    return yk_jinja_function_call(run, callable->data, callable->self, arguments, out);
}

yk_status yk_jinja_function_bind(struct yk_jinja_run *run, const struct yk_jinja_function *function,
                                 struct yk_jinja_value object, struct yk_jinja_value *out)
{
    struct yk_jinja_callable *callable = NULL;
    if (function->is_value) {
        return fail_unsupported(function, object);
    }
    if (function->unsafe) {
        struct yk_jinja_undefined reason = {.owner = yk_jinja_value_type_name(object),
                                            .name = function->name,
                                            .name_length = strlen(function->name)};
        reason.hint = yk_arena_format(run->arena,
                                      "the method %s() would change a value of type %s, which "
                                      "templates may not",
                                      function->name, reason.owner);
        YK_TRY_ALLOCATED(reason.hint);
        return yk_jinja_value_new_undefined(run, reason, out);
    }
    YK_JINJA_TRY_NEW(run, callable, 1);
    *callable = (struct yk_jinja_callable){
        .call = call_bound, .name = function->name, .self = object, .data = function};
    *out = (struct yk_jinja_value){.kind = YK_JINJA_CALLABLE, .as.callable = callable};
    return YK_OK;
}

yk_status yk_jinja_function_get_integer(const struct yk_jinja_call *call, int index, int64_t *out)
{
    const struct yk_jinja_value value = call->values[index];
    if (value.kind == YK_JINJA_ABSENT || yk_jinja_value_get_integer(value, out)) {
        return YK_OK;
    }
    return value.kind == YK_JINJA_UNDEFINED
               ? yk_jinja_value_fail_undefined(value)
               : yk_fail(YK_ERROR_INPUT, "an argument must be an integer, not of type %s",
                         yk_jinja_value_type_name(value));
}

yk_status yk_jinja_function_get_string(const struct yk_jinja_call *call, int index,
                                       const struct yk_jinja_string **out)
{
    const struct yk_jinja_value value = call->values[index];
    if (value.kind == YK_JINJA_STRING) {
        *out = value.as.string;
    } else if (value.kind == YK_JINJA_NONE) {
        *out = NULL;
    } else if (value.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(value);
    } else if (value.kind != YK_JINJA_ABSENT) {
        return yk_fail(YK_ERROR_INPUT, "an argument must be a string, not of type %s",
                       yk_jinja_value_type_name(value));
    }
    return YK_OK;
}

bool yk_jinja_function_get_truth(const struct yk_jinja_call *call, int index, bool otherwise)
{
    return call->values[index].kind == YK_JINJA_ABSENT
               ? otherwise
               : yk_jinja_value_compare_truth(call->values[index]);
}
