package org.sparkcollectives.object;

import java.io.Externalizable;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/** Tells what Java serialization does with a class. */
final class JavaSerialization {

  private static final ClassValue<Boolean> STAND_INS =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return Arrays.stream(type.getDeclaredMethods())
              .anyMatch(each -> each.getName().equals("readResolve"));
        }
      };

  private JavaSerialization() {}

  /** Returns whether a class is the JDK's. */
  static boolean isPlatforms(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    return loader == null || loader == ClassLoader.getPlatformClassLoader();
  }

  /** Returns whether Java serialization carries objects of a class with their whole state. */
  static boolean carries(Class<?> type) {
    if (!Serializable.class.isAssignableFrom(type)) {
      return false;
    }
    if (isPlatforms(type)) {
      return true;
    }
    return isCustom(type) ? !isReplacedByScala(type) : !losesSuperclass(type);
  }

  /**
   * Returns whether a user's class inherits what a collection of Scala 2.13 puts in its own place,
   * which is made again as Scala's class.
   */
  private static boolean isReplacedByScala(Class<?> type) {
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      if (Arrays.stream(each.getDeclaredMethods())
          .anyMatch(method -> method.getName().equals("writeReplace"))) {
        return each.getName().startsWith("scala.") && !type.getName().startsWith("scala.");
      }
    }
    return false;
  }

  /** Returns whether a superclass has fields, and is not serializable. */
  private static boolean losesSuperclass(Class<?> type) {
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      if (!Serializable.class.isAssignableFrom(each)
          && Arrays.stream(each.getDeclaredFields()).anyMatch(JavaSerialization::isState)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a field is a part of its object that is to be kept. */
  static boolean isState(Field field) {
    return !Modifier.isStatic(field.getModifiers()) && !Modifier.isTransient(field.getModifiers());
  }

  /**
   * Returns whether a serializable class, or a superclass of it, has a say in how it is written.
   */
  static boolean isCustom(Class<?> type) {
    if (Externalizable.class.isAssignableFrom(type)) {
      return true;
    }
    for (Class<?> each = type; each != null && !isPlatforms(each); each = each.getSuperclass()) {
      if (declaresHook(each)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the JDK puts an object of a class in a stream, in the place of another one. */
  static boolean isStandIn(Class<?> type) {
    return isPlatforms(type) && STAND_INS.get(type);
  }

  private static boolean declaresHook(Class<?> type) {
    try {
      return Arrays.stream(type.getDeclaredMethods()).anyMatch(JavaSerialization::isHook)
          || Arrays.stream(type.getDeclaredFields())
              .anyMatch(each -> each.getName().equals("serialPersistentFields"));
    } catch (NoClassDefFoundError e) {
      return false; // A class that a method mentions is missing, which does not keep Kryo from it.
    }
  }

  private static boolean isHook(Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    return switch (method.getName()) {
      case "writeObject" -> parameters.length == 1 && parameters[0] == ObjectOutputStream.class;
      case "readObject" -> parameters.length == 1 && parameters[0] == ObjectInputStream.class;
      case "writeReplace", "readResolve" -> parameters.length == 0;
      default -> false;
    };
  }
}
