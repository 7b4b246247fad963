#include "job/planning/order_output.h"
#include "planner/order_slots.h"
#include "planner/order_sums.h"

static void add_number(struct yk_text *out, const char *key, double value)
{
    yk_text_addf(out, ",\"%s\":", key);
    yk_text_add_number(out, value);
}

static void add_kept(const struct yk_order_output *output, struct yk_text *out)
{
    const char *comma = "";
    yk_text_add(out, ",\"kept\":[");
    for (int32_t i = 0; i < output->problem->layer_count; i++) {
        if (output->order->kept[i]) {
            yk_text_addf(out, "%s%d", comma, i);
            comma = ",";
        }
    }
    yk_text_add(out, "]");
}

static void add_transfer(const struct yk_order_output *output,
                         const struct yk_plan_transfer *transfer, struct yk_text *out)
{
    const bool backward = transfer->kind != YK_TRANSFER_GATHER ||
                          yk_order_output_is_for_backward(output->problem, transfer);
    yk_text_addf(out, "{\"op\":\"%s\",\"layer\":%d,\"blocks\":%d,\"pass\":\"%s\"}",
                 yk_transfer_name(transfer->kind), transfer->layer, transfer->block_count,
                 backward ? "backward" : "forward");
}

static void add_slots(const struct yk_order_output *output, struct yk_text *out)
{
    int32_t next = 0;
    yk_text_add(out, ",\"order\":[");
    for (int32_t t = 0; t < yk_order_slot_count(output->problem); t++) {
        char name[YK_ORDER_SLOT_NAME_SIZE];
        const char *comma = "";
        yk_order_slot_name(output->problem, t, name);
        yk_text_add(out, t > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        yk_text_add_json(out, name);
        add_number(out, "compute_s", output->problem->compute_s[t]);
        add_number(out, "comm_s", output->load_s[t]);
        add_number(out, "used_bytes", output->used_bytes[t]);
        add_number(out, "room_bytes", output->problem->room_bytes[t]);
        yk_text_add(out, ",\"transfers\":[");
        while (next < output->transfer_count && output->transfers[next].slot == t) {
            yk_text_add(out, comma);
            add_transfer(output, &output->transfers[next++], out);
            comma = ",";
        }
        yk_text_add(out, "]}");
    }
    yk_text_add(out, "]");
}

yk_status yk_order_write_json(const struct yk_order_output *output, struct yk_text *out)
{
    const struct yk_order *order = output->order;
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"order\",\"source\":");
    yk_text_add_json(out, output->source);
    yk_text_add(out, ",\"method\":");
    yk_text_add_json(out, output->method);
    yk_text_add(out, ",\"found_by\":");
    yk_text_add_json(out, order->method);
    add_number(out, "step_s", order->step_s);
    add_number(out, "bound_s", order->bound_s);
    add_number(out, "gap", yk_order_output_gap(order));
    add_number(out, "seconds", output->seconds);
    yk_text_addf(out, ",\"layers\":%d", output->problem->layer_count);
    add_kept(output, out);
    add_slots(output, out);
    yk_text_add(out, "}\n");
    return yk_text_status(out);
}
