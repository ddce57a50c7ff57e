package org.sparkcollectives.spark;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import org.apache.spark.serializer.KryoRegistrator;
import org.sparkcollectives.DType;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ReduceOp;

/**
 * Prepares Kryo for rows and broadcasts that hold records of Java, or types of this library: {@code
 * spark.kryo.registrator=org.sparkcollectives.spark.CollectivesKryoRegistrator}.
 *
 * <p>Kryo 4, which Spark has, cannot look into a record; with this registrator records go by Java
 * serialisation, if they are {@link java.io.Serializable}. Where {@code
 * spark.kryo.registrationRequired} is set, a registrator of one's own, named after this one, makes
 * the application's records known; this one does so for the library's types. The library itself
 * needs none of it: functions, and the options that they carry, never travel by Kryo.
 */
public final class CollectivesKryoRegistrator implements KryoRegistrator {

  /** Called by Spark. */
  public CollectivesKryoRegistrator() {}

  @Override
  public void registerClasses(Kryo kryo) {
    kryo.addDefaultSerializer(Record.class, JavaSerializer.class);
    kryo.register(DType.class);
    kryo.register(DebugLevel.class);
    kryo.register(ReduceOp.Kind.class);
    kryo.register(ReduceOp.class);
    // Its fields are its own affair; only the class itself has to be known this way.
    kryo.register(GroupOptions.class, new JavaSerializer());
  }
}
