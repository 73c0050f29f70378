"""All kinds of faults, in the order of the table."""

from importlib import import_module

from .fault import KINDS

#: The shim goes before the core.
for _name in (
    "shim",
    "model_files",
    "data_sets",
    "text_files",
    "arrays",
    "memory",
    "disks",
    "interrupts",
    "command",
    "workers",
):
    import_module(f"{__package__}.{_name}")

__all__ = ["KINDS"]
