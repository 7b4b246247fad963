#include "support/training/small_checkpoint.h"

#include "support/support.h"

yk_status small_checkpoint_save(const char *folder, const struct small_store *small, int64_t step,
                                int32_t keep)
{
    struct yk_text path = {0};
    const struct yk_checkpoint_content content = {
        .store = small->store,
        .state = {.step = step, .updates = step, .samples = 8 * step, .seed = (uint64_t)step},
        .options_json = "{}",
    };
    small_store_fill(small, (uint64_t)step);
    const yk_status status = yk_checkpoint_save(folder, &content, keep, &path);
    yk_text_free(&path);
    return status;
}

int64_t small_checkpoint_step(const char *path, const struct small_store_request *request)
{
    struct yk_checkpoint *checkpoint = NULL;
    struct small_store loaded = small_store_open(request);
    struct small_store expected = small_store_open(request);
    assert_ok(yk_checkpoint_open(path, &checkpoint));
    assert_ok(yk_checkpoint_load(checkpoint, NULL, loaded.store));
    const int64_t step = checkpoint->state.step;
    small_store_fill(&expected, (uint64_t)step);
    assert_null(small_store_difference(&expected, &loaded, true));
    assert_int_equal(checkpoint->state.updates, step);
    assert_int_equal(checkpoint->state.samples, 8 * step);
    yk_checkpoint_close(checkpoint);
    small_store_close(&loaded);
    small_store_close(&expected);
    return step;
}
