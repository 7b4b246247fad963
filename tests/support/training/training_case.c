#include "support/training/training_case.h"

#include "base/file.h"
#include "base/json.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const training_case_names[] = {
    "gpt-tied",
    "gpt-untied",
    "gpt-erf",
    "gpt-clip-cosine",
    "gpt-accumulate",
    "gpt-smoothing",
    "gpt-sgd",
    "gpt-rsqrt",
    "gpt-bf16",
    "gpt-lora",
    "llama",
    "llama-tied",
    "llama-bias",
    "llama-lora",
    "llama-nf4",
    "llama3-scaling",
    "bert",
    "bert-untied",
    "bert-bf16",
    "bert-lora",
    "marian",
    "marian-two-tables",
    "marian-untied",
    "marian-bf16",
    "marian-nf4",
    "llama-bf16",
    "llama-linear",
    "llama-dynamic",
    "llama-yarn",
    "mistral",
    "mistral-lora",
    "mistral-nf4",
    "mistral-bf16",
    "qwen2",
    "qwen2-lora",
    "qwen2-nf4",
    "qwen2-bf16",
    "qwen3",
    "qwen3-yarn",
    "qwen3-lora",
    "qwen3-nf4",
    "qwen3-bf16",
    "gemma",
    "gemma-lora",
    "gemma-nf4",
    "gemma-bf16",
    "gemma2",
    "gemma2-lora",
    "gemma2-nf4",
    "gemma2-bf16",
    "gemma3",
    "gemma3-lora",
    "gemma3-nf4",
    "gemma3-bf16",
    "phi3",
    "phi3-long",
    "phi3-lora",
    "phi3-nf4",
    "phi3-bf16",
    "smollm3",
    "smollm3-window",
    "smollm3-lora",
    "smollm3-nf4",
    "smollm3-bf16",
    "olmo2",
    "olmo2-lora",
    "olmo2-nf4",
    "olmo2-bf16",
    "granite",
    "granite-lora",
    "granite-nf4",
    "granite-bf16",
    "gpt-neox",
    "gpt-neox-sequential",
    "gpt-neox-lora",
    "gpt-neox-nf4",
    "gpt-neox-bf16",
    "starcoder2",
    "starcoder2-lora",
    "starcoder2-nf4",
    "starcoder2-bf16",
    "nemotron",
    "nemotron-lora",
    "nemotron-nf4",
    "nemotron-bf16",
    "roberta",
    "roberta-lora",
    "roberta-nf4",
    "roberta-bf16",
    "vit",
    "vit-grey",
    "vit-lora",
    "vit-nf4",
    "vit-bf16",
    NULL,
};

static void *allocate(const struct training_case *c, int64_t count, size_t size)
{
    void *memory = yk_arena_allocate(c->arena, (size_t)count, size);
    assert_non_null(memory);
    return memory;
}

static double number_at(const struct yk_json *object, const char *key)
{
    double number = 0;
    if (!yk_json_number_value(yk_json_get_member(object, key), &number)) {
        print_error("there is no number \"%s\"\n", key);
        fail();
    }
    return number;
}

static double optional_number_at(const struct yk_json *object, const char *key)
{
    return yk_json_get_member(object, key) ? number_at(object, key) : 0;
}

static const char *string_at(const struct yk_json *object, const char *key)
{
    const char *string = yk_json_string_value(yk_json_get_member(object, key));
    if (!string) {
        print_error("there is no string \"%s\"\n", key);
        fail();
    }
    return string;
}

/* The text of the object at `key` of the outermost object: no string of the file holds braces. */
static const char *object_text(const struct training_case *c, const char *text, const char *key)
{
    struct yk_text start = {0};
    yk_text_addf(&start, "\n  \"%s\": {", key);
    const char *found = strstr(text, yk_text_chars(&start));
    const char *begin = found ? strchr(found, '{') : NULL;
    yk_text_free(&start);
    if (!begin) {
        return NULL;
    }
    const char *end = begin;
    int depth = 0;
    do {
        assert_true(*end != '\0');
        depth += (*end == '{') - (*end == '}');
        end++;
    } while (depth > 0);
    const char *copy = yk_arena_copy_text(c->arena, begin, (size_t)(end - begin));
    assert_non_null(copy);
    return copy;
}

