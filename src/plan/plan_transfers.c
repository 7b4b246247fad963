/* Plan transfers: the member "order" of a plan file. */
#include "plan/plan_json.h"

#include "base/number.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    LONGEST_WORD = 200, /* characters of a slot or a transfer */
};

struct reading {
    const struct yk_model *model;
    const struct yk_name_index *layers;
    struct yk_plan *plan;
    const struct yk_json **slots; /* (slots) the transfers of each, or NULL */
    size_t *places;               /* (slots) the slot's index in the file */
};

/* The slots in which no layer computes. */
static const char *const gap_names[] = {"middle", "end", "begin"};

static int32_t gap_slot(const struct yk_plan *plan, size_t gap)
{
    return gap == 0 ? plan->layer_count : 2 * plan->layer_count + (int32_t)gap;
}

/* The text after `word` and a space, or NULL if `text` does not begin so. */
static const char *after(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && text[length] == ' ' ? text + length + 1 : NULL;
}

static yk_status read_slot(const struct reading *reading, const char *text, int32_t *out)
{
    int32_t layer = 0;
    for (size_t i = 0; i < COUNT(gap_names); i++) {
        if (strcmp(text, gap_names[i]) == 0) {
            *out = gap_slot(reading->plan, i);
            return YK_OK;
        }
    }
    const char *forward = after(text, "forward");
    const char *backward = after(text, "backward");
    if (!forward && !backward) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" is no slot; those are \"forward LAYER\", \"middle\", \"backward "
                       "LAYER\", \"end\" and \"begin\"",
                       text);
    }
    YK_TRY(yk_name_index_find_or_fail(reading->layers, forward ? forward : backward,
                                      YK_PLAN_UNKNOWN_LAYER_MESSAGE, &layer));
    *out = forward ? layer : 2 * reading->plan->layer_count - layer;
    return YK_OK;
}

/* "3" or "0-3". */
static bool read_range(const char *text, struct yk_plan_transfer *out)
{
    int64_t first = 0;
    int64_t last = 0;
    const size_t digits = strspn(text, "0123456789");
    const char *second = text[digits] == '-' ? text + digits + 1 : text;
    const size_t length = strspn(second, "0123456789");
    if (second[length] != '\0' || !yk_number_parse_integer(text, digits, &first) ||
        !yk_number_parse_integer(second, length, &last) || last < first || last >= INT32_MAX) {
        return false;
    }
    out->first_block = (int32_t)first;
    out->block_count = (int32_t)(last - first + 1);
    return true;
}

/* Reads " blocks 0-3" at the end of `text`, if present, and removes it. */
static yk_status cut_blocks(char *text, struct yk_plan_transfer *out)
{
    char *found = strstr(text, " block");
    if (!found) {
        return YK_OK;
    }
    char *range = found + strlen(" block");
    range += *range == 's' ? 1 : 0;
    if (*range != ' ' || !read_range(range + 1, out)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be \"block 3\" or \"blocks 0-3\"", found + 1);
    }
    *found = '\0';
    return YK_OK;
}

static yk_status read_transfer(const struct reading *reading, const struct yk_json *node,
                               int32_t slot, struct yk_plan_transfer *out)
{
    char layer_name[LONGEST_WORD];
    const char *text = NULL;
    const char *name = NULL;
    *out = (struct yk_plan_transfer){.slot = slot, .block_count = 0};
    YK_TRY(yk_json_read_nonempty_string(node, "do", &text));
    for (int i = YK_TRANSFER_ALL_GATHER; i <= YK_TRANSFER_ALL_REDUCE && !name; i++) {
        out->kind = (enum yk_transfer_kind)i;
        name = after(text, yk_plan_transfer_kind_name(out->kind));
    }
    if (!name || strlen(name) >= sizeof layer_name) {
        return yk_fail(
            YK_ERROR_INPUT,
            "\"%s\" is no transfer; those are \"all_gather LAYER\", \"reduce_scatter LAYER\" and "
            "\"all_reduce LAYER\", all with \"blocks 0-3\" at the end if not all of it "
            "travels",
            text);
    }
    memcpy(layer_name, name, strlen(name) + 1);
    YK_TRY(cut_blocks(layer_name, out));
    YK_TRY(yk_name_index_find_or_fail(reading->layers, layer_name, YK_PLAN_UNKNOWN_LAYER_MESSAGE,
                                      &out->layer));
    if (out->block_count == 0) {
        out->block_count = yk_plan_layer_block_count(reading->plan, reading->model, out->layer);
    }
    return YK_OK;
}

