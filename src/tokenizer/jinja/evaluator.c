#include "tokenizer/jinja/interpreter.h"

#include "tokenizer/jinja/attribute.h"
#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/iterator.h"
#include "tokenizer/jinja/loop.h"
#include "tokenizer/jinja/value_compare.h"

#define compute yk_jinja_evaluator_compute

enum {
    FEW_ARGUMENTS = 6 /* that fit on the stack */
};

typedef yk_status evaluate_function(struct yk_jinja_interpreter *interpreter,
                                    const struct yk_jinja_expression *expression,
                                    struct yk_jinja_value *out);

static yk_status compute_constant(struct yk_jinja_interpreter *interpreter,
                                  const struct yk_jinja_expression *expression,
                                  struct yk_jinja_value *out)
{
    (void)interpreter;
    *out = expression->as.constant;
    return YK_OK;
}

static yk_status compute_name(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *expression,
                              struct yk_jinja_value *out)
{
    YK_TRY(yk_jinja_scope_find(interpreter, expression->name, out));
    if (out->kind != YK_JINJA_ABSENT) {
        return YK_OK;
    }
    const struct yk_jinja_undefined reason = {.name = expression->attribute->bytes,
                                              .name_length = expression->attribute->length};
    return yk_jinja_value_new_undefined(&interpreter->run, reason, out);
}

static yk_status compute_items(struct yk_jinja_interpreter *interpreter,
                               const struct yk_jinja_expression *expression,
                               enum yk_jinja_kind kind, struct yk_jinja_value *out)
{
    struct yk_jinja_value *items = NULL;
    YK_TRY(yk_jinja_value_new_list(&interpreter->run, kind, expression->item_count, &items, out));
    for (int32_t i = 0; i < expression->item_count; i++) {
        YK_TRY(compute(interpreter, expression->items[i], &items[i]));
    }
    return YK_OK;
}

static yk_status compute_list(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *expression,
                              struct yk_jinja_value *out)
{
    return compute_items(interpreter, expression, YK_JINJA_LIST, out);
}

static yk_status compute_tuple(struct yk_jinja_interpreter *interpreter,
                               const struct yk_jinja_expression *expression,
                               struct yk_jinja_value *out)
{
    return compute_items(interpreter, expression, YK_JINJA_TUPLE, out);
}

static yk_status compute_dict(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *expression,
                              struct yk_jinja_value *out)
{
    struct yk_jinja_dict *dict = NULL;
    YK_TRY(yk_jinja_dict_new(&interpreter->run, expression->item_count / 2, &dict));
    for (int32_t i = 0; i + 1 < expression->item_count; i += 2) {
        struct yk_jinja_value key = {0};
        struct yk_jinja_value value = {0};
        YK_TRY(compute(interpreter, expression->items[i], &key));
        YK_TRY(compute(interpreter, expression->items[i + 1], &value));
        YK_TRY(yk_jinja_dict_set(&interpreter->run, dict, key, value));
    }
    *out = (struct yk_jinja_value){.kind = YK_JINJA_DICT, .as.dict = dict};
    return YK_OK;
}

static yk_status compute_condition(struct yk_jinja_interpreter *interpreter,
                                   const struct yk_jinja_expression *expression,
                                   struct yk_jinja_value *out)
{
    struct yk_jinja_value condition = {0};
    YK_TRY(compute(interpreter, expression->second, &condition));
    if (yk_jinja_value_compare_truth(condition)) {
        return compute(interpreter, expression->first, out);
    }
    if (expression->third) {
        return compute(interpreter, expression->third, out);
    }
    const struct yk_jinja_undefined reason = {
        .hint = "the value of an \"if\" without \"else\" is used, but the condition is false"};
    return yk_jinja_value_new_undefined(&interpreter->run, reason, out);
}

static yk_status compute_or(struct yk_jinja_interpreter *interpreter,
                            const struct yk_jinja_expression *expression,
                            struct yk_jinja_value *out)
{
    YK_TRY(compute(interpreter, expression->first, out));
    return yk_jinja_value_compare_truth(*out) ? YK_OK
                                              : compute(interpreter, expression->second, out);
}

static yk_status compute_and(struct yk_jinja_interpreter *interpreter,
                             const struct yk_jinja_expression *expression,
                             struct yk_jinja_value *out)
{
    YK_TRY(compute(interpreter, expression->first, out));
    return yk_jinja_value_compare_truth(*out) ? compute(interpreter, expression->second, out)
                                              : YK_OK;
}

