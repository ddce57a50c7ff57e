"""The states of replicas as bytes.

Arrays and tensors lie in the bytes as they are, behind the pickle of the rest.
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
from typing import Any, List, Tuple

import numpy as np

#: Arrays begin at multiples of it.
_ALIGNMENT = 64
_PROTOCOL = 5


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def pack(state: Any) -> Any:
    """Return an array of bytes with an object, whose arrays and tensors are copied once."""
    from pyspark import cloudpickle

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            return _reduced(value) or super().reducer_override(value)

    buffers: List[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    Pickler(stream, _PROTOCOL, buffers.append).dump(state)
    parts = [stream.getbuffer(), *(each.raw() for each in buffers)]
    head = struct.pack(f"<{1 + len(parts)}Q", len(parts), *(part.nbytes for part in parts))
    at = _aligned(len(head))
    packed = np.zeros(at + sum(_aligned(part.nbytes) for part in parts), np.uint8)
    packed[: len(head)] = np.frombuffer(head, np.uint8)
    for part in parts:
        if part.nbytes:
            packed[at : at + part.nbytes] = np.frombuffer(part, np.uint8)
        at += _aligned(part.nbytes)
    return packed


def unpack(packed: Any) -> Any:
    """Return the object in what :func:`pack` has made; its arrays lie in that memory."""
    memory = memoryview(packed)
    (count,) = struct.unpack_from("<Q", memory)
    sizes = struct.unpack_from(f"<{count}Q", memory, 8)
    at = _aligned(8 * (1 + count))
    parts = []
    for size in sizes:
        parts.append(memory[at : at + size])
        at += _aligned(size)
    return pickle.loads(parts[0], buffers=parts[1:])


def _reduced(value: Any) -> Any:
    """Return how a dense tensor is pickled; None for all else, which is pickled as usual."""
    torch = sys.modules.get("torch")
    if torch is None or type(value) not in (torch.Tensor, torch.nn.Parameter):
        return None
    if value.layout is not torch.strided or value.is_quantized or value.is_meta:
        return None
    data = value.detach().resolve_conj().resolve_neg().cpu().contiguous()
    dtype = str(data.dtype).rpartition(".")[2]
    content = data.reshape(-1).view(torch.uint8).numpy()
    learns = value.requires_grad and value.is_leaf
    is_parameter = type(value) is torch.nn.Parameter
    return _tensor, (pickle.PickleBuffer(content), dtype, tuple(data.shape), learns, is_parameter)


def _tensor(
    content: Any, dtype: str, shape: Tuple[int, ...], learns: bool, is_parameter: bool
) -> Any:
    """Return a tensor on the memory of its elements."""
    import torch

    type_ = getattr(torch, dtype)
    if len(memoryview(content)) == 0:
        tensor = torch.empty(shape, dtype=type_)
    else:
        tensor = torch.frombuffer(content, dtype=torch.uint8).view(type_).reshape(shape)
    return torch.nn.Parameter(tensor, learns) if is_parameter else tensor.requires_grad_(learns)
