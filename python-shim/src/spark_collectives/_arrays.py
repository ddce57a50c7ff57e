"""The element types of the JVM, and views of arrays and CPU tensors as bytes."""

from __future__ import annotations

import sys
from typing import Any, Dict, NamedTuple, Tuple

import numpy as np

BOOL, UINT8, INT8, INT16, INT32, INT64 = range(6)
FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128, FLOAT8_E4M3, FLOAT8_E5M2 = range(6, 14)

_CODES: Dict[Any, int] = {
    np.dtype(np.bool_): BOOL,
    np.dtype(np.uint8): UINT8,
    np.dtype(np.int8): INT8,
    np.dtype(np.int16): INT16,
    np.dtype(np.int32): INT32,
    np.dtype(np.int64): INT64,
    np.dtype(np.float16): FLOAT16,
    np.dtype(np.float32): FLOAT32,
    np.dtype(np.float64): FLOAT64,
    np.dtype(np.complex64): COMPLEX64,
    np.dtype(np.complex128): COMPLEX128,
}

#: Unsigned types are sent as the signed types of their size: sums, products and bits are the same.
_UNSIGNED: Dict[Any, int] = {
    np.dtype(np.uint16): INT16,
    np.dtype(np.uint32): INT32,
    np.dtype(np.uint64): INT64,
}

#: Types that numpy knows only with another package, by name.
_NAMED = {"bfloat16": BFLOAT16, "float8_e4m3fn": FLOAT8_E4M3, "float8_e5m2": FLOAT8_E5M2}

_NAMES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
]


class View(NamedTuple):
    """A numpy array on the memory of an array or a tensor, and its element type."""

    array: Any
    code: int
    unsigned: bool


def _known(dtype: Any) -> Tuple[int, bool]:
    code = _CODES.get(dtype)
    if code is not None:
        return code, False
    code = _UNSIGNED.get(dtype)
    if code is not None:
        return code, True
    code = _NAMED.get(dtype.name)
    if code is not None:
        return code, False
    raise TypeError(f"Elements of type {dtype} cannot be sent; there are {', '.join(_NAMES)}")


def view_of(value: Any) -> View:
    """Return a view of a numpy array, or of a CPU tensor of torch, on the same memory.

    torch is never imported here: a caller that has a tensor has imported it.
    """
    if isinstance(value, np.ndarray):
        code, unsigned = _known(value.dtype)
        return View(value, code, unsigned)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _view_of_tensor(torch, value)
    raise TypeError(
        f"A numpy array or a CPU tensor of torch is needed, not {type(value).__name__}: the "
        "operation reads or writes its memory"
    )


def _view_of_tensor(torch: Any, tensor: Any) -> View:
    if tensor.device.type != "cpu":
        raise TypeError(
            f"The tensor is on device {tensor.device}, and only CPU tensors can be used here: "
            "call .cpu() first, or use torch.distributed with the backend 'spark', which takes it"
        )
    if tensor.layout is not torch.strided:
        raise TypeError(f"The tensor has layout {tensor.layout}; only dense tensors can be used")
    if tensor.is_conj() or tensor.is_neg():
        raise TypeError("The tensor is a lazy conjugate or negative: call .clone() on it first")
    known = _TENSOR_TYPES.get(tensor.dtype)
    if known is None:
        known = _TENSOR_TYPES[tensor.dtype] = _as_numpy(str(tensor.dtype).rpartition(".")[2])
    dtype, code, unsigned = known
    return View(_array_of(tensor, dtype), code, unsigned)


#: The element types of tensors met so far: numpy's type, the code, and whether it is unsigned.
_TENSOR_TYPES: Dict[Any, Tuple[Any, int, bool]] = {}


def _as_numpy(name: str) -> Tuple[Any, int, bool]:
    if name in _NAMED:
        return np.dtype(np.int16 if name == "bfloat16" else np.uint8), _NAMED[name], False
    try:
        dtype = np.dtype(name)
        code, unsigned = _known(dtype)
    except TypeError:
        raise TypeError(
            f"Tensors of {name} cannot be sent; there are {', '.join(_NAMES)}"
        ) from None
    return dtype, code, unsigned


class _TensorMemory:
    """The memory of a tensor, for numpy.

    An array on it keeps the tensor's storage alive, whatever storage the tensor gets.
    """

    __slots__ = ("__array_interface__", "_begin", "_bytes", "_storage")

    def __init__(self, tensor: Any, dtype: Any) -> None:
        self._storage = tensor.untyped_storage()
        self._begin = self._storage.data_ptr()
        self._bytes = self._storage.nbytes()
        self.__array_interface__ = {
            "shape": tuple(tensor.shape),
            # None means dense to numpy, and is faster.
            "strides": None
            if tensor.is_contiguous()
            else tuple(each * dtype.itemsize for each in tensor.stride()),
            "typestr": dtype.str,
            "data": (tensor.data_ptr(), False),
            "version": 3,
        }

    def is_gone(self) -> bool:
        """Return whether the storage was resized, so that it has other memory."""
        storage = self._storage
        return bool(storage.data_ptr() != self._begin or storage.nbytes() < self._bytes)


def require_memory(array: Any) -> None:
    """Require that a view of a tensor still has the tensor's memory.

    :raises RuntimeError: if the tensor's storage was resized since
    """
    memory = array.base
    while isinstance(memory, np.ndarray):
        memory = memory.base
    if isinstance(memory, _TensorMemory) and memory.is_gone():
        raise RuntimeError(
            f"The result of {array.size} elements has no place: the storage of its tensor was "
            "resized while the operation went on. Wait for an operation before its tensors are "
            "resized"
        )


def _array_of(tensor: Any, dtype: Any) -> Any:
    # Tensor.numpy() would make the tensor's storage fixed in size for ever, and FSDP resizes it.
    if tensor.numel() == 0:
        return np.empty(tuple(tensor.shape), dtype)
    return np.asarray(_TensorMemory(tensor, dtype))