static yk_status compute_not(struct yk_jinja_interpreter *interpreter,
                             const struct yk_jinja_expression *expression,
                             struct yk_jinja_value *out)
{
    YK_TRY(compute(interpreter, expression->first, out));
    *out = yk_jinja_value_bool(!yk_jinja_value_compare_truth(*out));
    return YK_OK;
}

static yk_status compare(struct yk_jinja_run *run, enum yk_jinja_comparison comparison,
                         struct yk_jinja_value left, struct yk_jinja_value right, bool *out)
{
    switch (comparison) {
    case YK_JINJA_COMPARE_EQUAL:
        return yk_jinja_value_compare_equal(run, left, right, out);
    case YK_JINJA_COMPARE_NOT_EQUAL:
        YK_TRY(yk_jinja_value_compare_equal(run, left, right, out));
        *out = !*out;
        return YK_OK;
    case YK_JINJA_COMPARE_IN:
        return yk_jinja_attribute_contains(run, right, left, out);
    case YK_JINJA_COMPARE_NOT_IN:
        YK_TRY(yk_jinja_attribute_contains(run, right, left, out));
        *out = !*out;
        return YK_OK;
    default: /* the orders are numbered alike */
        return yk_jinja_value_compare_order(run, left, right, (enum yk_jinja_order)comparison, out);
    }
}

static yk_status compute_comparison(struct yk_jinja_interpreter *interpreter,
                                    const struct yk_jinja_expression *expression,
                                    struct yk_jinja_value *out)
{
    struct yk_jinja_value left = {0};
    bool holds = true;
    YK_TRY(compute(interpreter, expression->first, &left));
    for (int32_t i = 0; holds && i < expression->item_count; i++) {
        struct yk_jinja_value right = {0};
        YK_TRY(compute(interpreter, expression->items[i], &right));
        YK_TRY(compare(&interpreter->run, expression->as.comparisons[i], left, right, &holds));
        left = right;
    }
    *out = yk_jinja_value_bool(holds);
    return YK_OK;
}

static yk_status compute_arithmetic(struct yk_jinja_interpreter *interpreter,
                                    const struct yk_jinja_expression *expression,
                                    struct yk_jinja_value *out)
{
    struct yk_jinja_value left = {0};
    struct yk_jinja_value right = {0};
    YK_TRY(compute(interpreter, expression->first, &left));
    YK_TRY(compute(interpreter, expression->second, &right));
    return yk_jinja_operation_apply(&interpreter->run, expression->as.operator, left, right, out);
}

static yk_status compute_concatenation(struct yk_jinja_interpreter *interpreter,
                                       const struct yk_jinja_expression *expression,
                                       struct yk_jinja_value *out)
{
    YK_TRY(compute(interpreter, expression->items[0], out));
    for (int32_t i = 1; i < expression->item_count; i++) {
        struct yk_jinja_value right = {0};
        YK_TRY(compute(interpreter, expression->items[i], &right));
        YK_TRY(yk_jinja_operation_join(&interpreter->run, *out, right, out));
    }
    return YK_OK;
}

static yk_status compute_sign(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *expression,
                              struct yk_jinja_value *out)
{
    YK_TRY(compute(interpreter, expression->first, out));
    return yk_jinja_operation_apply_sign(*out, expression->as.negative, out);
}

static const struct yk_jinja_function *method_of(const struct yk_jinja_expression *attribute,
                                                 struct yk_jinja_value object)
{
    return attribute->as.methods ? attribute->as.methods[object.kind] : NULL;
}

static yk_status compute_attribute(struct yk_jinja_interpreter *interpreter,
                                   const struct yk_jinja_expression *expression,
                                   struct yk_jinja_value *out)
{
    struct yk_jinja_value object = {0};
    YK_TRY(compute(interpreter, expression->first, &object));
    return yk_jinja_attribute_get(&interpreter->run, object, expression->attribute,
                                  method_of(expression, object), out);
}

static yk_status compute_item(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *expression,
                              struct yk_jinja_value *out)
{
    struct yk_jinja_value object = {0};
    struct yk_jinja_value key = {0};
    YK_TRY(compute(interpreter, expression->first, &object));
    YK_TRY(compute(interpreter, expression->second, &key));
    return yk_jinja_attribute_get_item(&interpreter->run, object, key, out);
}

