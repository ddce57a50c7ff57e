package org.sparkcollectives.object;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Compares what a codec makes of objects with the objects, and with what Java makes of them. */
public final class ObjectCodecState {

  private ObjectCodecState() {}

  /** Returns a line for each sample that differs after it was written and read. */
  public static List<String> differences(ObjectCodec codec, List<ObjectSample> samples) {
    List<String> differences = new ArrayList<>();
    for (ObjectSample sample : samples) {
      String difference = difference(codec, sample);
      if (difference != null) {
        differences.add(sample.name() + ": " + difference);
      }
    }
    return differences;
  }

  private static String difference(ObjectCodec codec, ObjectSample sample) {
    Object copy;
    try {
      copy = copy(codec, sample.object());
    } catch (Exception | LinkageError e) {
      return e.toString();
    }
    Object javas = javasCopy(sample.object());
    Object expected = sample.behaviour().apply(sample.object());
    if (javas != null && !Objects.equals(expected, sample.behaviour().apply(javas))) {
      throw new AssertionError(sample.name() + " is no sample: Java loses its state");
    }
    Object actual = sample.behaviour().apply(copy);
    return Objects.equals(expected, actual) ? null : actual + " in place of " + expected;
  }

  /** Returns what is read of what is written. */
  public static Object copy(ObjectCodec codec, Object object) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    codec.write(object, bytes);
    return codec.read(new ByteArrayInputStream(bytes.toByteArray()));
  }

  /** Returns a copy by Java serialization; null if Java refuses the object. */
  private static Object javasCopy(Object object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(object);
      return new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    } catch (IOException | ClassNotFoundException e) {
      return null;
    }
  }
}
