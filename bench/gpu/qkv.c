/*
 * What queries, keys and values cost on a GPU as one product, as three, and as three on streams of
 * their own, and what of it is the cost of streams. Skipped where there is no GPU.
 * Usage: bench-gpu-qkv, with yoke-cuda.so in a folder that it lies in or named in YOKE_CUDA_PLUGIN.
 */
#include "gpu/qkv/forms.h"
#include "gpu/qkv/timing.h"

#include "backend/backend.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "yoke-cuda.so"

enum {
    CHECKED_ROWS = 64, /* at either end of c */
};

struct shape {
    const char *name;
    int64_t rows;
    int64_t width;
    int64_t widths[PARTS]; /* of q, k and v */
};

static const struct shape shapes[] = {
    {"GPT-2, 16 x 1024", 16384, 768, {768, 768, 768}},
    {"Transformer base", 25600, 512, {512, 512, 512}},
    {"BERT-large, 32 x 512", 16384, 1024, {1024, 1024, 1024}},
    {"Llama 3 8B, 5 x 512", 2560, 4096, {4096, 1024, 1024}},
    {"GPT-2, one of 512", 512, 768, {768, 768, 768}},
    {"Transformer base, 2048", 2048, 512, {512, 512, 512}},
};

/* ---- numbers ---- */

/* Random bf16 between −1 and 1: with zeros a GPU would be faster than it is. */
static void fill(struct bench *bench, void *to, int64_t count, uint64_t seed)
{
    uint16_t *numbers = must_malloc((size_t)count * sizeof *numbers);
    uint64_t state = seed;
    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const float x = (float)((double)(state >> 11) * 0x1p-52 - 1);
        uint32_t bits = 0;
        memcpy(&bits, &x, sizeof bits);
        numbers[i] = (uint16_t)(bits >> 16);
    }
    bench->backend->copy(bench->lanes[0], to, numbers, (size_t)count * sizeof *numbers);
    bench_finish(bench);
    free(numbers);
}