static yk_status read_during(struct reading *reading, const struct yk_json *node, size_t place)
{
    static const char *const known[] = {"during", "do"};
    const struct yk_json *list = NULL;
    const char *during = NULL;
    int32_t slot = 0;
    YK_TRY(yk_json_check_object_keys(node, known, COUNT(known)));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(node, "during"), "during", &during));
    YK_TRY(read_slot(reading, during, &slot));
    YK_TRY(yk_json_require_array(node, "do", &list));
    if (reading->slots[slot]) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is there already; put both into one", during);
    }
    reading->slots[slot] = list;
    reading->places[slot] = place;
    return YK_OK;
}

/* In the order of slots, which may differ from the file's. */
static yk_status read_transfers(const struct reading *reading)
{
    struct yk_plan *plan = reading->plan;
    for (int32_t slot = 0; slot < yk_plan_slot_count(plan); slot++) {
        const struct yk_json *list = reading->slots[slot];
        for (size_t i = 0; i < yk_json_array_count(list); i++) {
            struct yk_plan_transfer *transfer = &plan->transfers[plan->transfer_count];
            YK_TRY(yk_json_prefix_error_with_element(
                read_transfer(reading, yk_json_array_at(list, i), slot, transfer), "order",
                reading->places[slot], NULL));
            plan->transfer_count++;
        }
    }
    return YK_OK;
}

yk_status yk_plan_transfers_read_json(const struct yk_json *list, const struct yk_model *model,
                                      const struct yk_name_index *layers, struct yk_arena *arena,
                                      struct yk_plan *plan)
{
    struct reading reading = {.model = model, .layers = layers, .plan = plan};
    size_t count = 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, reading.slots, yk_plan_slot_count(plan));
    YK_TRY_NEW(arena, reading.places, yk_plan_slot_count(plan));
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        const struct yk_json *node = yk_json_array_at(list, i);
        YK_TRY(yk_json_prefix_error_with_element(read_during(&reading, node, i), "order", i, NULL));
        count += yk_json_array_count(yk_json_get_member(node, "do"));
    }
    if (count >= INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "order: %zu transfers are too many", count);
    }
    YK_TRY_NEW(arena, plan->transfers, count);
    return read_transfers(&reading);
}

static void write_slot(const struct yk_plan *plan, const struct yk_model *model, int32_t slot,
                       struct yk_text *out)
{
    const int32_t L = plan->layer_count;
    for (size_t i = 0; i < COUNT(gap_names); i++) {
        if (slot == gap_slot(plan, i)) {
            yk_text_add(out, gap_names[i]);
            return;
        }
    }
    yk_text_addf(out, "%s %s", slot < L ? "forward" : "backward",
                 model->layers[slot < L ? slot : 2 * L - slot].name);
}

static void write_transfer(const struct yk_plan *plan, const struct yk_model *model,
                           const struct yk_plan_transfer *transfer, struct yk_text *out)
{
    const int32_t last = transfer->first_block + transfer->block_count - 1;
    yk_text_addf(out, "%s %s", yk_plan_transfer_kind_name(transfer->kind),
                 model->layers[transfer->layer].name);
    if (transfer->first_block == last &&
        yk_plan_layer_block_count(plan, model, transfer->layer) > 1) {
        yk_text_addf(out, " block %d", last);
    } else if (transfer->block_count < yk_plan_layer_block_count(plan, model, transfer->layer)) {
        yk_text_addf(out, " blocks %d-%d", transfer->first_block, last);
    }
}

/* Writes the text as a string and frees it. */
static void write_text(struct yk_json_writer *json, const char *key, struct yk_text *text)
{
    yk_json_write_string(json, key, yk_text_chars(text));
    json->text->failed |= text->failed;
    yk_text_free(text);
}

void yk_plan_transfers_write_json(const struct yk_plan *plan, const struct yk_model *model,
                                  struct yk_json_writer *json)
{
    struct yk_text text = {0};
    yk_json_write_newline(json, 1);
    yk_json_write_begin_array(json, "order");
    for (int32_t i = 0; i < plan->transfer_count;) {
        const int32_t slot = plan->transfers[i].slot;
        yk_json_write_begin_object_on_new_line(json, 2);
        write_slot(plan, model, slot, &text);
        write_text(json, "during", &text);
        yk_json_write_begin_array(json, "do");
        for (; i < plan->transfer_count && plan->transfers[i].slot == slot; i++) {
            write_transfer(plan, model, &plan->transfers[i], &text);
            write_text(json, NULL, &text);
        }
        yk_json_write_end_array(json);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}
