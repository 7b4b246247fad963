/*
 * Architecture: a family of transformers, as one row of a table. A row says how a config.json maps
 * to the description of a model (struct yk_model_config), and what the family's modules are called.
 * Everything else reads only the description. docs/adding-a-model.md explains how to add a row.
 */
#ifndef YK_MODEL_ARCHITECTURE_H
#define YK_MODEL_ARCHITECTURE_H

#include "base/json.h"
#include "base/json_write.h"
#include "model/config.h"
#include "model/config_fields.h"
#include "model/model.h"

/* What a module of the family is to the description. */
enum yk_module_role {
    YK_MODULE_END,   /* ends a list of modules */
    YK_MODULE_EMPTY, /* has no tensors: a dropout or an activation */

    /* ---- modules outside blocks ---- */
    YK_MODULE_EMBEDDINGS, /* BERT: contains the tables and has buffers of positions and segments */
    YK_MODULE_PATCH_EMBEDDINGS, /* ViT: has the class token and the positions as parameters */
    YK_MODULE_PATCHES,          /* ViT: the convolution that embeds patches */
    YK_MODULE_SHARED_EMBEDDING, /* encoder–decoder: the table of both embeddings and the head */
    YK_MODULE_ENCODER_EMBEDDING,
    YK_MODULE_EMBEDDING, /* the table of tokens; in an encoder–decoder, of the decoder */
    YK_MODULE_POSITIONS, /* the table of learned positions */
    YK_MODULE_SINUSOIDS, /* a fixed table of positions, which transformers stores as a parameter */
    YK_MODULE_TOKEN_TYPES,
    YK_MODULE_EMBEDDING_NORM,
    YK_MODULE_ENCODER_BLOCKS,
    YK_MODULE_BLOCKS,
    YK_MODULE_FINAL_NORM,
    YK_MODULE_ROTARY, /* has buffers of frequencies */
    YK_MODULE_POOLER,
    YK_MODULE_POOLER_ACTIVATION,
    YK_MODULE_LOGITS_BUFFER, /* Marian: the root module has the buffer final_logits_bias */
    YK_MODULE_HEAD_BIAS, /* BERT: has the bias of the logits, and contains the rest of the head */
    YK_MODULE_TRANSFORM,
    YK_MODULE_HEAD_ACTIVATION,
    YK_MODULE_TRANSFORM_NORM,
    YK_MODULE_HEAD, /* the linear that computes logits */
    YK_MODULE_SENTENCE_HEAD,

    /* ---- modules of a block ---- */
    YK_MODULE_Q,
    YK_MODULE_K,
    YK_MODULE_V,
    YK_MODULE_QKV, /* one linear for queries, keys and values */
    YK_MODULE_OUT,
    YK_MODULE_Q_NORM,
    YK_MODULE_K_NORM,
    YK_MODULE_CROSS_Q,
    YK_MODULE_CROSS_K,
    YK_MODULE_CROSS_V,
    YK_MODULE_CROSS_OUT,
    YK_MODULE_GATE,
    YK_MODULE_UP,
    YK_MODULE_GATE_UP, /* one linear for gate and up */
    YK_MODULE_DOWN,
    /* The norm of attention or feed-forward, before it or after the sum. */
    YK_MODULE_ATTENTION_NORM,
    YK_MODULE_MLP_NORM,
    YK_MODULE_CROSS_NORM,
    /* The norm after attention or feed-forward, before the sum. */
    YK_MODULE_ATTENTION_POST_NORM,
    YK_MODULE_MLP_POST_NORM,
    /* Mixture of experts: the linear that chooses experts, the experts, and the shared expert. */
    YK_MODULE_EXPERTS,
};

/* A module. A dotted name is a path in the tree of modules: "self_attn.q_proj". */
struct yk_module_entry {
    const char *name;
    enum yk_module_role role;
    bool outside; /* the module is not in the base model, see `base` of struct yk_architecture */
};

/* Which blocks have the sliding window if config.json has no "layer_types". */
enum yk_window_pattern {
    YK_WINDOW_ALL,        /* all, if there is a window */
    YK_WINDOW_FROM_LAYER, /* those from "max_window_layers" on, if "use_sliding_window" is true */
    YK_WINDOW_PERIODIC,   /* all but every nth */
    YK_WINDOW_NO_ROPE,    /* those without rotary positions, if "use_sliding_window" is true */
};

