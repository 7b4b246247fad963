#include "data/images/image_resize.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRECISION_BITS = 32 - 8 - 2 /* 8 bits of a pixel, 2 for sums beyond 255 and for the sign */
};

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1 : 0;
}

static double bilinear(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static double hamming(double x)
{
    x = fabs(x);
    if (x == 0) {
        return 1;
    }
    if (x >= 1) {
        return 0;
    }
    x *= M_PI;
    return sin(x) / x * (0.54 + 0.46 * cos(x));
}

/* Keys' cubic convolution (1981) with a = −0.5. */
static double bicubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1) {
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    }
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double sinc(double x)
{
    return x == 0 ? 1 : sin(x * M_PI) / (x * M_PI);
}

static double lanczos(double x)
{
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const struct filter {
    double (*weight)(double x); /* NULL: nearest neighbour */
    double support;             /* the weight is 0 beyond this distance */
} filters[YK_IMAGE_FILTER_COUNT] = {
    [YK_IMAGE_FILTER_NEAREST] = {NULL, 0},      [YK_IMAGE_FILTER_LANCZOS] = {lanczos, 3},
    [YK_IMAGE_FILTER_BILINEAR] = {bilinear, 1}, [YK_IMAGE_FILTER_BICUBIC] = {bicubic, 2},
    [YK_IMAGE_FILTER_BOX] = {box, 0.5},         [YK_IMAGE_FILTER_HAMMING] = {hamming, 1},
};

/* The weights of some output positions along one axis. */
struct weights {
    int64_t *first;  /* (count) first input position of each output position */
    int64_t *length; /* (count) number of input positions */
    int32_t *values; /* (count, most) */
    int64_t most;
};

static void free_weights(struct weights *weights)
{
    free(weights->first);
    free(weights->length);
    free(weights->values);
}

/* Computes the weights of one output position; `scratch` has room for `most` of them. */
static void weigh(const struct filter *filter, int64_t in, double scale, int64_t position,
                  double *scratch, int32_t *values, int64_t *out_first, int64_t *out_length)
{
    const double filter_scale = scale < 1 ? 1 : scale;
    const double support = filter->support * filter_scale;
    const double center = ((double)position + 0.5) * scale;
    const double shrink = 1 / filter_scale;
    int64_t first = (int64_t)(center - support + 0.5);
    int64_t end = (int64_t)(center + support + 0.5);
    double sum = 0;
    first = first < 0 ? 0 : first;
    end = end > in ? in : end;
    for (int64_t i = first; i < end; i++) {
        scratch[i - first] = filter->weight(((double)i - center + 0.5) * shrink);
        sum += scratch[i - first];
    }
    for (int64_t i = 0; i < end - first; i++) {
        const double weight = sum != 0 ? scratch[i] / sum : scratch[i];
        values[i] = (int32_t)((weight < 0 ? -0.5 : 0.5) + weight * (1 << PRECISION_BITS));
    }
    *out_first = first;
    *out_length = end - first;
}

/* Computes the weights of the output positions from `begin` on when `in` positions become `out`. */
static yk_status compute_weights(const struct filter *filter, int64_t in, int64_t out,
                                 int64_t begin, int64_t count, struct weights *weights)
{
    const double scale = (double)in / (double)out;
    const double support = filter->support * (scale < 1 ? 1 : scale);
    weights->most = (int64_t)ceil(support) * 2 + 1;
    weights->first = calloc((size_t)count, sizeof *weights->first);
    weights->length = calloc((size_t)count, sizeof *weights->length);
    weights->values = calloc((size_t)count, (size_t)weights->most * sizeof *weights->values);
    double *scratch = calloc((size_t)weights->most, sizeof *scratch);
    if (!weights->first || !weights->length || !weights->values || !scratch) {
        free(scratch);
        return yk_fail_out_of_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        weigh(filter, in, scale, begin + i, scratch, weights->values + i * weights->most,
              &weights->first[i], &weights->length[i]);
    }
    free(scratch);
    return YK_OK;
}

static inline uint8_t clip(int32_t sum)
{
    const int32_t value = sum >> PRECISION_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Four sums at a time, of which the fourth is not used: the compiler makes one vector of them. The
 * last pixel of all therefore reads a byte beyond it, which is there (yk_image_allocate()). */
static void scale_row_of_3(const uint8_t *row, const struct weights *weights, int64_t count,
                           uint8_t *out)
{
    for (int64_t x = 0; x < count; x++) {
        const uint8_t *from = row + 3 * weights->first[x];
        const int32_t *values = weights->values + x * weights->most;
        const int64_t length = weights->length[x];
        int32_t sums[4];
        for (int c = 0; c < 4; c++) {
            sums[c] = 1 << (PRECISION_BITS - 1);
        }
        for (int64_t i = 0; i < length; i++) {
            for (int c = 0; c < 4; c++) {
                sums[c] += from[3 * i + c] * values[i];
            }
        }
        for (int c = 0; c < 3; c++) {
            out[3 * x + c] = clip(sums[c]);
        }
    }
}

static void scale_row_of_1(const uint8_t *row, const struct weights *weights, int64_t count,
                           uint8_t *out)
{
    for (int64_t x = 0; x < count; x++) {
        const uint8_t *from = row + weights->first[x];
        const int32_t *values = weights->values + x * weights->most;
        int32_t sum = 1 << (PRECISION_BITS - 1);
        for (int64_t i = 0; i < weights->length[x]; i++) {
            sum += from[i] * values[i];
        }
        out[x] = clip(sum);
    }
}

/* One pass over rows or columns of pixels, from (in_height, …) to (height, width, channels). */
struct pass {
    const uint8_t *in;
    int64_t stride; /* bytes from one row of the input to the next */
    int64_t height; /* of the output */
    int64_t width;  /* of the output */
    int64_t channels;
    const struct weights *weights;
    uint8_t *out;
};

static void scale_rows(const struct pass *pass)
{
    for (int64_t y = 0; y < pass->height; y++) {
        const uint8_t *row = pass->in + y * pass->stride;
        uint8_t *out = pass->out + y * pass->width * pass->channels;
        if (pass->channels == 3) {
            scale_row_of_3(row, pass->weights, pass->width, out);
        } else {
            scale_row_of_1(row, pass->weights, pass->width, out);
        }
    }
}

/* `sums` has room for a row. */
static void scale_columns(const struct pass *pass, int32_t *sums)
{
    const int64_t row_bytes = pass->width * pass->channels;
    for (int64_t y = 0; y < pass->height; y++) {
        const uint8_t *rows = pass->in + pass->weights->first[y] * pass->stride;
        const int32_t *values = pass->weights->values + y * pass->weights->most;
        uint8_t *out = pass->out + y * row_bytes;
        for (int64_t x = 0; x < row_bytes; x++) {
            sums[x] = 1 << (PRECISION_BITS - 1);
        }
        for (int64_t i = 0; i < pass->weights->length[y]; i++) {
            const uint8_t *row = rows + i * pass->stride;
            const int32_t value = values[i];
            for (int64_t x = 0; x < row_bytes; x++) {
                sums[x] += row[x] * value;
            }
        }
        for (int64_t x = 0; x < row_bytes; x++) {
            out[x] = clip(sums[x]);
        }
    }
}

static void copy_rows(const struct pass *pass)
{
    const size_t row_bytes = (size_t)(pass->width * pass->channels);
    for (int64_t y = 0; y < pass->height; y++) {
        memcpy(pass->out + (size_t)y * row_bytes, pass->in + y * pass->stride, row_bytes);
    }
}

/* What a resize allocates. */
struct work {
    struct weights across; /* of columns; empty if the width stays */
    struct weights down;   /* of rows; empty if the height stays */
    uint8_t *between;      /* the result of the first of two passes */
    int32_t *sums;
};

/* The input positions that some output positions need. */
static int64_t span_of(const struct weights *weights, int64_t count, int64_t *out_first)
{
    *out_first = weights->first[0];
    return weights->first[count - 1] + weights->length[count - 1] - *out_first;
}

/* Makes the weights count from `first` on. */
static void shift_weights(struct weights *weights, int64_t count, int64_t first)
{
    for (int64_t i = 0; i < count; i++) {
        weights->first[i] -= first;
    }
}

static yk_status allocate_between(struct work *work, int64_t height, int64_t width,
                                  int64_t channels, int64_t sums)
{
    work->between = malloc((size_t)(height * width * channels) + 1);
    work->sums = malloc((size_t)(sums * channels) * sizeof *work->sums);
    YK_TRY_ALLOCATED(work->between && work->sums);
    return YK_OK;
}

/* Scales rows, then columns. `from` is the source, whose rows are `stride` bytes apart. */
static yk_status scale_rows_first(const uint8_t *from, int64_t stride, int64_t channels,
                                  const struct yk_image_rectangle *window, struct work *work,
                                  uint8_t *out)
{
    int64_t first = 0;
    const int64_t rows = span_of(&work->down, window->height, &first);
    YK_TRY(allocate_between(work, rows, window->width, channels, window->width));
    scale_rows(&(struct pass){from + first * stride, stride, rows, window->width, channels,
                              &work->across, work->between});
    shift_weights(&work->down, window->height, first);
    scale_columns(&(struct pass){work->between, window->width * channels, window->height,
                                 window->width, channels, &work->down, out},
                  work->sums);
    return YK_OK;
}

/* Scales columns, then rows. */
static yk_status scale_columns_first(const uint8_t *from, int64_t stride, int64_t channels,
                                     const struct yk_image_rectangle *window, struct work *work,
                                     uint8_t *out)
{
    int64_t first = 0;
    const int64_t columns = span_of(&work->across, window->width, &first);
    YK_TRY(allocate_between(work, window->height, columns, channels, columns));
    scale_columns(&(struct pass){from + first * channels, stride, window->height, columns, channels,
                                 &work->down, work->between},
                  work->sums);
    shift_weights(&work->across, window->width, first);
    scale_rows(&(struct pass){work->between, columns * channels, window->height, window->width,
                              channels, &work->across, out});
    return YK_OK;
}

/* Which pass Pillow 13 does first; Pillow 12 and older always scale rows first. */
static bool columns_come_first(const struct yk_image_resize_request *request)
{
    const int64_t lost_rows = request->source.height - request->height;
    const int64_t lost_columns = request->source.width - request->width;
    return lost_rows > 0 && lost_rows > 2 * lost_columns;
}

static yk_status resize(const struct yk_image *image, const struct yk_image_resize_request *request,
                        struct work *work, uint8_t *out)
{
    const struct filter *filter = &filters[request->filter];
    const struct yk_image_rectangle *source = &request->source;
    const struct yk_image_rectangle *window = &request->window;
    const int64_t channels = image->channels;
    const int64_t stride = image->width * channels;
    const bool across = request->width != source->width;
    const bool down = request->height != source->height;
    const uint8_t *from = image->pixels + source->top * stride + source->left * channels;
    if (across) {
        YK_TRY(compute_weights(filter, source->width, request->width, window->left, window->width,
                               &work->across));
    }
    if (down) {
        YK_TRY(compute_weights(filter, source->height, request->height, window->top, window->height,
                               &work->down));
    }
    if (across && down) {
        return columns_come_first(request)
                   ? scale_columns_first(from, stride, channels, window, work, out)
                   : scale_rows_first(from, stride, channels, window, work, out);
    }
    struct pass pass = {from, stride, window->height, window->width, channels, &work->across, out};
    pass.in += across ? 0 : window->left * channels;
    pass.in += down ? 0 : window->top * stride;
    if (down) {
        YK_TRY(allocate_between(work, 1, 1, channels, window->width));
        pass.weights = &work->down;
        scale_columns(&pass, work->sums);
    } else if (across) {
        scale_rows(&pass);
    } else {
        copy_rows(&pass);
    }
    return YK_OK;
}

/* Nearest neighbour. Positions are sums of steps, as Pillow's are: a product rounds differently. */
static yk_status pick_nearest(const struct yk_image *image,
                              const struct yk_image_resize_request *request, uint8_t *out)
{
    const struct yk_image_rectangle *source = &request->source;
    const struct yk_image_rectangle *window = &request->window;
    const int64_t channels = image->channels;
    const double across = (double)source->width / (double)request->width;
    const double down = (double)source->height / (double)request->height;
    int64_t *columns = calloc((size_t)request->width, sizeof *columns);
    YK_TRY_ALLOCATED(columns);
    double position = across * 0.5;
    for (int64_t x = 0; x < request->width; x++, position += across) {
        columns[x] = (int64_t)position < source->width ? (int64_t)position : source->width - 1;
    }
    position = down * 0.5;
    for (int64_t y = 0; y < window->top + window->height; y++, position += down) {
        const int64_t row =
            (int64_t)position < source->height ? (int64_t)position : source->height - 1;
        const uint8_t *from =
            image->pixels + ((source->top + row) * image->width + source->left) * channels;
        for (int64_t x = 0; y >= window->top && x < window->width; x++) {
            memcpy(out, from + columns[window->left + x] * channels, (size_t)channels);
            out += channels;
        }
    }
    free(columns);
    return YK_OK;
}

yk_status yk_image_resize_to(const struct yk_image *image,
                             const struct yk_image_resize_request *request, uint8_t *out)
{
    const struct yk_image_rectangle *source = &request->source;
    const struct yk_image_rectangle *window = &request->window;
    struct work work = {0};
    assert(source->top >= 0 && source->left >= 0 && source->height > 0 && source->width > 0 &&
           source->top + source->height <= image->height &&
           source->left + source->width <= image->width);
    assert(window->top >= 0 && window->left >= 0 && window->height > 0 && window->width > 0 &&
           window->top + window->height <= request->height &&
           window->left + window->width <= request->width);
    if (!filters[request->filter].weight) {
        return pick_nearest(image, request, out);
    }
    const yk_status status = resize(image, request, &work, out);
    free_weights(&work.across);
    free_weights(&work.down);
    free(work.between);
    free(work.sums);
    return status;
}
