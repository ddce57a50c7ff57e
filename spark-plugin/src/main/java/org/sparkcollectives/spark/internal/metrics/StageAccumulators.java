package org.sparkcollectives.spark.internal.metrics;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.util.Base64;
import org.apache.spark.SparkContext;
import org.apache.spark.util.DoubleAccumulator;
import org.apache.spark.util.LongAccumulator;

/**
 * The accumulators that Spark shows on the page of a barrier stage, for each task and summed up.
 *
 * <p>The driver creates them, and gives them to the executors as a text in their plugin's settings.
 * A task decodes the text on its own thread: Spark then counts the accumulators among the task's.
 * Two are few enough for each task to carry.
 */
public final class StageAccumulators {

  /** The name of the text in the settings that the driver's plugin gives to the executors'. */
  public static final String KEY = "accumulators";

  /** The name of the first accumulator. */
  public static final String BYTES = "collectives: bytes";

  /** The name of the second accumulator. */
  public static final String SECONDS = "collectives: seconds";

  private final LongAccumulator bytes;
  private final DoubleAccumulator seconds;

  private StageAccumulators(LongAccumulator bytes, DoubleAccumulator seconds) {
    this.bytes = bytes;
    this.seconds = seconds;
  }

  /** Creates those of an application. Spark forgets them with this object. */
  public static StageAccumulators of(SparkContext context) {
    return new StageAccumulators(
        context.longAccumulator(BYTES), context.doubleAccumulator(SECONDS));
  }

  /** Returns the text for the executors. */
  public String encode() {
    ByteArrayOutputStream encoded = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(encoded)) {
      out.writeObject(bytes);
      out.writeObject(seconds);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Base64.getEncoder().encodeToString(encoded.toByteArray());
  }

  /**
   * Returns the accumulators of the task whose thread calls this.
   *
   * @param text from the driver
   * @throws IllegalArgumentException if it is none
   */
  public static StageAccumulators decode(String text) {
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(text)))) {
      return new StageAccumulators(
          (LongAccumulator) in.readObject(), (DoubleAccumulator) in.readObject());
    } catch (IOException | ReflectiveOperationException | ClassCastException e) {
      throw new IllegalArgumentException("These are no accumulators: " + e, e);
    }
  }

  /** Adds what a rank of the task has done. */
  public synchronized void add(long moreBytes, double moreSeconds) {
    bytes.add(moreBytes);
    seconds.add(moreSeconds);
  }
}
