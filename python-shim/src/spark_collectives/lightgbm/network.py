"""LightGBM's network over the collectives of a group."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Dict, Optional

from . import _library, _shared_exchange
from ._group_exchange import GroupExchange

_Integers = ctypes.POINTER(ctypes.c_int32)

#: ``reducer(from, to, bytes of an element, bytes)`` reduces ``from`` into ``to``.
_Reducer = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int32)

#: The last argument is a reference of C++ to a pointer to a function: the pointer's address.
_ReduceScatter = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_int,
    _Integers,
    _Integers,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_void_p),
)
_AllGather = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int32,
    _Integers,
    _Integers,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int32,
)

#: Whether a network is in use on this thread: LightGBM has one for each thread.
_thread = threading.local()


class Network:
    """LightGBM's network on the ranks of a group, for as long as the ``with`` block lasts.

    Inside the block, Datasets and Boosters with ``tree_learner=data`` or ``voting`` and
    ``num_machines`` of the group's size train one model on the rows of all ranks::

        with Network(group) as network:
            booster = lightgbm.Booster(params, train_set)
            for _ in range(rounds):
                booster.update()
                network.check()

    LightGBM knows the network only on the thread that has entered the block, so everything in it
    must be done there, on all ranks in the same order. It must not be nested on one thread. To
    enter the block is a collective of the group: where all ranks are on one host, they agree on
    memory in which they exchange.

    LightGBM cannot be told that a collective failed. The failure is kept, the rest of LightGBM's
    call computes with zeros, and :meth:`check` or the end of the block raises it. One call cannot
    go on with zeros: the construction of a ``Dataset`` without a reference, in which the ranks
    exchange their bins, ends the process. :func:`train` makes the bins before it enters the block.

    Sums are in the order of LightGBM's own sockets, so that models are the same, byte for byte, if
    the number of ranks is a power of two.

    :param group: the ranks; a collective of it may block for the group's timeout
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self._exchange = GroupExchange(group)
        self._shared: Optional[_shared_exchange.SharedExchange] = None
        self._reducers: Dict[int, Any] = {}
        # LightGBM has only their addresses: they must live as long as the network.
        self._reduce_scatter = _ReduceScatter(self._on_reduce_scatter)
        self._all_gather = _AllGather(self._on_all_gather)
        self._joined = False
        #: What ended the first collective that failed.
        self.failure: Optional[BaseException] = None
        #: The number of collectives that LightGBM has called.
        self.calls = 0

    def __enter__(self) -> Network:
        if getattr(_thread, "used", False):
            raise RuntimeError("LightGBM's network is in use on this thread: leave its block first")
        library = _library.native()
        if self._group.size > 1:
            self._shared = _shared_exchange.share(self._group)
            code = library.LGBM_NetworkInitWithFunctions(
                ctypes.c_int(self._group.size),
                ctypes.c_int(self._group.rank),
                self._reduce_scatter,
                self._all_gather,
            )
            if code != 0:
                self.__exit__(None, None, None)
                reason = ctypes.cast(library.LGBM_GetLastError(), ctypes.c_char_p).value or b""
                raise RuntimeError(f"LightGBM refused the network: {reason.decode()}")
            self._joined = True
        _thread.used = True
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], stack: Any) -> None:
        _thread.used = False
        if self._joined:
            self._joined = False
            # Else the next one who trains on this thread would call functions that are gone.
            _library.native().LGBM_NetworkFree()
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.close()
        # Whatever LightGBM has raised after a failure follows from it.
        if self.failure is not None and error is not self.failure:
            raise self.failure
        if shared is not None and error is None:
            shared.require_group()

    def check(self) -> None:
        """Raise the failure of the group, if there was one; to be called after each update."""
        if self.failure is not None:
            raise self.failure
        if self._shared is not None:
            self._shared.check()

    @property
    def shares_memory(self) -> bool:
        """Whether the ranks, all on one host, exchange in memory that their processes share."""
        return self._shared is not None

    def _on_reduce_scatter(
        self,
        data: int,
        size: int,
        element: int,
        starts: Any,
        lengths: Any,
        blocks: int,
        output: int,
        _: int,
        reducer: Any,
    ) -> None:
        own = lengths[self._group.rank]
        try:
            if self.failure is None:
                self.calls += 1
                self._exchange_for(element, size).reduce_scatter(
                    data,
                    size,
                    element,
                    starts[:blocks],
                    lengths[:blocks],
                    output,
                    self._function(reducer[0]),
                )
                return
        except BaseException as e:
            # An exception would be lost in LightGBM's code.
            self.failure = e
        ctypes.memset(output, 0, own)

    def _on_all_gather(
        self,
        data: int,
        size: int,
        starts: Any,
        lengths: Any,
        blocks: int,
        output: int,
        output_size: int,
    ) -> None:
        try:
            if self.failure is None:
                self.calls += 1
                exchange = self._exchange if self._shared is None else self._shared.exchange
                exchange.all_gather(data, size, starts[:blocks], lengths[:blocks], output)
                return
        except BaseException as e:
            self.failure = e
        ctypes.memset(output, 0, output_size)

    def _exchange_for(self, element: int, size: int) -> Any:
        shared = self._shared
        if shared is None or not shared.exchange.can_reduce(element, size):
            return self._exchange
        return shared.exchange

    def _function(self, address: int) -> Any:
        function = self._reducers.get(address)
        if function is None:
            function = self._reducers[address] = _Reducer(address)
        return function
