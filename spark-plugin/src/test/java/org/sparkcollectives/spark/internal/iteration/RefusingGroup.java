package org.sparkcollectives.spark.internal.iteration;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;

/** A group some of whose methods throw as they do where the store refuses. */
final class RefusingGroup {

  private RefusingGroup() {}

  static ProcessGroup of(ProcessGroup group, String... refused) {
    Set<String> names = Set.of(refused);
    return (ProcessGroup)
        Proxy.newProxyInstance(
            ProcessGroup.class.getClassLoader(),
            new Class<?>[] {ProcessGroup.class},
            (proxy, method, arguments) -> {
              if (names.contains(method.getName())) {
                throw new CollectiveException("The store has no room");
              }
              try {
                return method.invoke(group, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