static yk_status compute_optional(struct yk_jinja_interpreter *interpreter,
                                  const struct yk_jinja_expression *expression,
                                  struct yk_jinja_value *out)
{
    *out = yk_jinja_value_none();
    return expression ? compute(interpreter, expression, out) : YK_OK;
}

static yk_status compute_slice(struct yk_jinja_interpreter *interpreter,
                               const struct yk_jinja_expression *expression,
                               struct yk_jinja_value *out)
{
    struct yk_jinja_slice *slice = NULL;
    YK_JINJA_TRY_NEW(&interpreter->run, slice, 1);
    YK_TRY(compute_optional(interpreter, expression->first, &slice->start));
    YK_TRY(compute_optional(interpreter, expression->second, &slice->stop));
    YK_TRY(compute_optional(interpreter, expression->third, &slice->step));
    *out = (struct yk_jinja_value){.kind = YK_JINJA_SLICE, .as.slice = slice};
    return YK_OK;
}

/* The arguments of a call: few are kept on the stack. */
struct argument_values {
    struct yk_jinja_value few[FEW_ARGUMENTS];
    struct yk_jinja_arguments arguments;
};

static yk_status append_more(struct yk_jinja_interpreter *interpreter,
                             const struct yk_jinja_argument_list *list,
                             struct yk_jinja_value caller, struct argument_values *out);

static yk_status compute_arguments(struct yk_jinja_interpreter *interpreter,
                                   const struct yk_jinja_argument_list *list,
                                   struct yk_jinja_value caller, struct argument_values *out)
{
    const int32_t count = list->positional + list->named;
    struct yk_jinja_value *values = out->few;
    if (count > FEW_ARGUMENTS) {
        YK_JINJA_TRY_NEW(&interpreter->run, values, count);
    }
    for (int32_t i = 0; i < count; i++) {
        YK_TRY(compute(interpreter, list->values[i], &values[i]));
    }
    out->arguments = (struct yk_jinja_arguments){.values = values,
                                                 .names = list->names,
                                                 .positional = list->positional,
                                                 .named = list->named};
    const bool more = list->more_positional || list->more_named || caller.kind != YK_JINJA_ABSENT;
    return more ? append_more(interpreter, list, caller, out) : YK_OK;
}

/* What is added to the arguments that have their own expressions. */
struct more_arguments {
    const struct yk_jinja_list *positional;
    const struct yk_jinja_dict *named;
    struct yk_jinja_value caller;
};

static yk_status merge_named(struct yk_jinja_run *run, const struct more_arguments *more,
                             struct yk_jinja_value *values, const struct yk_jinja_string **names,
                             int64_t *count)
{
    for (int64_t i = 0; more->named && i < more->named->count; i++) {
        const struct yk_jinja_value key = more->named->entries[i].key;
        if (key.kind != YK_JINJA_STRING) {
            return yk_fail(YK_ERROR_INPUT, "a name of an argument behind ** is not a string");
        }
        for (int64_t j = 0; j < *count; j++) {
            bool same = false;
            YK_TRY(yk_jinja_run_step(run, 1));
            YK_TRY(yk_jinja_value_compare_strings(run, names[j], key.as.string, &same));
            if (same) {
                return yk_fail(YK_ERROR_INPUT, "a call has two arguments with one name");
            }
        }
        names[*count] = key.as.string;
        values[(*count)++] = more->named->entries[i].value;
    }
    return YK_OK;
}

static yk_status merge(struct yk_jinja_run *run, const struct more_arguments *more,
                       struct yk_jinja_arguments *arguments)
{
    static const struct yk_jinja_string caller_name = {
        .bytes = "caller", .length = 6, .characters = 6};
    const int64_t positional =
        arguments->positional + (more->positional ? more->positional->count : 0);
    const int64_t named = arguments->named + (more->named ? more->named->count : 0) + 1;
    struct yk_jinja_value *values = NULL;
    const struct yk_jinja_string **names = NULL;
    int64_t count = 0;
    YK_JINJA_TRY_NEW(run, values, positional + named);
    YK_JINJA_TRY_NEW(run, names, named);
    for (int64_t i = 0; i < positional; i++) {
        values[i] = i < arguments->positional ? arguments->values[i]
                                              : more->positional->items[i - arguments->positional];
    }
    for (; count < arguments->named; count++) {
        names[count] = arguments->names[count];
        values[positional + count] = arguments->values[arguments->positional + count];
    }
    YK_TRY(merge_named(run, more, values + positional, names, &count));
    if (more->caller.kind != YK_JINJA_ABSENT) {
        names[count] = &caller_name;
        values[positional + count++] = more->caller;
    }
    *arguments = (struct yk_jinja_arguments){
        .values = values, .names = names, .positional = positional, .named = count};
    return YK_OK;
}

