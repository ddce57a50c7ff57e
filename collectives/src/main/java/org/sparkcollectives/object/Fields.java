package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.esotericsoftware.kryo.serializers.FieldSerializer.CachedField;
import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.temporal.Temporal;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/** Tells whether Kryo may copy an object field by field. */
final class Fields {

  private static final ClassValue<Boolean> ALL =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return compute(type);
        }
      };

  private static final Set<Class<?>> VALUES =
      Set.of(String.class, Character.class, Boolean.class, UUID.class);

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

  /** Makes a serializer that copies fields. */
  static Serializer<?> serializer(Kryo kryo, Class<?> type) {
    return whole(new FieldSerializer<>(kryo, type));
  }

  /**
   * Includes the fields in which an inner or local class has what it captures, and copies values
   * before all other fields. So an object that is in a set that it has, such as a node among its
   * neighbors, has what its hash code or its order depends on when it is put in there.
   */
  @SuppressWarnings("rawtypes") // Kryo's arrays of fields are raw.
  static Serializer<?> whole(FieldSerializer<?> serializer) {
    if (!hasCaptured(serializer)) {
      serializer.setIgnoreSyntheticFields(false);
    }
    if (serializer.getClass() == FieldSerializer.class) {
      Arrays.sort(
          serializer.getFields(),
          Comparator.comparing((CachedField each) -> !isValue(each.getField().getType())));
    }
    return serializer;
  }

  /**
   * Returns whether no captured field is missing. Otherwise Kryo must not be told to include them,
   * because it then fails for a serializer from which the user has removed a field.
   */
  @SuppressWarnings("rawtypes")
  private static boolean hasCaptured(FieldSerializer<?> serializer) {
    Set<Field> copied = new HashSet<>();
    for (CachedField each : serializer.getFields()) {
      copied.add(each.getField());
    }
    for (Class<?> each = serializer.getType(); each != null; each = each.getSuperclass()) {
      for (Field field : each.getDeclaredFields()) {
        if (field.isSynthetic() && JavaSerialization.isState(field) && !copied.contains(field)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean isValue(Class<?> type) {
    return type.isPrimitive()
        || type.isEnum()
        || (JavaSerialization.isPlatforms(type)
            && (Number.class.isAssignableFrom(type)
                || Temporal.class.isAssignableFrom(type)
                || VALUES.contains(type)));
  }
}
