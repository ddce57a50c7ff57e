package org.sparkcollectives.spark.internal.iteration;

import java.nio.ByteBuffer;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Serializes as Spark does with closures, whatever {@code spark.serializer} says: a state comes to
 * the ranks in a closure, and so can be kept and returned in the same way. Classes are found as the
 * current thread finds them.
 */
public final class JavaBytes {

  private JavaBytes() {}

  /** Returns {@code object} as bytes. */
  public static byte[] of(Object object) {
    ByteBuffer bytes = serializer().serialize(object, any());
    byte[] array = new byte[bytes.remaining()];
    bytes.get(array);
    return array;
  }

  /**
   * Returns the object that the bytes were made of.
   *
   * @param <T> what the caller knows the object to be
   */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  public static <T> T read(byte[] bytes) {
    return (T) serializer().deserialize(ByteBuffer.wrap(bytes), any());
  }

  private static SerializerInstance serializer() {
    return new JavaSerializer(new SparkConf(false)).newInstance();
  }

  private static ClassTag<Object> any() {
    return ClassTag$.MODULE$.apply(Object.class);
  }
}
