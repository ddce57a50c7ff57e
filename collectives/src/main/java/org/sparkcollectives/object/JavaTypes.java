package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Adds to any Kryo what Kryo 4 does not know of Java 17. If classes are registered, call this
 * first: Kryo chooses a serializer when it registers a class, and fails for records. In Spark that
 * is in a registrator ({@code spark.kryo.registrator}), because {@code
 * spark.kryo.classesToRegister} is applied before everything else.
 */
public final class JavaTypes {

  private JavaTypes() {}

  /** Adds records, and the lists, sets and maps that {@code of} and {@code copyOf} make. */
  public static void addTo(Kryo kryo) {
    kryo.addDefaultSerializer(Record.class, (made, type) -> ofRecords(type));
    kryo.addDefaultSerializer(
        List.of().getClass().getSuperclass(), ImmutableSerializers.ofUnmodifiableLists());
    kryo.addDefaultSerializer(
        Set.of().getClass().getSuperclass(), new ImmutableSerializers.OfSets());
    kryo.addDefaultSerializer(
        Map.of().getClass().getSuperclass(), new ImmutableSerializers.OfMaps());
  }

  /** Returns a serializer that heeds what a record has a say in, such as a stand-in for it. */
  private static Serializer<?> ofRecords(Class<?> type) {
    return Serializable.class.isAssignableFrom(type) && JavaSerialization.isCustom(type)
        ? new JavaStreamSerializer()
        : new RecordSerializer(type);
  }
}
