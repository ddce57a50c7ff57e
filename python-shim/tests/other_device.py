"""A device other than the CPU, on machines without one: PrivateUse1, with a name of its own.

Its tensors have their elements in a CPU tensor that only the operations of the device see. Call
`register()` once in a process, and then `torch.set_default_device(NAME)` as with a real device.
"""

import functools

import torch
from torch.utils._pytree import tree_map

NAME = "otherdevice"


class OtherTensor(torch.Tensor):
    """A tensor of the device."""

    @staticmethod
    def __new__(cls, elements):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            elements.shape,
            strides=elements.stride() if elements.layout is torch.strided else None,
            dtype=elements.dtype,
            layout=elements.layout,
            device=f"{NAME}:0",
        )

    def __init__(self, elements):
        self.elements = elements

    def __repr__(self, **_):
        return f"OtherTensor({self.elements!r})"

    def tolist(self):
        return self.elements.tolist()

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        if function.namespace == "c10d":
            # An operation of a group is for the backend of the device.
            with torch._C._DisableTorchDispatch():
                return function(*arguments, **(keywords or {}))
        return run(function, *arguments, **(keywords or {}))


def run(function, *arguments, **keywords):
    """Run an operation on the elements; results are of the device, unless it copies to the CPU."""
    known = {}

    def inner(value):
        if isinstance(value, OtherTensor):
            known[id(value.elements)] = value
            return value.elements
        if isinstance(value, torch.device) and value.type == NAME:
            return torch.device("cpu")
        return value

    here = keywords.get("device")
    to_cpu = here is not None and torch.device(here).type == "cpu"
    result = function(*tree_map(inner, arguments), **tree_map(inner, keywords))
    host = next((each for each in arguments if type(each) is torch.Tensor), None)

    def outer(value):
        if not isinstance(value, torch.Tensor) or to_cpu or value is host:
            return value
        return known[id(value)] if id(value) in known else OtherTensor(value)

    return tree_map(outer, result)


@functools.cache
def register():
    """Make the device known to torch, in this process."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(NAME)
    library = torch.library.Library("_", "IMPL")
    library.fallback(run, "PrivateUse1")
    # Torch's arange resizes an empty tensor, which a wrapper cannot follow. The others are called
    # by C++ code in a way that finds no fallback.
    own = torch.library.Library("aten", "IMPL")
    aten = torch.ops.aten
    for each in (
        aten.arange.default,
        aten.arange.start,
        aten.arange.start_step,
        aten._to_copy.default,
        aten.copy_.default,
        aten.slice.Tensor,
        aten.select.int,
        aten.split.Tensor,
        aten.split_with_sizes.default,
        aten.view.default,
        aten.as_strided.default,
        aten.detach.default,
        aten.clone.default,
        aten.zero_.default,
    ):
        own.impl(each, functools.partial(run, each), "PrivateUse1")
    return library, own
