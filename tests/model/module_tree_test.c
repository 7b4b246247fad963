#include "model/module_tree.h"
#include "support/files/hf_models.h"
#include "support/support.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

struct recorded {
    const char *model;
    const char *tree;
};

#define TREE(model_, tree_) {(model_), tree_},

/* What the framework lists: see tests/oracle/accelerate_maps.py, which records these. */
static const struct recorded trees[] = {
#include "model/modules_trees.inc"
};

/* The part of a tensor's full name that its module does not have. */
static const char *own_name(const struct yk_module *module, const struct yk_module_tensor *tensor)
{
    const size_t length = strlen(module->name);
    return tensor->name + (length > 0 ? length + 1 : 0);
}

static void write_tree(const struct yk_module_tree *modules, struct yk_text *out)
{
    for (int32_t i = 0; i < modules->module_count; i++) {
        const struct yk_module *module = &modules->modules[i];
        yk_text_addf(out, "%s%s", module->name, module->unsplittable ? "!" : "");
        for (int32_t t = 0; t < module->tensor_count; t++) {
            const struct yk_module_tensor *tensor = &modules->tensors[module->first_tensor + t];
            yk_text_addf(out, " %s%s%s%s%" PRId64 "%s", tensor->buffer ? "(" : "",
                         own_name(module, tensor), tensor->buffer ? ")" : "",
                         tensor->tied_to == YK_MODULE_NONE ? ":" : "=", tensor->elements,
                         tensor->kind == YK_MODULE_TENSOR_INT64 ? "i" : "");
        }
        yk_text_add(out, "\n");
    }
    assert_ok(yk_text_status(out));
}

static int create_arena(void **state)
{
    return yk_arena_create((struct yk_arena **)state) == YK_OK ? 0 : -1;
}

static int destroy_arena(void **state)
{
    yk_arena_destroy(*state);
    return 0;
}

static void trees_are_those_of_the_framework(void **state)
{
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        struct yk_text text = {0};
        write_tree(support_hf_modules(trees[i].model, *state), &text);
        assert_string_equal(yk_text_chars(&text), trees[i].tree);
        yk_text_free(&text);
    }
}

static int64_t count_parameters(const char *model, struct yk_arena *arena)
{
    const struct yk_module_tree *modules = support_hf_modules(model, arena);
    int64_t sum = 0;
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (!tensor->buffer && tensor->tied_to == YK_MODULE_NONE) {
            sum += tensor->elements;
        }
    }
    return sum;
}

static void parameters_add_up_to_the_published_counts(void **state)
{
    assert_int_equal(count_parameters("gpt2", *state), 124439808);
    assert_int_equal(count_parameters("bert-base", *state), 109482240);
    assert_int_equal(count_parameters("llama2-7b", *state), 6738415616);
    assert_int_equal(count_parameters("llama3-8b", *state), 8030261248);
    assert_int_equal(count_parameters("llama3-70b", *state), 70553706496);
}

static void children_are_found_by_walking_siblings(void **state)
{
    const struct yk_module_tree *modules = support_hf_modules("gpt2", *state);
    static const char *const names[] = {"transformer.wte", "transformer.wpe", "transformer.drop",
                                        "transformer.h", "transformer.ln_f"};
    int32_t child =
        yk_module_tree_first_child(modules, yk_module_tree_find_module(modules, "transformer"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_string_equal(modules->modules[child].name, names[i]);
        child = yk_module_tree_next_sibling(modules, child);
    }
    assert_int_equal(child, YK_MODULE_NONE);
    assert_int_equal(yk_module_tree_next_sibling(modules, 0), YK_MODULE_NONE);
    assert_int_equal(
        yk_module_tree_first_child(modules, yk_module_tree_find_module(modules, "lm_head")),
        YK_MODULE_NONE);
    assert_int_equal(yk_module_tree_find_module(modules, "transformer.h.12"), YK_MODULE_NONE);
}

static void a_tied_tensor_knows_the_one_it_is(void **state)
{
    const struct yk_module_tree *modules = support_hf_modules("llama-tiny-tied", *state);
    const struct yk_module_tensor *head = &modules->tensors[modules->tensor_count - 1];
    assert_string_equal(head->name, "lm_head.weight");
    assert_string_equal(modules->tensors[head->tied_to].name, "model.embed_tokens.weight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trees_are_those_of_the_framework, create_arena,
                                        destroy_arena),
        cmocka_unit_test_setup_teardown(parameters_add_up_to_the_published_counts, create_arena,
                                        destroy_arena),
        cmocka_unit_test_setup_teardown(children_are_found_by_walking_siblings, create_arena,
                                        destroy_arena),
        cmocka_unit_test_setup_teardown(a_tied_tensor_knows_the_one_it_is, create_arena,
                                        destroy_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
