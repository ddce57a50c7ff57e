package org.sparkcollectives;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.sparkcollectives.store.PrefixStore;
import org.sparkcollectives.store.WatchableStore;

/** Makes a view of a store that runs something before or after its calls. */
public final class FaultyStore {

  /** Runs before or after a call; what it throws is thrown to the store's caller. */
  public interface Fault {
    void strike(String method, String firstArgument);
  }

  public static final Fault NONE = (method, argument) -> {};

  private FaultyStore() {}

  public static WatchableStore over(WatchableStore store, Fault before, Fault after) {
    WatchableStore[] self = new WatchableStore[1];
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          String argument = arguments == null ? "" : String.valueOf(arguments[0]);
          return switch (method.getName()) {
            case "withPrefix" -> PrefixStore.of(argument, self[0]);
            case "withTimeout" ->
                over((WatchableStore) method.invoke(store, arguments), before, after);
            default -> {
              before.strike(method.getName(), argument);
              try {
                yield method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                after.strike(method.getName(), argument);
              }
            }
          };
        };
    self[0] =
        (WatchableStore)
            Proxy.newProxyInstance(
                FaultyStore.class.getClassLoader(), new Class<?>[] {WatchableStore.class}, handler);
    return self[0];
  }
}
