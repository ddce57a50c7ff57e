package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What Kryo 4 does not know of Java 17, for any Kryo. Where classes are registered, this must come
 * first: Kryo chooses a serializer when it registers a class, and fails for records. In Spark that
 * is in a registrator ({@code spark.kryo.registrator}), as {@code spark.kryo.classesToRegister}
 * comes before everything.
 */
public final class JavaTypes {

  private JavaTypes() {}

  /** Adds records, and the lists, sets and maps that {@code of} and {@code copyOf} make. */
  public static void addTo(Kryo kryo) {
    kryo.addDefaultSerializer(Record.class, (made, type) -> new RecordSerializer(type));
    kryo.addDefaultSerializer(
        List.of().getClass().getSuperclass(), ImmutableSerializers.ofUnmodifiableLists());
    kryo.addDefaultSerializer(
        Set.of().getClass().getSuperclass(), new ImmutableSerializers.OfSets());
    kryo.addDefaultSerializer(
        Map.of().getClass().getSuperclass(), new ImmutableSerializers.OfMaps());
  }
}
