package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.serializers.CollectionSerializer;
import com.esotericsoftware.kryo.serializers.DefaultSerializers;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.esotericsoftware.kryo.serializers.MapSerializer;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.net.InetSocketAddress;
import java.text.Format;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.Stack;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;

/**
 * Chooses serializers that carry an object with its whole state, or refuse it.
 *
 * <p>Kryo chooses by what a class is like: it copies the fields of most classes, and fills an empty
 * collection with the elements of any collection. Neither sees state that is elsewhere: transient
 * fields that a class writes itself, a comparator, a bound, the fields of a user's own collection.
 * Such objects come back without it, and no error tells. Chill, which Spark adds, does the same for
 * Scala's collections.
 *
 * <p>So a choice of Kryo's or Chill's own is kept only for classes that it is known to be right
 * for. Other classes are left to Java serialization, if they are {@link Serializable}, and are
 * refused when they are written if they are not. A serializer that the user has chosen is kept.
 */
public final class WholeState {

  /** Collections that are their elements and nothing else. */
  private static final Set<Class<?>> ELEMENTS_ONLY =
      Set.of(
          ArrayList.class,
          LinkedList.class,
          ArrayDeque.class,
          Vector.class,
          Stack.class,
          HashSet.class,
          LinkedHashSet.class,
          ConcurrentLinkedQueue.class,
          ConcurrentLinkedDeque.class,
          HashMap.class,
          Hashtable.class,
          ConcurrentHashMap.class);

  /** Classes of which Kryo's or Chill's serializer takes a part only. */
  private static final List<Class<?>> TAKEN_IN_PART =
      List.of(
          Calendar.class, // its kind
          TimeZone.class, // rules of its own
          Locale.class, // script and extensions
          ZonedDateTime.class, // the offset, in the hour that comes twice
          Pattern.class, // flags
          InetSocketAddress.class, // whether it is resolved, and the address
          Format.class); // locale and time zone

  /** Serializers for any class of a kind, which the class takes part in. */
  private static final Set<String> OF_A_KIND =
      Set.of(
          "com.esotericsoftware.kryo.serializers.DefaultSerializers$KryoSerializableSerializer",
          "com.esotericsoftware.kryo.serializers.DefaultSerializers$EnumSerializer",
          "com.esotericsoftware.kryo.serializers.EnumNameSerializer",
          "com.esotericsoftware.kryo.serializers.JavaSerializer",
          "com.esotericsoftware.kryo.serializers.ExternalizableSerializer",
          "com.twitter.chill.CleaningSerializer",
          "com.twitter.chill.EnumerationSerializer",
          "com.twitter.chill.ObjectSerializer",
          "com.twitter.chill.SingletonSerializer");

  private WholeState() {}

  /**
   * Returns a serializer that carries objects of a class with their whole state, or one that
   * refuses to write them.
   *
   * @param usual the serializer that {@code kryo} would use; null if it cannot make one
   */
  public static Serializer<?> serializer(Kryo kryo, Class<?> type, Serializer<?> usual) {
    if (usual != null && !isLibrarys(usual)) {
      return usual;
    }
    if (usual != null && carries(type, usual)) {
      return usual instanceof FieldSerializer<?> fields ? Fields.whole(fields) : usual;
    }
    Serializer<?> own = PlatformSerializers.of(type);
    if (own != null) {
      return own;
    }
    if (type == InvocationHandler.class || JavaSerialization.carries(type)) {
      return new JavaStreamSerializer(); // Kryo writes a dynamic proxy as the interface's type.
    }
    return !(usual instanceof FieldSerializer) && Fields.areAllOf(type)
        ? Fields.serializer(kryo, type)
        : new RefusingSerializer(type);
  }

  private static boolean isLibrarys(Serializer<?> serializer) {
    String name = serializer.getClass().getName();
    return name.startsWith("com.esotericsoftware.kryo.") || name.startsWith("com.twitter.chill.");
  }

  private static boolean carries(Class<?> type, Serializer<?> usual) {
    if (type.isArray() || type.isPrimitive() || OF_A_KIND.contains(usual.getClass().getName())) {
      return true;
    }
    if (usual instanceof FieldSerializer) {
      return Fields.areAllOf(type);
    }
    // What a library serializes in a way of its own is a class that it knows, but not its
    // subclasses.
    return isLibrary(type) && !isTakenInPart(type, usual);
  }

  private static boolean isLibrary(Class<?> type) {
    return JavaSerialization.isPlatforms(type)
        || type.getName().startsWith("scala.")
        || type.getName().startsWith("com.esotericsoftware.kryo.");
  }

  private static boolean isTakenInPart(Class<?> type, Serializer<?> usual) {
    if (usual.getClass() == CollectionSerializer.class || usual.getClass() == MapSerializer.class) {
      return !ELEMENTS_ONLY.contains(type);
    }
    if (usual instanceof DefaultSerializers.TreeMapSerializer) {
      return type != TreeMap.class;
    }
    if (usual instanceof DefaultSerializers.TreeSetSerializer) {
      return type != TreeSet.class;
    }
    if (usual instanceof DefaultSerializers.DateSerializer) {
      return type.getName().equals("java.sql.Timestamp"); // Kryo drops its nanoseconds.
    }
    return type.getName().equals("scala.math.BigDecimal") // Chill drops its context.
        || TAKEN_IN_PART.stream().anyMatch(each -> each.isAssignableFrom(type));
  }
}