static struct yk_optimizer_options read_optimizer(const struct yk_json *json)
{
    const char *name = string_at(json, "name");
    struct yk_optimizer_options optimizer = {.decay = number_at(json, "decay")};
    if (strcmp(name, "sgd") == 0) {
        optimizer.kind = YK_OPTIMIZER_SGD;
        optimizer.momentum = number_at(json, "momentum");
        return optimizer;
    }
    assert_string_equal(name, "adamw");
    optimizer.kind = YK_OPTIMIZER_ADAMW;
    optimizer.beta1 = number_at(json, "beta1");
    optimizer.beta2 = number_at(json, "beta2");
    optimizer.epsilon = number_at(json, "epsilon");
    return optimizer;
}

static struct yk_lr_schedule read_rate(const struct yk_json *json, int64_t steps)
{
    static const struct {
        const char *name;
        enum yk_lr_schedule_kind kind;
    } kinds[] = {
        {"constant", YK_LR_SCHEDULE_CONSTANT},
        {"cosine", YK_LR_SCHEDULE_COSINE},
        {"inverse-root", YK_LR_SCHEDULE_INVERSE_ROOT},
    };
    const char *name = string_at(json, "name");
    size_t kind = 0;
    while (strcmp(name, kinds[kind].name) != 0) {
        kind++;
        assert_true(kind < sizeof kinds / sizeof kinds[0]);
    }
    return (struct yk_lr_schedule){
        .kind = kinds[kind].kind,
        .max_lr = number_at(json, "maximum"),
        .min_lr = number_at(json, "minimum"),
        .warmup = (int64_t)number_at(json, "warmup"),
        .steps = steps,
    };
}

static void read_options(struct training_case *c, const struct yk_json *json)
{
    struct training_case_options *options = &c->options;
    const struct yk_json *lora = yk_json_get_member(json, "lora");
    options->steps = (int64_t)number_at(json, "steps");
    options->batch = (int64_t)number_at(json, "batch");
    options->sequence = (int64_t)number_at(json, "sequence");
    if (yk_json_get_member(json, "target_sequence")) {
        options->target_sequence = (int64_t)number_at(json, "target_sequence");
    }
    options->accumulation = (int64_t)number_at(json, "accumulation");
    options->optimizer = read_optimizer(yk_json_get_member(json, "optimizer"));
    options->rate = read_rate(yk_json_get_member(json, "rate"), options->steps);
    options->clip = number_at(json, "clip");
    options->smoothing = number_at(json, "smoothing");
    if (yk_json_is_object(lora)) {
        options->lora_rank = (int64_t)number_at(lora, "rank");
        options->lora_alpha = number_at(lora, "alpha");
    }
    assert_true(yk_json_boolean_value(yk_json_get_member(json, "nf4"), &options->nf4));
    assert_true(yk_precision_find(string_at(json, "precision"), &options->precision));
}

static struct training_case_spread read_spread(const struct yk_json *json)
{
    return (struct training_case_spread){
        .logits = number_at(json, "logits"),
        .losses = number_at(json, "losses"),
        .norms = number_at(json, "norms"),
        .gradients = number_at(json, "gradients"),
        .final = optional_number_at(json, "final"),
        .gradients_together = optional_number_at(json, "gradients_together"),
    };
}

static void read_json(struct training_case *c)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    struct yk_json *json = NULL;
    training_case_path(c->name, ".json", &path);
    assert_ok(yk_file_read_document(yk_text_chars(&path), &text));
    assert_ok(yk_json_parse(text.bytes, text.length, &json));
    read_options(c, yk_json_get_member(json, "settings"));
    c->spread = read_spread(yk_json_get_member(json, "spread"));
    if (c->options.precision == YK_PRECISION_FP32) {
        const struct yk_json *spread16 = yk_json_get_member(json, "spread16");
        c->spread_bf16 = read_spread(yk_json_get_member(spread16, "bf16"));
        c->spread_fp16 = read_spread(yk_json_get_member(spread16, "fp16"));
    }
    c->config_text = object_text(c, text.bytes, "config");
    c->adapter_text = object_text(c, text.bytes, "adapter_config");
    assert_non_null(c->config_text);
    assert_ok(yk_model_config_parse(c->config_text, strlen(c->config_text), c->name, c->arena,
                                    &c->config));
    yk_json_destroy(json);
    yk_text_free(&text);
    yk_text_free(&path);
}

