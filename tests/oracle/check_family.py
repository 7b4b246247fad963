#!/usr/bin/env python3
"""Loads folders that yoke wrote with transformers and PEFT, any number and of any family, and holds the logits beside
them against the frameworks'.

    /tmp/oracle/bin/python tests/oracle/check_family.py FOLDER ...
    /tmp/oracle/bin/python tests/oracle/check_family.py --make /tmp/cases [CASE ...]

A FOLDER has outputs.safetensors, as README.md describes it, and config.json with model.safetensors, or
adapter_config.json with adapter_model.safetensors; an adapter's base model is in its folder `base`, else where
"base_model_name_or_path" says. Each is judged as check_weights.py and check_adapter.py do it; a line a folder tells
how, and the script fails if one of them fails.

--make writes such folders from the training cases in tests/nn/fixtures: their weights, first tokens and logits. It
shows that the names in the cases are those of files, and makes models for yoke to read.
"""
import argparse
import json
import pathlib
import sys

from safetensors.torch import load_file, save_file

from outputs import difference, load_adapter, load_model

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "nn" / "fixtures"


def base_of(folder):
    if (folder / "base").is_dir():
        return folder / "base"
    return json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]


def check(folder, arguments):
    """A sentence about a folder that is as it should be; SystemExit otherwise."""
    outputs = folder / "outputs.safetensors"
    if not (folder / "adapter_config.json").exists():
        model = load_model(folder, arguments.dtype)
        found, words = difference(model, outputs), type(model).__name__
    else:
        model = load_model(base_of(folder), arguments.dtype)
        without, words = difference(model, outputs), f"{type(model).__name__} with an adapter"
        if not without > arguments.tolerance:
            raise SystemExit("the adapter changes nothing, or yoke did not use it")
        found = difference(load_adapter(model, folder), outputs)
    if not found <= arguments.tolerance:
        raise SystemExit(f"logits are {found:.3e} apart, more than {arguments.tolerance:g}")
    return f"{words}, logits {found:.1e} apart"


def make(folder, name):
    """A training case as a folder. What NF4 made of weights is written as plain fp32."""
    document, tensors = json.loads((FIXTURES / f"{name}.json").read_text()), load_file(FIXTURES / f"{name}.safetensors")
    weights = {key.removeprefix("weights."): value for key, value in tensors.items() if key.startswith("weights.")}
    adapter = {key: value for key, value in weights.items() if ".lora_" in key}
    base = folder / "base" if adapter else folder
    base.mkdir(parents=True, exist_ok=True)
    (base / "config.json").write_text(json.dumps(document["config"], indent=2) + "\n")
    save_file({key: value for key, value in weights.items() if key not in adapter}, base / "model.safetensors",
              metadata={"format": "pt"})
    if adapter:
        (folder / "adapter_config.json").write_text(json.dumps(document["adapter_config"], indent=2) + "\n")
        save_file(adapter, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    outputs = {key: tensors[key][0].contiguous() for key in ("tokens", "lengths", "target_tokens", "pixels")
               if key in tensors}
    save_file(outputs | dict(logits=tensors["logits"]), folder / "outputs.safetensors")


def main():
    parser = argparse.ArgumentParser(description="Holds what yoke wrote against transformers and PEFT.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="a model's or an adapter's; with --make, a case")
    parser.add_argument("--make", metavar="FOLDER", type=pathlib.Path, help="write training cases as folders there")
    parser.add_argument("--tolerance", type=float, default=1e-4,
                        help="the largest relative difference that passes (1e-4; 2e-2 is fair to bf16)")
    parser.add_argument("--dtype", choices=("float32", "float64", "bfloat16"), default="float32",
                        help="what the framework computes in")
    arguments = parser.parse_args()
    if arguments.make:
        for name in arguments.folders:
            make(arguments.make / name, name)
        return
    failed = 0
    for folder in map(pathlib.Path, arguments.folders):
        try:
            print(f"{folder}: {check(folder, arguments)}")
        except (Exception, SystemExit) as error:
            failed += 1
            print(f"{folder}: FAILED: {error}")
    sys.exit(f"{failed} of {len(arguments.folders)} failed" if failed else 0)


if __name__ == "__main__":
    main()
