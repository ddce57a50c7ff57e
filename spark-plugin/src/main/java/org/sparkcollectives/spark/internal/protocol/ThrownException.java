package org.sparkcollectives.spark.internal.protocol;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.reflect.ClassTag$;

/** The exception of a rank, as the bytes in which an executor sends it to the driver. */
public final class ThrownException {

  /** Larger ones are not sent: the job then fails with the text that Spark has of it. */
  private static final int MAX_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(ThrownException.class);

  private ThrownException() {}

  /** Returns {@code thrown} as bytes; none if it cannot be serialized. */
  public static byte[] encode(Throwable thrown) {
    try {
      ByteBuffer buffer = serializer().serialize(thrown, ClassTag$.MODULE$.apply(Object.class));
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      return bytes.length <= MAX_BYTES ? bytes : new byte[0];
    } catch (Exception e) { // Also checked ones, which Scala does not declare.
      LOG.debug("The driver is not sent what a rank has thrown, which cannot be serialized", e);
      return new byte[0];
    }
  }

  /** Returns what the bytes were made of; empty if they are none, or if it is not known here. */
  public static Optional<Throwable> decode(byte[] bytes) {
    if (bytes.length == 0) {
      return Optional.empty();
    }
    try {
      Object thrown =
          serializer().deserialize(ByteBuffer.wrap(bytes), ClassTag$.MODULE$.apply(Object.class));
      return Optional.of((Throwable) thrown);
    } catch (Exception | LinkageError e) {
      LOG.debug("What a rank has thrown is not known to the driver", e);
      return Optional.empty();
    }
  }

  private static SerializerInstance serializer() {
    return new JavaSerializer(new SparkConf(false)).newInstance();
  }
}
