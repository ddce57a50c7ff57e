package org.sparkcollectives.internal.object;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.spi.failure.Causes;
import org.sparkcollectives.spi.failure.FailureCodec;

/**
 * The reason why a rank could not serialise an object, as it is sent to the ranks that wait for it.
 *
 * @param objectClass the name of the object's class
 * @param reason in one line or a few
 * @param stackTrace what the codec has thrown
 */
record SerializationFailure(String objectClass, String reason, String stackTrace) {

  /**
   * The longest text in characters: enough to find a cause, and less than what a modified UTF-8
   * string holds.
   */
  private static final int LONGEST_TEXT = 16_000;

  static SerializationFailure of(Object object, Throwable thrown) {
    return new SerializationFailure(
        className(object), cut(reason(thrown)), cut(FailureCodec.describe(thrown)));
  }

  /** Returns the name of an object's class. */
  static String className(Object object) {
    return object == null ? "null" : object.getClass().getName();
  }

  /** Returns what was thrown and its causes. */
  static String reason(Throwable thrown) {
    Throwable root = Causes.of(thrown).reduce(thrown, (outer, inner) -> inner);
    return thrown == root ? thrown.toString() : thrown + "; because of " + root;
  }

  private static String cut(String text) {
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT);
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF(cut(objectClass));
      out.writeUTF(reason);
      out.writeUTF(stackTrace);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }

  static SerializationFailure decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return new SerializationFailure(in.readUTF(), in.readUTF(), in.readUTF());
    } catch (IOException e) {
      throw new CollectiveMismatchException("A rank told of a failed serialisation in no words");
    }
  }
}
