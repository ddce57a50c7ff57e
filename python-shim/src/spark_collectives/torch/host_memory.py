"""Tensors in memory that a group's operations use without a copy."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import torch

from ..process_group import ProcessGroup


def empty(group: ProcessGroup, shape: Any, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """Create a tensor in the memory of a group. Its contents are undefined.

    :param shape: a number of elements, or the extents
    :param dtype: by default torch's default type
    """
    kind = dtype or torch.get_default_dtype()
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    count = 1
    for extent in extents:
        count *= extent
    memory = torch.from_numpy(group.empty(count * kind.itemsize, np.uint8))
    return memory.view(kind).view(extents)
