package org.sparkcollectives.spark.internal.protocol;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializationStream;
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

  /** Returns {@code thrown} as bytes; none if it cannot be serialized, or is too large. */
  public static byte[] encode(Throwable thrown) {
    try {
      BoundedBytes bytes = new BoundedBytes();
      try (SerializationStream stream = serializer().serializeStream(bytes)) {
        stream.writeObject(thrown, ClassTag$.MODULE$.apply(Object.class));
      }
      return bytes.toByteArray();
      // Also checked ones, which Scala does not declare. Thousands of causes overflow the stack.
    } catch (Exception | LinkageError | StackOverflowError e) {
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
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.debug("What a rank has thrown is not known to the driver", e);
      return Optional.empty();
    }
  }

  private static SerializerInstance serializer() {
    return new JavaSerializer(new SparkConf(false)).newInstance();
  }

  /** Ends the serialization of what is too large: nobody needs the memory for the rest. */
  private static final class BoundedBytes extends ByteArrayOutputStream {

    @Override
    public synchronized void write(int value) {
      require(1);
      super.write(value);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      require(length);
      super.write(bytes, offset, length);
    }

    private void require(int more) {
      if (more > MAX_BYTES - count) {
        throw new IllegalArgumentException("The exception has more than " + MAX_BYTES + " bytes");
      }
    }
  }
}
