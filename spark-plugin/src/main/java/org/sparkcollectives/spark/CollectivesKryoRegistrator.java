package org.sparkcollectives.spark;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import org.apache.spark.serializer.KryoRegistrator;
import org.sparkcollectives.DType;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ReduceOp;

/**
 * Prepares Kryo for rows and broadcasts that contain Java records, or types of this library: {@code
 * spark.kryo.registrator=org.sparkcollectives.spark.CollectivesKryoRegistrator}.
 *
 * <p>Kryo 4, which Spark uses, cannot access the fields of a record. With this registrator, records
 * use Java serialisation if they are {@link java.io.Serializable}. If {@code
 * spark.kryo.registrationRequired} is set, the application needs its own registrator, named after
 * this one, to register its records; this one registers the library's types. The library itself
 * does not need Kryo: functions, and the options in them, never use it.
 */
public final class CollectivesKryoRegistrator implements KryoRegistrator {

  /** Creates the registrator; Spark calls this. */
  public CollectivesKryoRegistrator() {}

  @Override
  public void registerClasses(Kryo kryo) {
    kryo.addDefaultSerializer(Record.class, JavaSerializer.class);
    kryo.register(DType.class);
    kryo.register(DebugLevel.class);
    kryo.register(ReduceOp.Kind.class);
    kryo.register(ReduceOp.class);
    // Only the class is registered: Java serialisation writes its fields.
    kryo.register(GroupOptions.class, new JavaSerializer());
  }
}
