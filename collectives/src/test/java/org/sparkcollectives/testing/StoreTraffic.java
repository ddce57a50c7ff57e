package org.sparkcollectives.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.store.PrefixStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.WatchableStore;

/** Counts what a handle on a store, and all views of it, request and receive. */
public final class StoreTraffic {

  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong leaveChecks = new AtomicLong();
  private final AtomicLong bytesReceived = new AtomicLong();

  /**
   * Returns how many calls a client would send to the store's process, without those that ask who
   * has left.
   */
  public long requests() {
    return requests.get();
  }

  /**
   * Returns how many calls ask who has left. A rank that waits for others makes them periodically,
   * so their number depends on how long it waits.
   */
  public long leaveChecks() {
    return leaveChecks.get();
  }

  /** Returns how many bytes of values came back, without those of calls that ask who has left. */
  public long bytesReceived() {
    return bytesReceived.get();
  }

  /** Returns a handle on {@code store} whose calls are counted here. */
  public Store count(WatchableStore store) {
    return counted(store);
  }

  private WatchableStore counted(WatchableStore store) {
    WatchableStore[] self = new WatchableStore[1];
    InvocationHandler handler =
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "withPrefix" -> PrefixStore.of((String) arguments[0], self[0]);
              case "withTimeout" -> counted((WatchableStore) call(store, method, arguments));
              case "timeout", "close", "toString", "hashCode" -> call(store, method, arguments);
              default -> {
                if (isLeaveCheck(method, arguments)) {
                  leaveChecks.incrementAndGet();
                  yield call(store, method, arguments);
                }
                requests.incrementAndGet();
                yield received(call(store, method, arguments));
              }
            };
    self[0] =
        (WatchableStore)
            Proxy.newProxyInstance(
                StoreTraffic.class.getClassLoader(),
                new Class<?>[] {WatchableStore.class},
                handler);
    return self[0];
  }

  private static boolean isLeaveCheck(Method method, Object[] arguments) {
    String name = method.getName();
    return (name.equals("check") || name.equals("get"))
        && arguments[0].toString().contains("/departures");
  }

  private static Object call(Store store, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(store, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private Object received(Object result) {
    if (result instanceof byte[] bytes) {
      bytesReceived.addAndGet(bytes.length);
    } else if (result instanceof Collection<?> values) {
      values.forEach(this::received);
    } else if (result instanceof CompletableFuture<?> future) {
      future.thenAccept(this::received);
    }
    return result;
  }
}
