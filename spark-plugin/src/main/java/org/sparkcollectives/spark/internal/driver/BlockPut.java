package org.sparkcollectives.spark.internal.driver;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Calls {@code putBytes} of a BlockManager, which from Spark 4.3 on has two more parameters before
 * its last one. They get Scala's default arguments.
 */
final class BlockPut {

  private static final String NAME = "putBytes";

  /** The block, its bytes, the storage level, and whether to tell the master. */
  private static final int LEADING = 4;

  private final Object target;
  private final Method method;
  private final Object[] defaults;

  private BlockPut(Object target, Method method, Object[] defaults) {
    this.target = target;
    this.method = method;
    this.defaults = defaults;
  }

  /**
   * Returns the method of a BlockManager.
   *
   * @throws IllegalStateException if it has none that can be called this way
   */
  static BlockPut of(Object blockManager) {
    Class<?> type = blockManager.getClass();
    Method method =
        Arrays.stream(type.getMethods())
            .filter(each -> each.getName().equals(NAME))
            .filter(each -> each.getParameterCount() > LEADING)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(type + " has no method " + NAME));
    try {
      Object[] defaults = new Object[method.getParameterCount() - LEADING - 1];
      for (int i = 0; i < defaults.length; i++) {
        String name = NAME + "$default$" + (LEADING + 1 + i);
        defaults[i] = type.getMethod(name).invoke(blockManager);
      }
      return new BlockPut(blockManager, method, defaults);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This version of Spark has another " + method, e);
    }
  }

  /**
   * Puts a block.
   *
   * @param leading the arguments before those with defaults, and at the end the last one
   * @return whether the block is kept
   * @throws Exception what the BlockManager throws
   */
  boolean put(Object... leading) throws Exception {
    Object[] arguments = new Object[method.getParameterCount()];
    System.arraycopy(leading, 0, arguments, 0, LEADING);
    System.arraycopy(defaults, 0, arguments, LEADING, defaults.length);
    arguments[arguments.length - 1] = leading[LEADING];
    try {
      return (Boolean) method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }
}
