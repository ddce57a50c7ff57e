package org.sparkcollectives.gpu.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaException;

/** A driver in front of another one that records the calls in their order. */
public final class RecordedCuda {

  private final Cuda cuda;
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  /** Records the calls of these names. */
  public RecordedCuda(Cuda behind, Set<String> names) {
    cuda =
        (Cuda)
            Proxy.newProxyInstance(
                Cuda.class.getClassLoader(),
                new Class<?>[] {Cuda.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "equals" -> proxy == arguments[0];
                      case "hashCode" -> System.identityHashCode(proxy);
                      default -> {
                        String name = method.getName();
                        if (refused.contains(name)) {
                          throw new CudaException(name, 999, "refused");
                        }
                        if (names.contains(name)) {
                          calls.add(name);
                        }
                        yield invoke(method, behind, arguments);
                      }
                    });
  }

  private static Object invoke(Method method, Cuda behind, Object[] arguments) throws Throwable {
    try {
      return method.invoke(behind, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** Returns the driver. */
  public Cuda cuda() {
    return cuda;
  }

  /** Makes calls of these names fail from now on; others succeed. */
  public void refuse(String... names) {
    refused.clear();
    refused.addAll(Set.of(names));
  }

  /** Returns the calls since the last time. */
  public List<String> takeCalls() {
    List<String> taken = List.copyOf(calls);
    calls.clear();
    return taken;
  }
}
