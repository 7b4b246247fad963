def _modules(model, layer):
    found = []
    for name in layer["modules"]:
        module = model.get_submodule(name)
        if any(True for _ in module.parameters()) and module not in found:
            found.append(module)
    return found


def apply(model, mesh=None):
    """Shards `model` in place over `mesh`, one dimension of RANKS; before the optimizer is
    made. Every rank has its device set by then."""
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    mesh = init_device_mesh(kind, (RANKS,)) if mesh is None else mesh
    if mesh.size() != RANKS:
        raise ValueError(f"the plan is for {RANKS} ranks, not for {mesh.size()}")
    torch.backends.cuda.matmul.allow_tf32 = TF32
    copies = None
    if ROOT_REPLICATED or any(layer["replicated"] for layer in LAYERS):
        # As many copies as ranks, each in one part: replicated.
        copies = init_device_mesh(
            mesh.device_type, (RANKS, 1), mesh_dim_names=("replicate", "shard")
        )
    policy = MixedPrecisionPolicy(param_dtype=DTYPE, reduce_dtype=DTYPE)
    recompute(model, [n for layer in LAYERS if layer["recompute"] for n in layer["modules"]])
    units = {}
    for layer in LAYERS:
        modules = [] if layer["in_root"] else _modules(model, layer)
        if modules:
            fully_shard(
                modules if len(modules) > 1 else modules[0],
                mesh=copies if layer["replicated"] else mesh,
                reshard_after_forward=layer["reshard_after_forward"],
                mp_policy=policy,
            )
            units[layer["name"]] = modules[0]
    fully_shard(
        model,
        mesh=copies if ROOT_REPLICATED else mesh,
        reshard_after_forward=False,
        mp_policy=policy,
    )
    for layer in LAYERS:
        unit = model if layer["in_root"] else units.get(layer["name"])
        ahead = [units[name] for name in layer["forward_prefetch"] if name in units]
        behind = [units[name] for name in layer["backward_prefetch"] if name in units]
        if unit is not None and ahead:
            unit.set_modules_to_forward_prefetch(ahead)
        if unit is not None and behind:
            unit.set_modules_to_backward_prefetch(behind)
    for module in model.modules():
        # Averages are not the same on every backend; sums that are divided are.
        if isinstance(module, FSDPModule) and hasattr(
            module, "set_force_sum_reduction_for_comms"
        ):
            module.set_force_sum_reduction_for_comms(True)
    model.yoke_state_units = [
        units[layer["name"]]
        for layer in LAYERS
        if layer["strategy"] == "sharded-state" and layer["name"] in units
    ]
    return model


def clip(model):
    """Clips by the norm over all layers, which are on two meshes where some are replicated."""
    meshes = {}
    for parameter in model.parameters():
        if parameter.grad is not None:
            meshes.setdefault(parameter.grad.device_mesh, []).append(parameter)
    norms = [
        torch.nn.utils.get_total_norm([p.grad for p in parameters]).full_tensor()
        for parameters in meshes.values()
    ]
    total = torch.linalg.vector_norm(torch.stack(norms))
    for parameters in meshes.values():
        torch.nn.utils.clip_grads_with_norm_(parameters, CLIP_NORM, total)
    return total
