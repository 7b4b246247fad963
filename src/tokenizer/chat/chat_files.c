#include "tokenizer/chat/chat_files.h"

#include "base/file.h"
#include "base/json_node.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TEMPLATE_BYTES (UINT64_C(4) << 20)

enum {
    MAX_NAMED_TEMPLATES = 64
};

static const char named_folder[] = "additional_chat_templates";
static const char template_suffix[] = ".jinja";

static const char *const names[YK_CHAT_FILE_COUNT] = {
    [YK_CHAT_FILE_TEMPLATE] = "chat_template.jinja",
    [YK_CHAT_FILE_CONFIG] = "tokenizer_config.json",
    [YK_CHAT_FILE_SPECIAL_TOKENS] = "special_tokens_map.json",
};

const char *yk_chat_files_name(enum yk_chat_file file)
{
    return names[file];
}

void yk_chat_files_free(struct yk_chat_files *files)
{
    for (int i = 0; i < YK_CHAT_FILE_COUNT; i++) {
        yk_text_free(&files->texts[i]);
        yk_text_free(&files->sources[i]);
    }
    *files = (struct yk_chat_files){0};
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static yk_status read_file(struct yk_chat_files *files, enum yk_chat_file file)
{
    const bool is_template = file == YK_CHAT_FILE_TEMPLATE;
    YK_TRY(yk_text_status(&files->sources[file]));
    files->texts[file].length = 0;
    YK_TRY(yk_file_read_with_limit(yk_text_chars(&files->sources[file]),
                                   is_template ? MAX_TEMPLATE_BYTES : YK_FILE_MAX_DOCUMENT_BYTES,
                                   &files->texts[file]));
    files->exists[file] = true;
    return YK_OK;
}

/* ---- templates with names ---- */

struct named_templates {
    struct yk_json *list; /* of {"name": …, "template": …} */
    int count;
};

static yk_status append_template(struct named_templates *named, const char *name,
                                 size_t name_length, const struct yk_text *text)
{
    struct yk_json *entry = yk_json_node_new_object();
    const bool made =
        entry && yk_json_node_set_new(entry, "name", yk_json_node_new_string(name, name_length)) &&
        yk_json_node_set_new(entry, "template",
                             yk_json_node_new_string(yk_text_chars(text), text->length));
    named->count++;
    return yk_json_node_append_new(named->list, made ? entry : NULL) ? YK_OK
                                                                     : yk_fail_out_of_memory();
}

static yk_status read_named(const char *folder, const char *name, struct named_templates *named)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_text_addf(&path, "%s/%s", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK && named->count == MAX_NAMED_TEMPLATES) {
        status =
            yk_fail(YK_ERROR_INPUT, "%s holds more than %d templates", folder, MAX_NAMED_TEMPLATES);
    }
    YK_IF_OK(yk_file_read_with_limit(yk_text_chars(&path), MAX_TEMPLATE_BYTES, &text));
    YK_IF_OK(append_template(named, name, strlen(name) - strlen(template_suffix), &text));
    yk_text_free(&path);
    yk_text_free(&text);
    return status;
}

static int is_template(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && yk_text_ends_with(entry->d_name, template_suffix);
}

/* Reads the templates in the order of their names. */
static yk_status read_named_folder(const char *folder, struct named_templates *named)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_template, alphasort);
    yk_status status = YK_OK;
    if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        YK_IF_OK(read_named(folder, entries[i]->d_name, named));
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Sets "chat_template" of tokenizer_config.json. */
static yk_status write_config(struct yk_chat_files *files, const struct yk_json *templates)
{
    struct yk_text *text = &files->texts[YK_CHAT_FILE_CONFIG];
    struct yk_json *root = NULL;
    yk_status status = YK_OK;
    if (files->exists[YK_CHAT_FILE_CONFIG]) {
        status = yk_json_parse_foreign(yk_text_chars(text), text->length, &root);
    } else {
        root = yk_json_node_new_object();
    }
    if (status == YK_OK && !yk_json_is_object(root)) {
        status = yk_fail(YK_ERROR_INPUT, "it must be an object, not %s", yk_json_type_name(root));
    }
    status = yk_status_prefix_message(status, yk_text_chars(&files->sources[YK_CHAT_FILE_CONFIG]));
    if (status == YK_OK && !yk_json_node_set(root, "chat_template", templates)) {
        status = yk_fail_out_of_memory();
    }
    if (status == YK_OK) {
        text->length = 0;
        yk_json_node_append_text(root, text);
        yk_text_add(text, "\n");
        files->exists[YK_CHAT_FILE_CONFIG] = true;
        status = yk_text_status(text);
    }
    yk_json_destroy(root);
    return status;
}

/* As transformers does, files of templates go before those in tokenizer_config.json; the template
 * without a name becomes "default". */
static yk_status move_named(struct yk_chat_files *files, struct named_templates *named)
{
    if (files->exists[YK_CHAT_FILE_TEMPLATE]) {
        YK_TRY(append_template(named, "default", strlen("default"),
                               &files->texts[YK_CHAT_FILE_TEMPLATE]));
        files->exists[YK_CHAT_FILE_TEMPLATE] = false;
    }
    return write_config(files, named->list);
}

static yk_status read_all_named(const char *folder, struct yk_chat_files *files)
{
    struct named_templates named = {.list = yk_json_node_new_array()};
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s", folder, named_folder);
    yk_status status = named.list ? yk_text_status(&path) : yk_fail_out_of_memory();
    YK_IF_OK(read_named_folder(yk_text_chars(&path), &named));
    if (status == YK_OK && named.count > 0) {
        status = move_named(files, &named);
    }
    yk_text_free(&path);
    yk_json_destroy(named.list);
    return status;
}

yk_status yk_chat_files_read_folder(const char *folder, struct yk_chat_files *out)
{
    for (int i = 0; i < YK_CHAT_FILE_COUNT; i++) {
        out->sources[i].length = 0;
        yk_text_addf(&out->sources[i], "%s/%s", folder, names[i]);
        if (is_file(yk_text_chars(&out->sources[i]))) {
            YK_TRY(read_file(out, (enum yk_chat_file)i));
        }
    }
    return read_all_named(folder, out);
}

yk_status yk_chat_files_read_template(struct yk_chat_files *files, const char *path)
{
    files->sources[YK_CHAT_FILE_TEMPLATE].length = 0;
    yk_text_add(&files->sources[YK_CHAT_FILE_TEMPLATE], path);
    return read_file(files, YK_CHAT_FILE_TEMPLATE);
}
