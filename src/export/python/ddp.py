def apply(model, device=None):
    """The model, which is on its device, as a DistributedDataParallel."""
    if dist.get_world_size() != RANKS:
        raise ValueError(f"the plan is for {RANKS} ranks, not for {dist.get_world_size()}")
    torch.backends.cuda.matmul.allow_tf32 = TF32
    recompute(model, RECOMPUTED)
    model = DistributedDataParallel(
        model,
        device_ids=None if device is None else [device],
        bucket_cap_mb=BUCKET_MIB,
        gradient_as_bucket_view=True,
    )
    hooks = {
        torch.bfloat16: default_hooks.bf16_compress_hook,
        torch.float16: default_hooks.fp16_compress_hook,
    }
    if DTYPE is not None and dist.get_backend() == "nccl":
        model.register_comm_hook(None, hooks[DTYPE])
    return model
