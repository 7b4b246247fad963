/* The map of a cluster. Devices of one node that differ in nothing but their names (same type and
 * memory, same links to all others) are a group; the map shows groups, and links between them. */
#include "report/csv.h"
#include "report/label.h"
#include "report/plan/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct group {
    const char *name; /* "gpu0 rtx6000ada", or "rtx3090 ×2" of several */
    int32_t device;   /* the first, which stands for the others */
    int32_t last;     /* the last of them; the same device when there is one */
    int32_t count;
    bool used; /* by the plan */
};

struct groups {
    const struct yk_cluster *cluster;
    const struct group *all; /* by node, then by device */
    int32_t count;
};

static int32_t node_of_group(const struct groups *groups, int32_t group)
{
    return groups->cluster->devices[groups->all[group].device].node;
}

static bool same_link(const struct yk_link *a, const struct yk_link *b)
{
    return a->latency_s == b->latency_s && a->bytes_per_s == b->bytes_per_s;
}

static bool alike(const struct yk_cluster *cluster, const bool *used, int32_t a, int32_t b)
{
    const struct yk_device *one = &cluster->devices[a];
    const struct yk_device *other = &cluster->devices[b];
    if (used[a] != used[b] || one->node != other->node ||
        strcmp(one->type ? one->type : "", other->type ? other->type : "") != 0 ||
        one->memory_bytes != other->memory_bytes || one->fraction != other->fraction) {
        return false;
    }
    for (int32_t k = 0; k < cluster->device_count; k++) {
        if (k != a && k != b &&
            !same_link(yk_cluster_link_between(cluster, a, k),
                       yk_cluster_link_between(cluster, b, k))) {
            return false;
        }
    }
    return true;
}

static yk_status find_groups(const struct yk_plan_result *result, struct yk_arena *arena,
                             struct groups *out)
{
    const struct yk_cluster *cluster = result->cluster;
    struct group *groups = NULL;
    bool *used = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, groups, cluster->device_count);
    YK_TRY_NEW(arena, used, cluster->device_count);
    for (int32_t r = 0; r < result->plan->rank_count; r++) {
        used[result->plan->ranks[r].device] = true;
    }
    for (int32_t node = 0; node < cluster->node_count; node++) {
        for (int32_t d = 0; d < cluster->device_count; d++) {
            if (cluster->devices[d].node != node) {
                continue;
            }
            int32_t s = count - 1;
            while (s >= 0 && !alike(cluster, used, groups[s].device, d)) {
                s--;
            }
            if (s < 0) {
                s = count++;
                groups[s] = (struct group){.device = d, .used = used[d]};
            }
            groups[s].last = d;
            groups[s].count++;
        }
    }
    for (int32_t s = 0; s < count; s++) {
        YK_TRY(yk_equal_ranks_make_device_label(&cluster->devices[groups[s].device],
                                                groups[s].count, arena, &groups[s].name));
    }
    *out = (struct groups){.cluster = cluster, .all = groups, .count = count};
    return YK_OK;
}

/* The link between two groups, or between the devices of one group; NULL if it has one device. */
static const struct yk_link *link_of(const struct groups *groups, int32_t a, int32_t b)
{
    const struct group *one = &groups->all[a];
    const struct group *other = &groups->all[b];
    if (a != b) {
        return yk_cluster_link_between(groups->cluster, one->device, other->device);
    }
    return one->count > 1 ? yk_cluster_link_between(groups->cluster, one->device, one->last) : NULL;
}

/* ---- the picture ---- */

enum {
    MARGIN = 14,
    TRUNK = 22, /* width of the wire left of several nodes */
    GAP = 14,
    MIN_BOX = 210,
    HEAD_HEIGHT = 26,
    CHIP_HEIGHT = 42,
    CHIP_GAP = 6,
    FOOT_HEIGHT = 24,
    CELL_WIDTH = 58,
    CELL_HEIGHT = 20,
};

/* A node, or several consecutive nodes that look the same. */
struct box {
    int32_t node;
    int32_t node_count;
    int32_t first; /* of its groups */
    int32_t group_count;
};

/* The slowest and the fastest of some links. */
struct speeds {
    double low;
    double high;
};

struct picture {
    struct yk_figure figure;
    const struct groups *groups;
    struct box *boxes;
    int32_t box_count;
    int32_t columns;
    double left;
    double box_width;
    struct speeds inside;  /* of nodes */
    struct speeds between; /* nodes */
};

