"""The options with which groups are created: torch's ``Backend.Options``.

They have a timeout. What else they have, such as devices and threads of gloo, is for gloo.
"""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import Any, Optional

from torch.distributed.constants import default_pg_timeout

from . import context, private
from .work import seconds

#: The backends whose options have a timeout for groups of this one. Those of others, such as
#: NCCL's, are for the other backends of a group.
_OF = ("spark", "gloo")


def require(call: str, options: Any) -> None:
    """Refuse what is no options, in torch's words."""
    if options is not None and not isinstance(options, private.Options):
        raise TypeError(
            f"{call}(): incompatible function arguments. The options are a "
            f"{type(options).__name__}, and must be torch's Backend.Options"
        )


def seconds_in(options: Any) -> Optional[float]:
    """Return the timeout of options; None if it is torch's default, which all have at first."""
    timeout = _timeout_in(options)
    return None if timeout is None else seconds(timeout)


def _timeout_in(options: Any) -> Optional[timedelta]:
    if getattr(options, "backend", None) not in _OF:
        return None
    timeout: timedelta = options._timeout
    return None if timeout == default_pg_timeout else timeout


def timeout(given: timedelta, options: Any) -> timedelta:
    """Return the timeout of a new group.

    :param given: that of the call, or what torch takes if it has none
    :param options: the call's; they are anything, as with gloo, which looks at no options here
    """
    wanted = _timeout_in(options)
    if wanted is None or wanted == given:
        return given
    if given == (context.default_timeout() if private.ASKS_FOR_TIMEOUT else default_pg_timeout):
        return wanted
    warnings.warn(
        f"The timeout of the call, {given}, counts, and not that of its options, {wanted}",
        stacklevel=2,
    )
    return given
