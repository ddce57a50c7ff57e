"""The rendezvous of the ranks of a barrier stage for ``torch.distributed.init_process_group``."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterator, Optional, Tuple
from urllib.parse import parse_qs, urlparse

from .. import _names, distributed
from . import context, private
from .store import SparkStore

SCHEME = "spark"
#: The arguments of URLs; the last is for torch's own TCPStore.
_ARGUMENTS = frozenset(("rank", "world_size", "use_libuv"))
_VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
#: The variables of a rank that was launched, if this process is one.
_launched: Optional[Dict[str, Optional[str]]] = None

Meeting = Iterator[Tuple[Any, int, int]]


def register() -> None:
    """Register ``spark://``, and let ``env://`` need no variables in a barrier task."""
    handlers = private.rendezvous_handlers()
    if SCHEME in handlers:
        return
    handlers[SCHEME] = _spark
    # Without an init_method torch uses env://, whatever the backend, and requires four variables.
    # This handler is for processes that set none of them and run a Spark task; all others use
    # torch's own handler.
    handlers["env"] = _or_environment(handlers["env"])


def launched() -> None:
    """Note that the environment has the variables for the rank that this process is.

    ``env://`` goes through the driver's store as long as nobody changes them.
    """
    global _launched
    _launched = _variables()


def _variables() -> Dict[str, Optional[str]]:
    return {each: os.environ.get(each) for each in _VARIABLES}


def _spark(url: str, **_: Any) -> Meeting:
    query = parse_qs(urlparse(url).query, keep_blank_values=True)
    for name in query.keys() - _ARGUMENTS:
        near = _names.question(name, _ARGUMENTS)
        raise ValueError(f"{url} has the unknown argument {name}{near}")
    world = distributed.init_process_group()
    for name, expected in (("rank", world.rank), ("world_size", world.size)):
        given = query.get(name)
        if given and int(given[0]) != expected:
            raise ValueError(
                f"{name}={given[0]} was given, and in this barrier stage it is {expected}: the "
                "rank of a task is its partition. Leave rank and world_size out"
            )
    yield SparkStore.fresh(world), world.rank, world.size
    raise RuntimeError("The ranks of a barrier stage cannot meet again: run the stage again")


def _or_environment(environment: Callable[..., Meeting]) -> Callable[..., Meeting]:
    def meet(url: str, **arguments: Any) -> Meeting:
        found = _variables()
        if any(found.values()) and found != _launched:
            return environment(url, **arguments)
        if context.in_task():
            return _spark(url, **arguments)
        return _explained(environment(url, **arguments))

    return meet


def _explained(meeting: Meeting) -> Meeting:
    try:
        yield from meeting
    except ValueError as e:
        raise ValueError(
            f"{e}. This process is not a task of a Spark barrier stage, whose ranks need no "
            "variables: for the backend 'spark', call init_process_group in the function of "
            "rdd.barrier().mapPartitions(...) or of spark_collectives.run(...)"
        ) from e