static double number_of(uint16_t stored)
{
    const uint32_t bits = (uint32_t)stored << 16;
    float x = 0;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

/* The first and last rows of c, as the form makes them. */
static void look(struct bench *bench, const struct product *product, const struct form *form,
                 uint16_t *out)
{
    const struct yk_matmul_op *whole = &product->whole;
    const size_t row_bytes = (size_t)whole->n * sizeof *out;
    bench->backend->clear(bench->lanes[0], whole->c, (size_t)whole->m * row_bytes);
    bench_finish(bench);
    form_enqueue(bench, product, form);
    bench_finish(bench);
    bench->backend->copy(bench->lanes[0], out, whole->c, CHECKED_ROWS * row_bytes);
    bench->backend->copy(bench->lanes[0], out + CHECKED_ROWS * whole->n,
                         (const char *)whole->c + (size_t)(whole->m - CHECKED_ROWS) * row_bytes,
                         CHECKED_ROWS * row_bytes);
    bench_finish(bench);
}

/* Every form makes what the first does, but for rounding. */
static void check(struct bench *bench, const struct product *product, const struct form *forms,
                  int count)
{
    const size_t numbers = (size_t)2 * CHECKED_ROWS * (size_t)product->whole.n;
    uint16_t *right = must_malloc(numbers * sizeof *right);
    uint16_t *made = must_malloc(numbers * sizeof *made);
    look(bench, product, &forms[0], right);
    for (int f = 1; f < count; f++) {
        double largest = 0;
        double furthest = 0;
        look(bench, product, &forms[f], made);
        for (size_t i = 0; i < numbers; i++) {
            const double size = fabs(number_of(right[i]));
            const double error = fabs(number_of(made[i]) - number_of(right[i]));
            largest = size > largest ? size : largest;
            furthest = error > furthest ? error : furthest;
        }
        if (furthest > 0.01 * largest || largest == 0) {
            printf("  %s: WRONG, by %g where numbers go up to %g\n", forms[f].name, furthest,
                   largest);
        }
    }
    free(right);
    free(made);
}

/* ---- shapes ---- */

static struct product make_product(struct bench *bench, const struct shape *shape)
{
    const struct yk_backend *backend = bench->backend;
    const int64_t n = shape->widths[0] + shape->widths[1] + shape->widths[2];
    void *x = NULL;
    void *w = NULL;
    void *c = NULL;
    must_status(backend->allocate(bench->device, (size_t)(shape->rows * shape->width) * 2, &x));
    must_status(backend->allocate(bench->device, (size_t)(n * shape->width) * 2, &w));
    must_status(backend->allocate(bench->device, (size_t)(shape->rows * n) * 2, &c));
    fill(bench, x, shape->rows * shape->width, 1);
    fill(bench, w, n * shape->width, 2);
    struct product product;
    product.whole = (struct yk_matmul_op){
        .m = shape->rows,
        .n = n,
        .k = shape->width,
        .a = x,
        .b = w,
        .c = c,
        .a_stride = shape->width,
        .b_stride = shape->width,
        .c_stride = n,
        .b_transposed = true,
        .a_type = YK_PRECISION_BF16,
        .b_type = YK_PRECISION_BF16,
        .c_type = YK_PRECISION_BF16,
        .bias_type = YK_PRECISION_BF16,
        .scale = 1,
    };
    product.cut = product.whole;
    product.cut.split_columns[0] = shape->widths[0];
    product.cut.split_columns[1] = shape->widths[0] + shape->widths[1];
    int64_t first = 0;
    for (int i = 0; i < PARTS; i++) {
        product.parts[i] = product.whole;
        product.parts[i].n = shape->widths[i];
        product.parts[i].b = (char *)w + first * shape->width * 2;
        product.parts[i].c = (char *)c + first * 2;
        first += shape->widths[i];
    }
    return product;
}

static void free_product(struct bench *bench, const struct product *product)
{
    bench->backend->free(bench->device, (void *)(uintptr_t)product->whole.a);
    bench->backend->free(bench->device, (void *)(uintptr_t)product->whole.b);
    bench->backend->free(bench->device, product->whole.c);
}

static void print_table(const struct form *forms, int count, const struct sample *elapsed)
{
    printf("  %-34s %9s %6s %9s %9s %6s\n", "", "device", "ratio", "host", "alone", "ratio");
    for (int i = 0; i < count; i++) {
        printf("  %-34s %9.2f %6.3f %9.2f %9.2f %6.3f\n", forms[i].name, elapsed[i].device_us,
               elapsed[i].device_us / elapsed[0].device_us, elapsed[i].host_us, elapsed[i].alone_us,
               elapsed[i].alone_us / elapsed[0].alone_us);
    }
}

static void measure_shape(struct bench *bench, const struct shape *shape)
{
    struct form forms[MOST_FORMS];
    struct sample elapsed[MOST_FORMS];
    const struct product product = make_product(bench, shape);
    const double more_bytes = (double)(SIDES * shape->rows * shape->width * 2);
    memcpy(forms, product_forms, (size_t)product_form_count * sizeof *forms);
    for (int i = 0; i < product_form_count; i++) {
        form_open(bench, &product, &forms[i]);
    }
    printf("%s: %lld x %lld -> %lld + %lld + %lld\n", shape->name, (long long)shape->rows,
           (long long)shape->width, (long long)shape->widths[0], (long long)shape->widths[1],
           (long long)shape->widths[2]);
    check(bench, &product, forms, product_form_count);
    measure(bench, &product, forms, product_form_count, elapsed);
    print_table(forms, product_form_count, elapsed);
    printf("  x read twice more: %.1f MiB, %.2f us if they came from memory\n\n",
           more_bytes / (1 << 20), more_bytes / bench->bandwidth_bytes_per_s * 1e6);
    (void)fflush(stdout);
    for (int i = 0; i < product_form_count; i++) {
        form_close(&forms[i]);
    }
    free_product(bench, &product);
}

static void measure_costs(struct bench *bench)
{
    struct form forms[MOST_FORMS];
    struct sample elapsed[MOST_FORMS];
    memcpy(forms, cost_forms, (size_t)cost_form_count * sizeof *forms);
    for (int i = 0; i < cost_form_count; i++) {
        form_open(bench, NULL, &forms[i]);
    }
    measure(bench, NULL, forms, cost_form_count, elapsed);
    printf("what streams cost by themselves\n");
    printf("  %-34s %9s %9s %9s\n", "", "device", "host", "alone");
    for (int i = 0; i < cost_form_count; i++) {
        printf("  %-34s %9.2f %9.2f %9.2f\n", forms[i].name, elapsed[i].device_us,
               elapsed[i].host_us, elapsed[i].alone_us);
        form_close(&forms[i]);
    }
    printf("\n");
}

/* ---- the plug-in ---- */

/* The one in the program's folder, or one of those around it. */
static bool find_nearby(char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof "/" PLUGIN);
    if (length < 0) {
        return false;
    }
    path[length] = '\0';
    for (char *end = strrchr(path, '/'); end; end = strrchr(path, '/')) {
        memcpy(end, "/" PLUGIN, sizeof "/" PLUGIN);
        if (access(path, R_OK) == 0) {
            return true;
        }
        *end = '\0';
    }
    return false;
}

int main(void)
{
    const struct yk_backend_device_options options = {.side_streams = true};
    const char *named = getenv("YOKE_CUDA_PLUGIN");
    char nearby[PATH_MAX];
    struct bench bench = {0};
    struct yk_text device = {0};
    if (!named && !find_nearby(nearby)) {
        printf("qkv: skipped, there is no " PLUGIN "; name one in YOKE_CUDA_PLUGIN\n");
        return 0;
    }
    must_status(yk_backend_load_plugin(named ? named : nearby, &bench.backend));
    if (bench.backend->open(&options, &bench.device) != YK_OK) {
        printf("qkv: skipped, %s\n", yk_status_message());
        return 0;
    }
    bench_open(&bench);
    measure_memory(&bench);
    bench.backend->describe(bench.device, &device);
    printf("qkv: %s; copies move %.0f GB/s; microseconds, medians of %d\n\n",
           yk_text_chars(&device), bench.bandwidth_bytes_per_s / 1e9, ROUNDS);
    yk_text_free(&device);
    measure_costs(&bench);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        measure_shape(&bench, &shapes[i]);
    }
    bench.backend->free(bench.device, bench.long_room);
    bench_close(&bench);
    bench.backend->close(bench.device);
    return 0;
}