static void include(struct speeds *speeds, const struct yk_link *link)
{
    if (link) {
        speeds->low = speeds->high > 0 ? fmin(speeds->low, link->bytes_per_s) : link->bytes_per_s;
        speeds->high = fmax(speeds->high, link->bytes_per_s);
    }
}

/* The links within `node`; -1: within any node. */
static struct speeds speeds_inside(const struct groups *groups, int32_t node)
{
    struct speeds speeds = {0};
    for (int32_t a = 0; a < groups->count; a++) {
        const int32_t node_of = node_of_group(groups, a);
        for (int32_t b = a; b < groups->count && node_of_group(groups, b) == node_of; b++) {
            if (node < 0 || node == node_of) {
                include(&speeds, link_of(groups, a, b));
            }
        }
    }
    return speeds;
}

static struct speeds speeds_between(const struct groups *groups)
{
    struct speeds speeds = {0};
    for (int32_t a = 0; a < groups->count; a++) {
        for (int32_t b = a + 1; b < groups->count; b++) {
            if (node_of_group(groups, a) != node_of_group(groups, b)) {
                include(&speeds, link_of(groups, a, b));
            }
        }
    }
    return speeds;
}

static void add_speeds(const char *before, struct speeds speeds, char *out, size_t room)
{
    const char *low = YK_UNITS_FORMAT_TEMPORARY(speeds.low, YK_UNIT_BYTES_PER_S);
    const char *high = YK_UNITS_FORMAT_TEMPORARY(speeds.high, YK_UNIT_BYTES_PER_S);
    snprintf(out, room, strcmp(low, high) == 0 ? "%sall %s" : "%s%s to %s", before, low, high);
}

static bool same_group(const struct groups *groups, int32_t a, int32_t b)
{
    const struct group *one = &groups->all[a];
    const struct group *other = &groups->all[b];
    const struct yk_device *left = &groups->cluster->devices[one->device];
    const struct yk_device *right = &groups->cluster->devices[other->device];
    const struct yk_link *left_link = link_of(groups, a, a);
    const struct yk_link *right_link = link_of(groups, b, b);
    return one->count == other->count && one->used == other->used && left->type && right->type &&
           strcmp(left->type, right->type) == 0 && left->memory_bytes == right->memory_bytes &&
           left->fraction == right->fraction &&
           (!left_link || left_link->bytes_per_s == right_link->bytes_per_s);
}

/* Nodes are drawn as one only if they are interchangeable. */
static bool same_box(const struct picture *picture, const struct box *a, const struct box *b)
{
    if (picture->between.low != picture->between.high || a->group_count != b->group_count) {
        return false;
    }
    for (int32_t i = 0; i < a->group_count; i++) {
        if (!same_group(picture->groups, a->first + i, b->first + i)) {
            return false;
        }
    }
    const struct speeds one = speeds_inside(picture->groups, a->node);
    const struct speeds other = speeds_inside(picture->groups, b->node);
    return one.low == other.low && one.high == other.high && one.low == one.high;
}

static yk_status make_boxes(struct picture *picture, struct yk_arena *arena)
{
    const struct groups *groups = picture->groups;
    YK_TRY_NEW(arena, picture->boxes, groups->count > 0 ? groups->count : 1);
    for (int32_t s = 0; s < groups->count;) {
        struct box box = {.node = node_of_group(groups, s), .node_count = 1, .first = s};
        while (s < groups->count && node_of_group(groups, s) == box.node) {
            s++;
        }
        box.group_count = s - box.first;
        struct box *last = &picture->boxes[picture->box_count - (picture->box_count > 0)];
        if (picture->box_count > 0 && same_box(picture, last, &box)) {
            last->node_count++;
        } else {
            picture->boxes[picture->box_count++] = box;
        }
    }
    return YK_OK;
}

static double box_height(const struct picture *picture, const struct box *box)
{
    const double links =
        speeds_inside(picture->groups, box->node).high > 0 ? FOOT_HEIGHT : CHIP_GAP;
    return HEAD_HEIGHT + (CHIP_HEIGHT + CHIP_GAP) * box->group_count + links;
}

static double row_height(const struct picture *picture, int32_t first)
{
    double height = 0;
    for (int32_t b = first; b < first + picture->columns && b < picture->box_count; b++) {
        height = fmax(height, box_height(picture, &picture->boxes[b]));
    }
    return height;
}