static yk_status append_more(struct yk_jinja_interpreter *interpreter,
                             const struct yk_jinja_argument_list *list,
                             struct yk_jinja_value caller, struct argument_values *out)
{
    struct more_arguments more = {.caller = caller};
    struct yk_jinja_value value = {0};
    if (list->more_positional) {
        YK_TRY(compute(interpreter, list->more_positional, &value));
        YK_TRY(yk_jinja_iterator_to_list(&interpreter->run, value, &more.positional));
    }
    if (list->more_named) {
        YK_TRY(compute(interpreter, list->more_named, &value));
        if (value.kind != YK_JINJA_DICT) {
            return yk_fail(YK_ERROR_INPUT, "** needs a dict, not a value of type %s",
                           yk_jinja_value_type_name(value));
        }
        more.named = value.as.dict;
    }
    return merge(&interpreter->run, &more, &out->arguments);
}

/* A joiner is empty when it is called for the first time. */
static yk_status call_joiner(struct yk_jinja_run *run, struct yk_jinja_cycler *joiner,
                             struct yk_jinja_value *out)
{
    if (joiner->position++ > 0) {
        *out = joiner->items->items[0];
        return YK_OK;
    }
    return yk_jinja_value_new_string(run, "", 0, out);
}

static yk_status call_value(struct yk_jinja_run *run, struct yk_jinja_value callee,
                            const struct yk_jinja_arguments *arguments, struct yk_jinja_value *out)
{
    switch (callee.kind) {
    case YK_JINJA_CALLABLE:
        return callee.as.callable->call(run, callee.as.callable, arguments, out);
    case YK_JINJA_LOOP:
        if (!callee.as.loop->recurse) {
            return yk_fail(YK_ERROR_INPUT, "loop() needs a loop that is marked as recursive");
        }
        return callee.as.loop->recurse->call(run, callee.as.loop->recurse, arguments, out);
    case YK_JINJA_JOINER:
        return call_joiner(run, callee.as.cycler, out);
    case YK_JINJA_UNDEFINED:
        return yk_jinja_value_fail_undefined(callee);
    default:
        return yk_fail(YK_ERROR_INPUT, "a value of type %s cannot be called",
                       yk_jinja_value_type_name(callee));
    }
}

/* Calls a method without making a value of it first. */
static yk_status call_method(struct yk_jinja_interpreter *interpreter,
                             const struct yk_jinja_expression *call,
                             const struct yk_jinja_function *method, struct yk_jinja_value object,
                             struct yk_jinja_value *out)
{
    struct argument_values values = {0};
    YK_TRY(compute_arguments(interpreter, call->arguments, (struct yk_jinja_value){0}, &values));
    return yk_jinja_function_call(&interpreter->run, method, object, &values.arguments, out);
}

yk_status yk_jinja_evaluator_call_with_caller(struct yk_jinja_interpreter *interpreter,
                                              const struct yk_jinja_expression *call,
                                              struct yk_jinja_value caller,
                                              struct yk_jinja_value *out)
{
    const struct yk_jinja_expression *callee = call->first;
    struct yk_jinja_value value = {0};
    struct argument_values values = {0};
    if (callee->kind == YK_JINJA_ATTRIBUTE) {
        struct yk_jinja_value object = {0};
        YK_TRY(compute(interpreter, callee->first, &object));
        const struct yk_jinja_function *method = method_of(callee, object);
        if (method && object.kind != YK_JINJA_NAMESPACE && caller.kind == YK_JINJA_ABSENT) {
            return call_method(interpreter, call, method, object, out);
        }
        YK_TRY(
            yk_jinja_attribute_get(&interpreter->run, object, callee->attribute, method, &value));
    } else {
        YK_TRY(compute(interpreter, callee, &value));
    }
    YK_TRY(compute_arguments(interpreter, call->arguments, caller, &values));
    return call_value(&interpreter->run, value, &values.arguments, out);
}