struct yk_architecture {
    const char *name;           /* "gpt2", "llama", "bert", "transformer" */
    const char *model_type;     /* value of "model_type" in config.json */
    const char *const *classes; /* values of "architectures" in config.json; ends with NULL. The
                                   first is written */
    /* For models of text and images: the name of the family that their language model is of. Only
     * the language model is read; "text_config" in config.json describes it, and its weights are
     * saved as a model of that family. NULL means: the family has language models only. */
    const char *text_family;

    /* ---- config.json ---- */
    /* The members of the description that all models of the family share. The other members are
     * set from config.json. Members that a field of `fields` can set have no effect here. */
    struct yk_model_config common;
    const struct yk_config_field *fields; /* ends with a field without a key */
    const char *activation_key; /* NULL means: the activation is always that of `common` */
    const char *theta_key;      /* key of the base of rotary positions; NULL means: "rope_theta" */
    const char *partial_key;    /* key of the part of a head that is rotated; NULL means: always the
                                   whole head */
    double partial_rotary;      /* that part, if the key is missing */
    int64_t no_rope_period; /* every nth block has no rotary positions, unless "no_rope_layers" says
                               another; 0 means: all blocks have them */
    enum yk_window_pattern window_pattern;
    bool splittable; /* Accelerate may place the modules of a block on different devices */
    int64_t
        window_period; /* n of YK_WINDOW_PERIODIC, unless "sliding_window_pattern" says another */
    /* Reads and writes what the members above cannot express. May be NULL. */
    yk_status (*read)(const struct yk_json *json, struct yk_arena *arena,
                      struct yk_model_config *config);
    void (*write)(const struct yk_model_config *config, struct yk_json_writer *json);

    /* ---- names ---- */
    const char *base; /* the module that contains all modules except the head: "model" */
    /* All lists are in the order of named_modules() and end with YK_MODULE_END. A module that the
     * description does not have is left out. */
    const struct yk_module_entry *modules;
    const struct yk_module_entry *block;
    const struct yk_module_entry *encoder_block; /* encoder–decoder: a block of the encoder */
    /* Other names of `base` and of the head's module in files; NULL means: none. */
    const char *base_alias;
    const char *head_alias;
    /* Pairs of a part of a parameter's name and what files of weights have in its place, if files
     * use other names than the modules; the list ends with NULL. NULL means: the same names. */
    const char *const (*file_names)[2];
    const char *block_kind; /* `kind` of the blocks in struct yk_layer: "llama-block" */
};

extern const struct yk_architecture yk_architectures[];
extern const size_t yk_architecture_count;

/* Returns the family as which a model is saved: `text_family`, or the family itself. */
const struct yk_architecture *yk_architecture_get_saved_family(const struct yk_architecture *row);

/* Returns the full name of a module outside blocks, in the arena; NULL if the model does not have
 * the module, or if there is no memory. */
const char *yk_architecture_module_name(const struct yk_model_config *config,
                                        enum yk_module_role role, struct yk_arena *arena);

/* Returns the name of a module that is not in the base model: "classifier"; NULL if the model does
 * not have the module. */
const char *yk_architecture_outer_module_name(const struct yk_model_config *config,
                                              enum yk_module_role role);

/* Lists the modules of a layer that is not a block: the largest modules that contain no block. The
 * list has at most `max` − 1 names, and ends with NULL. `encoder`: the embedding of the encoder of
 * an encoder–decoder. Returns false if there is no memory. */
bool yk_architecture_list_layer_modules(const struct yk_model_config *config,
                                        enum yk_layer_role role, bool encoder,
                                        struct yk_arena *arena, const char **out, int32_t max);

/* Returns the name of a module in a block: "self_attn.q_proj"; NULL if the blocks do not have the
 * module. `encoder`: the block belongs to the encoder of an encoder–decoder. */
const char *yk_architecture_block_module_name(const struct yk_model_config *config, bool encoder,
                                              enum yk_module_role role);

/* Returns the name that files of weights use for a parameter: `name` itself, or a name that is
 * written to `buffer`, and cut if it does not fit. */
const char *yk_architecture_file_name(const struct yk_architecture *row, const char *name,
                                      char *buffer, size_t size);

/* Returns the name of the module that contains the base model: "model"; "" if the model has no
 * head, because then it is the base model itself. */
const char *yk_architecture_base(const struct yk_model_config *config);

/* Returns whether the description has what a role is for: norms where it places them, a head, a
 * pooler. A family that has no such module does not list the role. */
bool yk_architecture_has_module(const struct yk_model_config *config, enum yk_module_role role);

#endif
