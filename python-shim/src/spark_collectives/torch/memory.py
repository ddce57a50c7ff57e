"""Tensors in memory that is shared with the executor's JVM."""

from __future__ import annotations

from typing import Any, Optional

import torch
import torch.distributed as dist

from .process_group import SparkProcessGroup


def empty(shape: Any, dtype: Optional[torch.dtype] = None, group: Any = None) -> torch.Tensor:
    """Create a tensor that operations of the group use without a copy. Its contents are undefined.

    Use it for large tensors that are used again and again: their number of bytes is rounded up to
    a power of two.

    :param shape: a number of elements, or the extents
    :param dtype: by default torch's default type
    :param group: by default the default group, which must be of the backend ``"spark"``
    """
    used = dist.group.WORLD if group is None else group
    if not isinstance(used, SparkProcessGroup):
        raise TypeError(
            "The group must be one of the backend 'spark': call "
            'torch.distributed.init_process_group("spark") first, and pass a group of its'
        )
    return used.empty(shape, dtype)
