#include "data/images/image_processor.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    WARPED_EDGE = 384, /* from this edge on, ConvNeXT resizes without a crop */
    MAX_PADDING = 1024
};

/* What Hugging Face's classes assume where the file says nothing. */
static const struct processor_type {
    const char *name; /* how the name of the class begins */
    bool
        shortest_edge; /* a size that is one number is that of the shortest edge, not of a square */
    bool center_crop;
    bool crop_fraction; /* ConvNeXT: the crop is a fraction of the size (crop_pct) */
    enum yk_image_filter filter;
    double mean[3];
    double std[3];
} types[] = {
#define STANDARD                                                                                   \
    {0.5, 0.5, 0.5},                                                                               \
    {                                                                                              \
        0.5, 0.5, 0.5                                                                              \
    }
#define IMAGENET                                                                                   \
    {0.485, 0.456, 0.406},                                                                         \
    {                                                                                              \
        0.229, 0.224, 0.225                                                                        \
    }
#define OPENAI                                                                                     \
    {0.48145466, 0.4578275, 0.40821073},                                                           \
    {                                                                                              \
        0.26862954, 0.26130258, 0.27577711                                                         \
    }
    {"ViT", false, false, false, YK_IMAGE_FILTER_BILINEAR, STANDARD},
    {"DeiT", false, true, false, YK_IMAGE_FILTER_BICUBIC, STANDARD},
    {"Beit", false, true, false, YK_IMAGE_FILTER_BICUBIC, STANDARD},
    {"Siglip", false, false, false, YK_IMAGE_FILTER_BICUBIC, STANDARD},
    {"CLIP", true, true, false, YK_IMAGE_FILTER_BICUBIC, OPENAI},
    {"ChineseCLIP", true, true, false, YK_IMAGE_FILTER_BICUBIC, OPENAI},
    {"Bit", true, true, false, YK_IMAGE_FILTER_BICUBIC, OPENAI},
    {"ConvNext", true, false, true, YK_IMAGE_FILTER_BICUBIC, STANDARD},
    {"Levit", true, true, false, YK_IMAGE_FILTER_BICUBIC, IMAGENET},
#undef STANDARD
#undef IMAGENET
#undef OPENAI
};

struct yk_image_processor yk_image_processor_make(int64_t channels, int64_t height, int64_t width)
{
    struct yk_image_processor processor = {
        .channels = channels,
        .height = height,
        .width = width,
        .resize = YK_IMAGE_RESIZE_EXACT,
        .resize_height = height,
        .resize_width = width,
        .filter = YK_IMAGE_FILTER_BILINEAR,
        .rescale = 1.0 / 255,
    };
    for (int c = 0; c < YK_IMAGE_PROCESSOR_MAX_CHANNELS; c++) {
        processor.mean[c] = 0.5;
        processor.std[c] = 0.5;
    }
    return processor;
}

int64_t yk_image_processor_bytes(const struct yk_image_processor *processor)
{
    return processor->channels * processor->height * processor->width;
}

/* A member that is there and not null, or NULL. */
static const struct yk_json *member_of(const struct yk_json *object, const char *key)
{
    const struct yk_json *node = yk_json_get_member(object, key);
    return yk_json_is_null(node) ? NULL : node;
}

static yk_status read_bool(const struct yk_json *object, const char *key, bool *out)
{
    return member_of(object, key) ? yk_json_get_bool(object, key, out) : YK_OK;
}

static yk_status read_number(const struct yk_json *object, const char *key, double *out)
{
    const struct yk_json *node = member_of(object, key);
    if (node && !yk_json_number_value(node, out)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s instead of a number", key,
                       yk_json_type_name(node));
    }
    return YK_OK;
}

static yk_status read_side(const struct yk_json *node, const char *key, int64_t *out)
{
    double value = 0;
    if (!yk_json_number_value(node, &value) || value != floor(value) || value < 1 ||
        value > YK_IMAGE_PROCESSOR_MAX_SIDE) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number of pixels, from 1 to %d", key,
                       YK_IMAGE_PROCESSOR_MAX_SIDE);
    }
    *out = (int64_t)value;
    return YK_OK;
}

