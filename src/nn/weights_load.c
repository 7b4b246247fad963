/* Reading a model's weights: whose names differ, what may be missing, and what is left over. */
#include "base/log.h"
#include "base/text.h"
#include "nn/weights.h"
#include "nn/weights_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTED = 3,     /* names of tensors that are not used */
    PIECE = 1 << 12 /* numbers compared at a time */
};

static const char HEAD[] = "lm_head.weight";

/* The name below the model's own module: GPT-2 was published without it, as is any model that was
 * saved without its head. NULL where there is none. */
static const char *short_name(const char *name)
{
    static const char *const prefixes[] = {"transformer.", "model."};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0) {
            return name + length;
        }
    }
    return NULL;
}

static yk_status find(const struct yk_tensor_set *set, const char *name,
                      const struct yk_tensor_place **out)
{
    const char *shorter = short_name(name);
    *out = yk_tensor_set_find(set, name);
    if (!*out && shorter) {
        *out = yk_tensor_set_find(set, shorter);
    }
    return *out ? YK_OK : yk_tensor_set_need(set, name, out);
}

/* Such a number would spread to everything in the first step. */
static yk_status check_finite(const struct yk_tensor_place *place, const float *numbers,
                              int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            return yk_fail(YK_ERROR_NUMBERS, "%s: number %" PRId64 " of \"%s\" is %g",
                           yk_tensor_file_path(place->file), i, place->entry->name,
                           (double)numbers[i]);
        }
    }
    return YK_OK;
}

static yk_status load_parameters(struct yk_store *store, const struct yk_tensor_set *set,
                                 float *room)
{
    const struct yk_net *net = store->net;
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            const struct yk_parameter *parameter = &net->layers[l].parameters[i];
            const struct yk_tensor_place *place = NULL;
            if (parameter->adapter) {
                continue;
            }
            YK_TRY(find(set, parameter->name, &place));
            YK_TRY(yk_weights_check(place, parameter));
            YK_TRY(yk_weights_read(place, 0, parameter->count, room));
            YK_TRY(check_finite(place, room, parameter->count));
            YK_TRY(yk_store_write(store, l, parameter, room));
        }
    }
    return YK_OK;
}

/* The table that a tied head uses, or NULL where the head has weights of its own. */
static const struct yk_parameter *tied_table(const struct yk_net *net)
{
    for (int32_t l = 0; l < net->layer_count; l++) {
        if (net->layers[l].leader != l) {
            return &net->layers[net->layers[l].leader].parameters[0];
        }
    }
    return NULL;
}

/* Trained as one tensor, they cannot be told apart afterwards: a head that differs would be lost.
 */
static yk_status check_head(const struct yk_tensor_set *set, const struct yk_parameter *table)
{
    const struct yk_tensor_place *head = table ? yk_tensor_set_find(set, HEAD) : NULL;
    const struct yk_tensor_place *embed = NULL;
    float ours[PIECE];
    float theirs[PIECE];
    if (!head) {
        return YK_OK;
    }
    YK_TRY(find(set, table->name, &embed));
    YK_TRY(yk_weights_check(head, table));
    for (int64_t done = 0; done < table->count; done += PIECE) {
        const int64_t length = table->count - done < PIECE ? table->count - done : PIECE;
        YK_TRY(yk_weights_read(embed, done, length, ours));
        YK_TRY(yk_weights_read(head, done, length, theirs));
        if (memcmp(ours, theirs, (size_t)length * sizeof *ours) != 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: \"%s\" and \"%s\" differ, but the config ties them; set "
                           "\"tie_word_embeddings\" to false to keep both",
                           yk_tensor_set_path(set), HEAD, embed->entry->name);
        }
    }
    return YK_OK;
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t length = strlen(name);
    const size_t wanted = strlen(ending);
    return length >= wanted && strcmp(name + length - wanted, ending) == 0;
}

/* Constants that the framework used to save with the weights. */
static bool is_buffer(const char *name)
{
    return ends_in(name, ".attn.bias") || ends_in(name, ".attn.masked_bias") ||
           ends_in(name, ".rotary_emb.inv_freq");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every name under which a parameter may be kept, in order. */
static yk_status list_names(const struct yk_net *net, const char ***out, size_t *out_count)
{
    size_t most = 1;
    size_t count = 0;
    for (int32_t l = 0; l < net->layer_count; l++) {
        most += 2 * (size_t)net->layers[l].parameter_count;
    }
    const char **names = malloc(most * sizeof *names);
    if (!names) {
        return yk_fail_out_of_memory();
    }
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            const char *name = net->layers[l].parameters[i].name;
            names[count++] = name;
            if (short_name(name)) {
                names[count++] = short_name(name);
            }
        }
    }
    qsort(names, count, sizeof *names, by_name);
    *out = names;
    *out_count = count;
    return YK_OK;
}

static yk_status note_others(const struct yk_tensor_set *set, const struct yk_net *net, bool tied)
{
    const char **names = NULL;
    size_t count = 0;
    struct yk_text listed = {0};
    int32_t others = 0;
    YK_TRY(list_names(net, &names, &count));
    for (int32_t i = 0; i < yk_tensor_set_count(set); i++) {
        const char *name = yk_tensor_set_at(set, i)->entry->name;
        if (is_buffer(name) || (tied && strcmp(name, HEAD) == 0) ||
            bsearch(&name, names, count, sizeof *names, by_name)) {
            continue;
        }
        if (others++ < LISTED) {
            yk_text_addf(&listed, "%s%s", listed.length > 0 ? ", " : "", name);
        }
    }
    if (others > 0) {
        yk_log(YK_LOG_NOTE, "%s: %d tensors that the model does not have are left out: %s%s",
               yk_tensor_set_path(set), others, yk_text_chars(&listed),
               others > LISTED ? " …" : "");
    }
    const yk_status status = yk_text_status(&listed);
    yk_text_free(&listed);
    free(names);
    return status;
}

yk_status yk_weights_load(struct yk_store *store, const char *path)
{
    struct yk_tensor_set *set = NULL;
    float *room = NULL;
    const struct yk_parameter *table = tied_table(store->net);
    YK_TRY(yk_tensor_set_open(path, &set));
    yk_status status = yk_weights_room(store->net, &room);
    if (status == YK_OK) {
        status = load_parameters(store, set, room);
    }
    if (status == YK_OK) {
        status = check_head(set, table);
    }
    if (status == YK_OK) {
        status = note_others(set, store->net, table != NULL);
    }
    free(room);
    yk_tensor_set_close(set);
    return status;
}
