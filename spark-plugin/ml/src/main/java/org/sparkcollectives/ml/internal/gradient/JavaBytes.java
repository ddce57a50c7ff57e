package org.sparkcollectives.ml.internal.gradient;

import java.nio.ByteBuffer;
import org.apache.spark.SparkEnv;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.util.Utils$;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Objects in Java's serialization. Spark sends the results of tasks by {@code spark.serializer},
 * which may be Kryo, and Kryo reads neither records nor what it was not told of.
 */
final class JavaBytes {

  private JavaBytes() {}

  static byte[] of(Object object) {
    ByteBuffer buffer = serializer().serialize(object, any());
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  static <T> T read(byte[] bytes, Class<T> type) {
    Object read =
        serializer()
            .deserialize(
                ByteBuffer.wrap(bytes), Utils$.MODULE$.getContextOrSparkClassLoader(), any());
    return type.cast(read);
  }

  private static SerializerInstance serializer() {
    return SparkEnv.get().closureSerializer().newInstance();
  }

  private static ClassTag<Object> any() {
    return ClassTag$.MODULE$.apply(Object.class);
  }
}