/* A size: a number, a list of two, or an object with height and width or with shortest_edge. */
struct size {
    int64_t height;
    int64_t width;
    bool is_edge; /* it is that of the shortest edge; height and width are equal */
};

static yk_status read_size(const struct yk_json *node, const char *key, bool number_is_edge,
                           struct size *out)
{
    const struct yk_json *height = yk_json_get_member(node, "height");
    const struct yk_json *width = yk_json_get_member(node, "width");
    const struct yk_json *edge = member_of(node, "shortest_edge");
    if (yk_json_array_count(node) == 2) {
        height = yk_json_array_at(node, 0);
        width = yk_json_array_at(node, 1);
    }
    if (height && width && !edge) {
        out->is_edge = false;
        YK_TRY(read_side(height, key, &out->height));
        return read_side(width, key, &out->width);
    }
    if (yk_json_is_object(node) && !edge) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" needs \"height\" and \"width\", or \"shortest_edge\"", key);
    }
    out->is_edge = edge || number_is_edge;
    YK_TRY(read_side(edge ? edge : node, key, &out->height));
    out->width = out->height;
    return YK_OK;
}

/* ConvNeXT: below WARPED_EDGE, the image is resized to size / crop_pct, and cropped. */
static yk_status apply_crop_fraction(const struct yk_json *root, struct size *size, bool *crop,
                                     struct size *crop_size)
{
    double fraction = 224.0 / 256;
    YK_TRY(read_number(root, "crop_pct", &fraction));
    if (!(fraction > 0 && fraction <= 1)) {
        return yk_fail(YK_ERROR_INPUT, "\"crop_pct\" must be above 0, up to 1");
    }
    *crop_size = *size;
    *crop = size->height < WARPED_EDGE;
    size->is_edge = *crop;
    if (*crop) {
        size->height = size->width = (int64_t)((double)size->height / fraction);
    }
    if (size->height > YK_IMAGE_PROCESSOR_MAX_SIDE) {
        return yk_fail(YK_ERROR_INPUT, "\"crop_pct\" makes images of more than %d pixels",
                       YK_IMAGE_PROCESSOR_MAX_SIDE);
    }
    return YK_OK;
}

static yk_status read_geometry(const struct yk_json *root, const struct processor_type *type,
                               struct yk_image_processor *processor)
{
    const struct yk_json *size_node = member_of(root, "size");
    const struct yk_json *crop_node = member_of(root, "crop_size");
    struct size size = {processor->height, processor->width, type->shortest_edge};
    struct size crop_size = {processor->height, processor->width, false};
    bool resize = true;
    bool crop = type->center_crop;
    YK_TRY(read_bool(root, "do_resize", &resize));
    YK_TRY(read_bool(root, "do_center_crop", &crop));
    if (size_node) {
        YK_TRY(read_size(size_node, "size", type->shortest_edge, &size));
    }
    if (crop_node) {
        YK_TRY(read_size(crop_node, "crop_size", false, &crop_size));
    }
    if (type->crop_fraction && resize) {
        YK_TRY(apply_crop_fraction(root, &size, &crop, &crop_size));
    }
    processor->resize = !resize        ? YK_IMAGE_RESIZE_NONE
                        : size.is_edge ? YK_IMAGE_RESIZE_SHORTEST_EDGE
                                       : YK_IMAGE_RESIZE_EXACT;
    processor->resize_height = size.height;
    processor->resize_width = size.width;
    processor->center_crop = crop;
    const bool known = crop || processor->resize == YK_IMAGE_RESIZE_EXACT;
    const struct size *final = crop ? &crop_size : &size;
    if (known && (final->height != processor->height || final->width != processor->width)) {
        return yk_fail(YK_ERROR_INPUT,
                       "it makes images of %" PRId64 " × %" PRId64 " pixels, but the model takes "
                       "%" PRId64 " × %" PRId64 ": make \"%s\" and the model's image_size equal",
                       final->width, final->height, processor->width, processor->height,
                       crop ? "crop_size" : "size");
    }
    return YK_OK;
}

