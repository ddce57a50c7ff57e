package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.factories.ReflectionSerializerFactory;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/** Tells whether Kryo may copy an object field by field. */
final class Fields {

  private static final ClassValue<Boolean> ALL =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return compute(type);
        }
      };

  private Fields() {}

  /**
   * Returns whether the fields that are not transient are the whole state of objects of a class:
   * none of them is the JDK's, and the class has no way of its own to be serialized.
   */
  static boolean areAllOf(Class<?> type) {
    return ALL.get(type);
  }

  private static boolean compute(Class<?> type) {
    if (type == Object.class || type == SerializedLambda.class) {
      return true;
    }
    return !type.isInterface()
        && !JavaSerialization.isPlatforms(type)
        && !inheritsPlatformsFields(type)
        && !(Serializable.class.isAssignableFrom(type) && JavaSerialization.isCustom(type));
  }

  private static boolean inheritsPlatformsFields(Class<?> type) {
    for (Class<?> each = type.getSuperclass(); each != null; each = each.getSuperclass()) {
      if (JavaSerialization.isPlatforms(each)
          && Arrays.stream(each.getDeclaredFields())
              .anyMatch(field -> !Modifier.isStatic(field.getModifiers()))) {
        return true;
      }
    }
    return false;
  }

  /** Makes a serializer like another one, for another Kryo. */
  static Serializer<?> serializer(Kryo kryo, FieldSerializer<?> other, Class<?> type) {
    return withCaptured(ReflectionSerializerFactory.makeSerializer(kryo, other.getClass(), type));
  }

  /** Makes a serializer that copies fields. */
  static Serializer<?> serializer(Kryo kryo, Class<?> type) {
    return withCaptured(new FieldSerializer<>(kryo, type));
  }

  /** Includes the fields in which an inner or local class has what it captures. */
  private static Serializer<?> withCaptured(Serializer<?> serializer) {
    ((FieldSerializer<?>) serializer).setIgnoreSyntheticFields(false);
    return serializer;
  }
}
