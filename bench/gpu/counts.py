"""Operations of a case as MFU counts them, by hand, and the peak of the GPU they are held against.

The definition is that of docs/costs.md. A product (m, k) x (k, n) is 2mkn operations, its two
gradients as many each; that of a frozen matrix has one gradient. Attention between n pairs of
positions is 4 C n operations forward and twice that backward: by the formula every position of a
sample looks at every other, exactly those that it sees. Nothing is counted for tables that are
looked up in, vectors, and what an implementation computes again.
"""

PEAK_FLOPS = 989e12  # H200 and H100 SXM, dense bf16


def attention_width(sizes):
    """Of all heads together, which need not be that of the model."""
    return sizes["heads"] * sizes["head_width"] if "head_width" in sizes else sizes["width"]


def llama_linears(sizes):
    """(in, out) of the seven linears of a block."""
    width, inner = sizes["width"], sizes["inner"]
    queries = attention_width(sizes)
    keys = queries // sizes["heads"] * sizes["kv_heads"]
    return {"q_proj": (width, queries), "k_proj": (width, keys), "v_proj": (width, keys),
            "o_proj": (queries, width), "gate_proj": (width, inner), "up_proj": (width, inner),
            "down_proj": (inner, width)}


def block_matrix(case):
    """Numbers in the matrices of one block; of translation, those of the encoder."""
    sizes = case.sizes
    if case.family in ("llama", "causal"):
        return sum(rows * columns for rows, columns in llama_linears(sizes).values())
    return 4 * sizes["width"] ** 2 + 2 * sizes["width"] * sizes["inner"]


def adapter_numbers(case):
    return case.lora_rank * case.sizes["layers"] * sum(
        rows + columns for rows, columns in llama_linears(case.sizes).values())


def flops_per_image(case):
    """Patches have no gradient of their own. The class token alone goes through the head."""
    sizes, length = case.sizes, case.sequence
    width, layers = sizes["width"], sizes["layers"]
    patch = case.config["num_channels"] * case.config["patch_size"] ** 2
    products = length * (6 * layers * block_matrix(case) + 4 * patch * width)
    head = 6 * sizes["vocabulary"] * width
    flops = products + head + 12 * layers * width * length ** 2
    return flops, flops


def flops_per_token(case):
    """(formula, exact), of a model whose samples are all of one length."""
    if case.family == "vit":
        return flops_per_image(case)
    sizes = case.sizes
    width, layers, length = sizes["width"], sizes["layers"], case.sequence
    head = sizes["vocabulary"] * width + (width ** 2 if case.family == "bert" else 0)
    matrices = layers * block_matrix(case) + head
    if case.lora_rank:
        products = 4 * matrices + 6 * adapter_numbers(case)
    else:
        products = 6 * matrices
    seen = length if case.family == "bert" else (length + 1) / 2  # positions, on average
    pairs = 12 * layers * attention_width(sizes)
    return products + pairs * length, products + pairs * seen


def flops_per_token_of_pairs(case, pairs):
    """The same of sentences with their ends, `pairs` being their lengths (S, T), each its own
    context. Tokens of both sides count."""
    sizes = case.sizes
    width, layers = sizes["width"], sizes["layers"]
    square = width ** 2
    sources = sum(source for source, _ in pairs)
    targets = sum(target for _, target in pairs)
    on_sources = layers * (block_matrix(case) + 2 * square)  # and keys and values of the decoder
    on_targets = layers * (block_matrix(case) + 2 * square) + sizes["vocabulary"] * width
    products = 6 * (on_sources * sources + on_targets * targets)
    whole = sum(s * s + t * t + s * t for s, t in pairs)
    seen = sum(s * s + t * (t + 1) / 2 + s * t for s, t in pairs)
    return tuple((products + 12 * layers * width * count) / (sources + targets)
                 for count in (whole, seen))