static yk_status compute_call(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_expression *expression,
                              struct yk_jinja_value *out)
{
    return yk_jinja_evaluator_call_with_caller(interpreter, expression, (struct yk_jinja_value){0},
                                               out);
}

static yk_status call_function(struct yk_jinja_interpreter *interpreter,
                               const struct yk_jinja_expression *expression,
                               struct yk_jinja_value operand, struct yk_jinja_value *out)
{
    struct argument_values values = {0};
    if (!expression->as.function) {
        return yk_fail(YK_ERROR_INPUT, "there is no %s \"%.*s\"",
                       expression->kind == YK_JINJA_FILTER ? "filter" : "test",
                       (int)expression->attribute->length, expression->attribute->bytes);
    }
    YK_TRY(
        compute_arguments(interpreter, expression->arguments, (struct yk_jinja_value){0}, &values));
    return yk_jinja_function_call(&interpreter->run, expression->as.function, operand,
                                  &values.arguments, out);
}

static yk_status compute_filter(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_expression *expression,
                                struct yk_jinja_value *out)
{
    struct yk_jinja_value operand = {0};
    YK_TRY(compute(interpreter, expression->first, &operand));
    return call_function(interpreter, expression, operand, out);
}

yk_status yk_jinja_evaluator_apply_filters(struct yk_jinja_interpreter *interpreter,
                                           const struct yk_jinja_expression *filters,
                                           struct yk_jinja_value operand,
                                           struct yk_jinja_value *out)
{
    if (filters->first) {
        YK_TRY(yk_jinja_evaluator_apply_filters(interpreter, filters->first, operand, &operand));
    }
    return call_function(interpreter, filters, operand, out);
}

static yk_status compute_namespace_reference(struct yk_jinja_interpreter *interpreter,
                                             const struct yk_jinja_expression *expression,
                                             struct yk_jinja_value *out)
{
    (void)interpreter;
    (void)expression;
    (void)out;
    return yk_fail(YK_ERROR_INPUT, "an attribute of a namespace is no value here");
}

static evaluate_function *const evaluators[YK_JINJA_EXPRESSION_KIND_COUNT] = {
    [YK_JINJA_CONSTANT] = compute_constant,
    [YK_JINJA_NAME] = compute_name,
    [YK_JINJA_LIST_DISPLAY] = compute_list,
    [YK_JINJA_TUPLE_DISPLAY] = compute_tuple,
    [YK_JINJA_DICT_DISPLAY] = compute_dict,
    [YK_JINJA_CONDITION] = compute_condition,
    [YK_JINJA_OR] = compute_or,
    [YK_JINJA_AND] = compute_and,
    [YK_JINJA_NOT] = compute_not,
    [YK_JINJA_COMPARISON] = compute_comparison,
    [YK_JINJA_ARITHMETIC] = compute_arithmetic,
    [YK_JINJA_CONCATENATION] = compute_concatenation,
    [YK_JINJA_SIGN] = compute_sign,
    [YK_JINJA_ATTRIBUTE] = compute_attribute,
    [YK_JINJA_ITEM] = compute_item,
    [YK_JINJA_SLICE_DISPLAY] = compute_slice,
    [YK_JINJA_CALL] = compute_call,
    [YK_JINJA_FILTER] = compute_filter,
    [YK_JINJA_TEST] = compute_filter,
    [YK_JINJA_NAMESPACE_REFERENCE] = compute_namespace_reference,
};

yk_status yk_jinja_evaluator_compute(struct yk_jinja_interpreter *interpreter,
                                     const struct yk_jinja_expression *expression,
                                     struct yk_jinja_value *out)
{
    struct yk_jinja_run *run = &interpreter->run;
    yk_status status = yk_jinja_run_enter(run);
    if (status == YK_OK) {
        status = yk_jinja_run_step(run, 1);
        YK_IF_OK(evaluators[expression->kind](interpreter, expression, out));
        yk_jinja_run_leave(run);
    }
    if (status != YK_OK && interpreter->error_line == 0) {
        interpreter->error_line = expression->line;
    }
    return status;
}