static void draw_chip(const struct picture *picture, int32_t number, double x, double y,
                      double width)
{
    const struct group *group = &picture->groups->all[number];
    const struct yk_device *device = &picture->groups->cluster->devices[group->device];
    char text[YK_UNITS_BUFFER_SIZE + YK_NUMBER_BUFFER_SIZE + 48];
    snprintf(text, sizeof text, "%s%s%s%s%s",
             YK_UNITS_FORMAT_TEMPORARY(device->memory_bytes, YK_UNIT_BYTES),
             group->count > 1 ? " each" : "", device->fraction < 1 ? ", " : "",
             device->fraction < 1 ? YK_LABEL_PERCENT(device->fraction, 1) : "",
             group->used ? "" : ", not used");
    yk_figure_draw_line(&picture->figure, "wire", x - 12, y + CHIP_HEIGHT / 2.0, x,
                        y + CHIP_HEIGHT / 2.0);
    yk_figure_begin_rect_tag(&picture->figure, group->used ? "chip" : "chip unused", x, y, width,
                             CHIP_HEIGHT);
    yk_text_add(picture->figure.out, " rx=\"6\"/>\n");
    yk_figure_draw_truncated_text(&picture->figure, "strong", x + 10, y + 17, group->name,
                                  YK_FIGURE_BOLD_TEXT_SPACE_FRACTION * (width - 20));
    yk_figure_draw_truncated_text(&picture->figure, "small soft", x + 10, y + 33, text, width - 20);
}

static void draw_box(const struct picture *picture, const struct box *box, double x, double y)
{
    const struct yk_figure *figure = &picture->figure;
    const struct speeds speeds = speeds_inside(picture->groups, box->node);
    char text[2 * YK_UNITS_BUFFER_SIZE + 24];
    yk_figure_begin_rect_tag(figure, "box", x, y, picture->box_width, box_height(picture, box));
    yk_text_add(figure->out, " rx=\"10\"/>\n");
    snprintf(text, sizeof text, box->node_count > 1 ? "nodes %d to %d, alike" : "node %d",
             box->node, box->node + box->node_count - 1);
    yk_figure_draw_text(figure, "soft", x + 12, y + 18, text);
    y += HEAD_HEIGHT;
    if (speeds.high > 0) {
        const double last = y + (CHIP_HEIGHT + CHIP_GAP) * (box->group_count - 1);
        yk_figure_draw_line(figure, "wire", x + 14, y + CHIP_HEIGHT / 2.0, x + 14,
                            last + CHIP_HEIGHT + 10);
        add_speeds("links ", speeds, text, sizeof text);
        yk_figure_draw_truncated_text(figure, "small", x + 22, last + CHIP_HEIGHT + 18, text,
                                      picture->box_width - 34);
    }
    for (int32_t i = 0; i < box->group_count; i++) {
        draw_chip(picture, box->first + i, x + 26, y, picture->box_width - 36);
        y += CHIP_HEIGHT + CHIP_GAP;
    }
}

/* Draws nodes in rows, joined by a wire that begins in the margin. Returns the y of their end. With
 * `measures` it draws nothing. */
static double draw_nodes(const struct picture *picture, double y, bool measures)
{
    const bool joined = picture->between.high > 0;
    const double first = y + HEAD_HEIGHT / 2.0;
    for (int32_t b = 0; b < picture->box_count; b += picture->columns) {
        const int32_t end = (int32_t)fmin(b + picture->columns, picture->box_count);
        const double right =
            picture->left + (end - b) * (picture->box_width + GAP) - GAP - picture->box_width;
        const double wire = y + HEAD_HEIGHT / 2.0;
        if (joined && !measures) {
            yk_figure_draw_line(&picture->figure, "wire", MARGIN, wire, right + 4, wire);
        }
        for (int32_t i = b; i < end && !measures; i++) {
            draw_box(picture, &picture->boxes[i],
                     picture->left + (i - b) * (picture->box_width + GAP), y);
        }
        y += row_height(picture, b) + GAP;
    }
    if (joined && !measures) {
        char text[2 * YK_UNITS_BUFFER_SIZE + 24];
        add_speeds("between nodes ", picture->between, text, sizeof text);
        yk_figure_draw_line(&picture->figure, "wire", MARGIN, first, MARGIN, y + 4);
        yk_figure_draw_text(&picture->figure, "small", MARGIN + 8, y + 8, text);
    }
    return y + (joined ? 18 : 0);
}

static bool has_matrix(const struct picture *picture)
{
    const int32_t count = picture->groups->count;
    const double left = picture->figure.width < YK_PLAN_CHARTS_NARROW_WIDTH ? 100 : 160;
    return count > 1 && left + (double)CELL_WIDTH * count + MARGIN <= picture->figure.width &&
           (picture->inside.low != picture->inside.high ||
            picture->between.low != picture->between.high);
}