static void read_tensor(const struct training_case *c, const struct yk_safetensors_file *file,
                        const struct yk_tensor_file_entry *entry, struct training_tensor *out)
{
    const uint64_t size = yk_tensor_dtype_element_bytes(entry->type);
    void *numbers = allocate(c, (int64_t)entry->bytes, 1);
    assert_ok(yk_safetensors_read_tensor_range(file, entry, 0, entry->bytes, numbers));
    out->name = yk_arena_copy_text(c->arena, entry->name, strlen(entry->name));
    assert_non_null(out->name);
    out->type = entry->type;
    out->rank = entry->rank;
    memcpy(out->shape, entry->shape, sizeof out->shape);
    out->count = (int64_t)(entry->bytes / size);
    out->floats = entry->type == YK_TENSOR_F32 ? numbers : NULL;
    out->whole = entry->type == YK_TENSOR_I32 ? numbers : NULL;
    out->bytes = entry->type == YK_TENSOR_U8 ? numbers : NULL;
}

static void read_tensors(struct training_case *c)
{
    struct yk_text path = {0};
    struct yk_safetensors_file *file = NULL;
    training_case_path(c->name, ".safetensors", &path);
    assert_ok(yk_safetensors_open(yk_text_chars(&path), &file));
    c->tensor_count = file->header->count;
    struct training_tensor *tensors = allocate(c, c->tensor_count, sizeof *tensors);
    for (int32_t i = 0; i < c->tensor_count; i++) {
        read_tensor(c, file, &file->header->entries[i], &tensors[i]);
    }
    c->tensors = tensors;
    yk_safetensors_close(file);
    yk_text_free(&path);
}

struct training_case *training_case_open(const char *name)
{
    struct training_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    assert_ok(yk_arena_create(&c->arena));
    c->name = yk_arena_copy_text(c->arena, name, strlen(name));
    assert_non_null(c->name);
    read_json(c);
    read_tensors(c);
    const struct training_case_options *options = &c->options;
    int32_t *whole = allocate(c, options->batch, sizeof *whole);
    for (int64_t i = 0; i < options->batch; i++) {
        whole[i] = (int32_t)options->sequence;
    }
    c->whole = whole;
    c->logits = training_case_floats(c, "logits", NULL,
                                     training_case_rows(c) *
                                         yk_model_config_target_vocabulary_size(c->config));
    c->losses = training_case_floats(c, "losses", NULL, options->steps);
    c->norms = training_case_floats(c, "norms", NULL, options->steps);
    c->rates = training_case_floats(c, "rates", NULL, options->steps);
    return c;
}

void training_case_close(struct training_case *c)
{
    if (c) {
        yk_arena_destroy(c->arena);
        free(c);
    }
}

/* Fixtures lie beside the sources that tests are built from; where a program was taken to another
 * machine, in the repository that it is run in. */
void training_case_path(const char *name, const char *suffix, struct yk_text *out)
{
    const size_t before = out->length;
    yk_text_addf(out, "%s/nn/fixtures/%s%s", TESTS_FOLDER, name, suffix);
    if (access(yk_text_chars(out), R_OK) != 0) {
        out->length = before;
        yk_text_addf(out, "tests/nn/fixtures/%s%s", name, suffix);
    }
    assert_ok(yk_text_status(out));
}

int64_t training_case_rows(const struct training_case *c)
{
    const struct training_case_options *options = &c->options;
    if (c->config->classifier) {
        return options->batch;
    }
    return options->batch *
           (options->target_sequence > 0 ? options->target_sequence : options->sequence);
}

/* Whole numbers of a step, `count` of them; pieces are not changed by whoever reads them. */
static int32_t *of_step(const struct training_case *c, const char *kind, int64_t step,
                        int64_t count)
{
    const struct training_tensor *tensor = training_case_find(c, kind, NULL);
    assert_true(tensor && tensor->whole && tensor->count == count * c->options.steps);
    assert_in_range(step, 0, c->options.steps - 1);
    return (int32_t *)(uintptr_t)(tensor->whole + count * step);
}

/* The images of a step. A slice of them has neither tokens nor lengths that are read. */
static uint8_t *images_of(const struct training_case *c, int64_t step)
{
    const struct training_tensor *tensor = training_case_find(c, "pixels", NULL);
    const int64_t bytes = c->options.batch * yk_model_config_image_bytes(c->config);
    assert_true(tensor && tensor->bytes && tensor->count == bytes * c->options.steps);
    assert_in_range(step, 0, c->options.steps - 1);
    return (uint8_t *)(uintptr_t)(tensor->bytes + bytes * step);
}