/* One number for all channels, a list with one for each, or a list of equal numbers. */
static yk_status read_channels(const struct yk_json *root, const char *key, int64_t channels,
                               double *out)
{
    const struct yk_json *node = member_of(root, key);
    const size_t count = yk_json_array_count(node);
    if (!node) {
        return YK_OK;
    }
    for (int64_t c = 0; c < channels; c++) {
        const struct yk_json *element =
            count == 0 ? node : yk_json_array_at(node, count == 1 ? 0 : (size_t)c);
        if (!yk_json_number_value(element, &out[c])) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"%s\" must be a list of %" PRId64 " numbers, one for each channel",
                           key, channels);
        }
    }
    for (size_t c = (size_t)channels; c < count; c++) {
        double other = NAN;
        if (!yk_json_number_value(yk_json_array_at(node, c), &other) || other != out[0]) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"%s\" has %zu numbers, but the model takes %" PRId64 " channel%s", key,
                           count, channels, channels == 1 ? "" : "s");
        }
    }
    return YK_OK;
}

static yk_status read_values(const struct yk_json *root, const struct processor_type *type,
                             struct yk_image_processor *processor)
{
    bool rescale = true;
    bool normalize = true;
    YK_TRY(read_bool(root, "do_rescale", &rescale));
    YK_TRY(read_bool(root, "do_normalize", &normalize));
    processor->rescale = 1.0 / 255;
    YK_TRY(read_number(root, "rescale_factor", &processor->rescale));
    for (int64_t c = 0; c < processor->channels; c++) {
        processor->mean[c] = type->mean[c < 3 ? c : 0];
        processor->std[c] = type->std[c < 3 ? c : 0];
    }
    YK_TRY(read_channels(root, "image_mean", processor->channels, processor->mean));
    YK_TRY(read_channels(root, "image_std", processor->channels, processor->std));
    processor->rescale = rescale ? processor->rescale : 1;
    for (int64_t c = 0; c < processor->channels; c++) {
        processor->mean[c] = normalize ? processor->mean[c] : 0;
        processor->std[c] = normalize ? processor->std[c] : 1;
        if (!(processor->std[c] > 0)) {
            return yk_fail(YK_ERROR_INPUT, "\"image_std\" must be above 0");
        }
    }
    if (!(processor->rescale > 0)) {
        return yk_fail(YK_ERROR_INPUT, "\"rescale_factor\" must be above 0");
    }
    return YK_OK;
}

static const struct processor_type *find_type(const struct yk_json *root)
{
    const char *name = yk_json_string_value(yk_json_get_member(root, "image_processor_type"));
    if (!name) {
        name = yk_json_string_value(yk_json_get_member(root, "feature_extractor_type"));
    }
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++) {
        if (strncmp(name, types[i].name, strlen(types[i].name)) == 0) {
            return &types[i];
        }
    }
    return &types[0];
}

static yk_status read_root(const struct yk_json *root, struct yk_image_processor *processor)
{
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "it is %s instead of an object", yk_json_type_name(root));
    }
    /* processor_config.json keeps the settings of images in a member. */
    const struct yk_json *inner = member_of(root, "image_processor");
    root = yk_json_is_object(inner) ? inner : root;
    const struct processor_type *type = find_type(root);
    double filter = type->filter;
    YK_TRY(read_number(root, "resample", &filter));
    if (!(filter >= 0 && filter < YK_IMAGE_FILTER_COUNT) || filter != floor(filter)) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"resample\" must be the number of one of Pillow's filters, 0 to %d",
                       YK_IMAGE_FILTER_COUNT - 1);
    }
    processor->filter = (enum yk_image_filter)filter;
    YK_TRY(read_geometry(root, type, processor));
    return read_values(root, type, processor);
}

yk_status yk_image_processor_parse(const char *text, size_t length, const char *source,
                                   struct yk_image_processor *processor)
{
    struct yk_image_processor changed = *processor;
    YK_TRY_WITH_PARSED_FOREIGN_JSON(root, text, length, source, read_root(root, &changed));
    *processor = changed;
    return YK_OK;
}

static yk_status read_file(const char *path, struct yk_image_processor *processor)
{
    struct yk_text text = {0};
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(yk_image_processor_parse(yk_text_chars(&text), text.length, path, processor));
    yk_text_free(&text);
    return status;
}

