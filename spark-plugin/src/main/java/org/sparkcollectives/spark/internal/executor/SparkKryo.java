package org.sparkcollectives.spark.internal.executor;

import com.esotericsoftware.kryo.Kryo;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.sparkcollectives.object.JavaTypes;
import org.sparkcollectives.object.KryoObjectCodec;
import org.sparkcollectives.object.ObjectCodec;

/**
 * Serializes objects as Spark's Kryo does, with all its settings: registrators, classes to
 * register, whether registration is required, reference tracking. Only {@code
 * spark.kryoserializer.buffer.max} is not a limit here. {@code spark.serializer} has no effect.
 */
final class SparkKryo {

  private static final String REGISTRATORS = "spark.kryo.registrator";

  private SparkKryo() {}

  /**
   * Creates a codec that finds classes as the current thread does: in a task, from the jars of the
   * task.
   */
  static ObjectCodec codec(SparkConf conf) {
    KryoSerializer serializer = new KryoSerializer(withScalaCollections(conf));
    serializer.setDefaultClassLoader(Thread.currentThread().getContextClassLoader());
    return new KryoObjectCodec(
        () -> {
          Kryo kryo = serializer.newKryo();
          JavaTypes.addTo(kryo);
          return kryo;
        });
  }

  private static SparkConf withScalaCollections(SparkConf conf) {
    String users = conf.get(REGISTRATORS, "");
    String ours = ScalaCollections.class.getName();
    return conf.clone().set(REGISTRATORS, users.isBlank() ? ours : users + "," + ours);
  }
}