struct yk_sample_slice training_case_slice(const struct training_case *c, int64_t step)
{
    const struct training_case_options *options = &c->options;
    const int64_t B = options->batch;
    const bool images = yk_model_config_reads_images(c->config);
    const bool filled = training_case_find(c, "lengths", NULL) != NULL;
    struct yk_sample_slice slice = {
        .samples = B,
        .sequence = images ? 1 : options->sequence,
        .target_sequence = options->target_sequence,
        .first_sample = step * B,
        .tokens = images ? (int32_t *)(uintptr_t)c->whole
                         : of_step(c, "tokens", step, B * options->sequence),
        .pixels = images ? images_of(c, step) : NULL,
        .lengths = filled ? of_step(c, "lengths", step, B) : (int32_t *)(uintptr_t)c->whole,
        .targets = of_step(c, "targets", step, training_case_rows(c)),
    };
    if (options->target_sequence > 0) {
        slice.target_tokens = of_step(c, "target_tokens", step, training_case_rows(c));
    }
    for (int64_t i = 0; slice.targets && i < training_case_rows(c); i++) {
        slice.loss_targets += slice.targets[i] >= 0;
    }
    return slice;
}

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name);
    const size_t wanted = strlen(suffix);
    return length >= wanted && strcmp(name + length - wanted, suffix) == 0;
}

/* Whether a parameter belongs to a block without rotary positions. */
static bool has_no_rope(const struct training_case *c, const char *name)
{
    const char *const before = ".layers.";
    const char *found = strstr(name, before);
    if (c->config->rope.theta == 0 || !found) {
        return c->config->rope.theta == 0;
    }
    const int64_t block = (int64_t)strtoul(found + strlen(before), NULL, 10);
    return yk_model_config_block_flags(c->config, block) & YK_BLOCK_NO_ROPE;
}

bool training_case_is_still(const struct training_case *c, const char *name)
{
    return (ends_in(name, ".key.bias") || ends_in(name, ".k_proj.bias")) && has_no_rope(c, name);
}

/* What follows "<kind>." in a tensor's name, or NULL. */
static const char *name_in(const char *kind, const char *name)
{
    const size_t length = strlen(kind);
    const bool of_kind = strncmp(name, kind, length) == 0 && name[length] == '.';
    return of_kind ? name + length + 1 : NULL;
}

const struct training_tensor *training_case_find(const struct training_case *c, const char *kind,
                                                 const char *name)
{
    for (int32_t i = 0; i < c->tensor_count; i++) {
        const char *whole = c->tensors[i].name;
        const char *rest = name ? name_in(kind, whole) : NULL;
        if (name ? rest && strcmp(rest, name) == 0 : strcmp(whole, kind) == 0) {
            return &c->tensors[i];
        }
    }
    return NULL;
}

const float *training_case_floats(const struct training_case *c, const char *kind, const char *name,
                                  int64_t count)
{
    const struct training_tensor *tensor = training_case_find(c, kind, name);
    if (!tensor || !tensor->floats || tensor->count != count) {
        print_error("%s: %s%s%s has not %lld floats but %lld\n", c->name, kind, name ? "." : "",
                    name ? name : "", (long long)count, tensor ? (long long)tensor->count : 0LL);
        fail();
        return NULL;
    }
    return tensor->floats;
}

const float *training_case_start(const struct training_case *c, const char *name, int64_t count)
{
    struct yk_text original = {0};
    yk_text_addf(&original, "%s.original", name);
    const bool quantised = training_case_find(c, "nf4", yk_text_chars(&original)) != NULL;
    const float *floats = quantised
                              ? training_case_floats(c, "nf4", yk_text_chars(&original), count)
                              : training_case_floats(c, "weights", name, count);
    yk_text_free(&original);
    return floats;
}

const char *training_case_name(const struct training_case *c, const char *kind, int32_t number)
{
    int32_t index = 0;
    for (int32_t i = 0; i < c->tensor_count; i++) {
        const char *name = name_in(kind, c->tensors[i].name);
        if (name && index++ == number) {
            return name;
        }
    }
    return NULL;
}

double training_case_apart(const float *given, const float *expected, int64_t count)
{
    double max = 0;
    double largest = 1e-6;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(given[i])) {
            return INFINITY;
        }
        max = fmax(max, fabs((double)given[i] - (double)expected[i]));
        largest = fmax(largest, fabs((double)expected[i]));
    }
    return max / largest;
}