/* A table with the speed between any two groups, drawn if links differ. */
static void draw_matrix(const struct picture *picture, double y)
{
    const struct groups *groups = picture->groups;
    const double left = picture->figure.width < YK_PLAN_CHARTS_NARROW_WIDTH ? 100 : 160;
    for (int32_t a = 0; a < groups->count; a++) {
        const double x = left + CELL_WIDTH * (a + 1);
        const double line = y + CELL_HEIGHT * (a + 1) + 14;
        yk_figure_draw_truncated_text(&picture->figure, "small soft end", x, y + 14,
                                      groups->cluster->devices[groups->all[a].device].name,
                                      CELL_WIDTH - 4);
        yk_figure_draw_truncated_text(&picture->figure, "small", MARGIN, line, groups->all[a].name,
                                      left - MARGIN);
        for (int32_t b = 0; b < groups->count; b++) {
            const struct yk_link *link = link_of(groups, a, b);
            yk_figure_draw_text(
                &picture->figure, "small end", left + CELL_WIDTH * (b + 1), line,
                link ? YK_UNITS_FORMAT_TEMPORARY(link->bytes_per_s, YK_UNIT_BYTES_PER_S)
                     : "\xe2\x80\x93");
        }
    }
}

static void draw_picture(struct picture *picture)
{
    const bool matrix = has_matrix(picture);
    const double top = picture->figure.standalone ? YK_FIGURE_HEADING_HEIGHT : 2;
    const double nodes = draw_nodes(picture, top, true);
    const char *assumption = picture->groups->cluster->assumption;
    const double room = picture->figure.width - 2.0 * MARGIN;
    const double below = nodes + (matrix ? CELL_HEIGHT * (picture->groups->count + 1) + 8 : 0);
    picture->figure.height =
        below + 6 +
        (assumption ? 14 + yk_figure_draw_paragraph(NULL, "", 0, 0, assumption, room) : 0);
    yk_figure_begin(&picture->figure, "Devices by node, and the links between them");
    draw_nodes(picture, top, false);
    if (matrix) {
        draw_matrix(picture, nodes);
    }
    if (assumption) {
        yk_figure_draw_paragraph(&picture->figure, "small soft", MARGIN, below + 14, assumption,
                                 room);
    }
    yk_figure_end(&picture->figure);
}

static yk_status draw(const void *subject, struct yk_figure frame)
{
    const struct yk_equal_ranks_sets *sets = subject;
    struct groups groups;
    struct picture picture = {.figure = frame, .groups = &groups};
    YK_TRY(find_groups(sets->result, sets->arena, &groups));
    picture.inside = speeds_inside(&groups, -1);
    picture.between = speeds_between(&groups);
    YK_TRY(make_boxes(&picture, sets->arena));
    picture.left = MARGIN + (picture.between.high > 0 ? TRUNK : 0);
    const double room = frame.width - MARGIN - picture.left;
    const double columns = fmin(floor((room + GAP) / (MIN_BOX + GAP)), picture.box_count);
    picture.columns = (int32_t)fmax(1, columns);
    picture.box_width =
        fmin(picture.box_count > 1 ? 320 : 460, (room + GAP) / picture.columns - GAP);
    draw_picture(&picture);
    return yk_text_status(frame.out);
}

static void add_group(struct yk_text *out, const struct groups *groups, int32_t number)
{
    const struct group *group = &groups->all[number];
    yk_csv_add_text(out, groups->cluster->devices[group->device].name);
    yk_csv_add_integer(out, group->count);
}

static yk_status write_csv(const void *subject, struct yk_text *out)
{
    const struct yk_equal_ranks_sets *sets = subject;
    struct groups groups;
    YK_TRY(find_groups(sets->result, sets->arena, &groups));
    yk_text_add(out, "from,from_count,to,to_count,latency_s,bytes_per_s\n");
    for (int32_t a = 0; a < groups.count; a++) {
        for (int32_t b = a; b < groups.count; b++) {
            const struct yk_link *link = link_of(&groups, a, b);
            if (link) {
                add_group(out, &groups, a);
                add_group(out, &groups, b);
                yk_csv_add_seconds(out, link->latency_s);
                yk_csv_add_bytes(out, link->bytes_per_s);
                yk_csv_end_row(out);
            }
        }
    }
    return yk_text_status(out);
}

const struct yk_chart yk_plan_chart_cluster = {
    .name = "cluster",
    .title = "Cluster",
    .row_class = "pair",
    .draw = draw,
    .width = YK_CHART_HALF_WIDTH,
    .file_width = 760,
    .csv_name = "links",
    .write_csv = write_csv,
};
