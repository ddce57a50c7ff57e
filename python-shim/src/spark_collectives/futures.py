"""Futures of works."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Callable, Optional


class Future(concurrent.futures.Future):  # type: ignore[type-arg]
    """What an operation will write: a future of Python with the methods of torch's besides.

    It cannot be cancelled: the operation goes on.
    """

    def __init__(self) -> None:
        super().__init__()
        # One that runs cannot be cancelled.
        self.set_running_or_notify_cancel()

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Wait until the future is done, and return its value or raise its error.

        :param timeout: seconds; by default the operation's own deadline ends the wait
        :raises concurrent.futures.TimeoutError: after the timeout
        """
        return self.result(timeout)

    def value(self) -> Any:
        """Return the value, or raise the error, of a future that is done.

        :raises RuntimeError: if it is not done
        """
        if not self.done():
            raise RuntimeError("The future is not done yet: call wait()")
        return self.result()

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return a future of what ``callback`` returns for this one, once this one is done.

        The callback runs on the thread that completes this future, or at once if it is done. Its
        error becomes that of the returned future.
        """
        made = Future()

        def complete(done: Any) -> None:
            try:
                made.set_result(callback(done))
            except BaseException as e:
                made.set_exception(e)

        self.add_done_callback(complete)
        return made
