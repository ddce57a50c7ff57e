package org.sparkcollectives.spark;

import com.esotericsoftware.kryo.Kryo;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.sparkcollectives.object.JavaTypes;
import org.sparkcollectives.object.KryoObjectCodec;
import org.sparkcollectives.object.ObjectCodec;

/**
 * Objects as Spark's Kryo writes them, with all its settings: registrators, classes to register,
 * whether registration is required, reference tracking. Only {@code
 * spark.kryoserializer.buffer.max} is no limit here. {@code spark.serializer} plays no part.
 */
final class SparkKryo {

  private SparkKryo() {}

  /** Finds classes where the current thread does: in a task, where the task's own came from. */
  static ObjectCodec codec(SparkConf conf) {
    KryoSerializer serializer = new KryoSerializer(conf);
    serializer.setDefaultClassLoader(Thread.currentThread().getContextClassLoader());
    return new KryoObjectCodec(
        () -> {
          Kryo kryo = serializer.newKryo();
          JavaTypes.addTo(kryo);
          return kryo;
        });
  }
}