yk_status yk_image_processor_read_folder(const char *folder, struct yk_image_processor *processor)
{
    static const char *const names[] = {"preprocessor_config.json", "processor_config.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (yk_folder_contains(folder, names[i])) {
            struct yk_text path = {0};
            yk_text_addf(&path, "%s/%s", folder, names[i]);
            yk_status status = yk_text_status(&path);
            YK_IF_OK(read_file(yk_text_chars(&path), processor));
            yk_text_free(&path);
            return status;
        }
    }
    return YK_OK;
}

static yk_status read_none(const char *value, size_t length, struct yk_image_augmentation *out)
{
    (void)value;
    *out = (struct yk_image_augmentation){0};
    return length == 0 ? YK_OK : yk_fail(YK_ERROR_USAGE, "\"none\" takes no value");
}

static yk_status read_flip(const char *value, size_t length, struct yk_image_augmentation *out)
{
    double probability = 0.5;
    if (length > 0 && (!yk_number_parse(value, length, &probability) ||
                       !(probability >= 0 && probability <= 1))) {
        return yk_fail(YK_ERROR_USAGE, "flip=%.*s: a probability is from 0 to 1", (int)length,
                       value);
    }
    out->flip_probability = probability;
    return YK_OK;
}

static yk_status read_pad_crop(const char *value, size_t length, struct yk_image_augmentation *out)
{
    int64_t padding = 0;
    if (!yk_number_parse_integer(value, length, &padding) || padding < 1 || padding > MAX_PADDING) {
        return yk_fail(
            YK_ERROR_USAGE,
            "pad-crop=%.*s: say how many pixels are added at each side, 1 to %d, such as "
            "pad-crop=4",
            (int)length, value, MAX_PADDING);
    }
    out->padding = padding;
    return YK_OK;
}

static yk_status read_resized_crop(const char *value, size_t length,
                                   struct yk_image_augmentation *out)
{
    const char *colon = memchr(value, ':', length);
    double low = 0.08;
    double high = 1;
    bool valid = length == 0;
    if (colon) {
        const size_t first = (size_t)(colon - value);
        valid = yk_number_parse(value, first, &low) &&
                yk_number_parse(colon + 1, length - first - 1, &high) && low > 0 && low <= high &&
                high <= 1;
    }
    if (!valid) {
        return yk_fail(YK_ERROR_USAGE,
                       "resized-crop=%.*s: say which fractions of the area are cropped, such as "
                       "resized-crop=0.08:1",
                       (int)length, value);
    }
    out->min_area = low;
    out->max_area = high;
    out->min_ratio = 3.0 / 4;
    out->max_ratio = 4.0 / 3;
    return YK_OK;
}

static const struct augmentation {
    const char *name;
    yk_status (*read)(const char *value, size_t length, struct yk_image_augmentation *out);
} augmentations[] = {
    {"none", read_none},
    {"flip", read_flip},
    {"pad-crop", read_pad_crop},
    {"resized-crop", read_resized_crop},
};

/* One item of the list: NAME or NAME=VALUE. */
static yk_status read_augmentation(const char *item, size_t length,
                                   struct yk_image_augmentation *out)
{
    const char *equals = memchr(item, '=', length);
    const size_t name_length = equals ? (size_t)(equals - item) : length;
    const char *value = equals ? equals + 1 : item + length;
    for (size_t i = 0; i < sizeof augmentations / sizeof *augmentations; i++) {
        if (strlen(augmentations[i].name) == name_length &&
            strncmp(item, augmentations[i].name, name_length) == 0) {
            return augmentations[i].read(value, (size_t)(item + length - value), out);
        }
    }
    return yk_fail(YK_ERROR_USAGE,
                   "no such augmentation: \"%.*s\" (none, flip, pad-crop=N or resized-crop)",
                   (int)length, item);
}

yk_status yk_image_processor_parse_augmentation(const char *list, struct yk_image_augmentation *out)
{
    struct yk_image_augmentation augmentation = {0};
    while (true) {
        const size_t length = strcspn(list, ",");
        YK_TRY(read_augmentation(list, length, &augmentation));
        if (list[length] == '\0') {
            break;
        }
        list += length + 1;
    }
    *out = augmentation;
    return YK_OK;
}
