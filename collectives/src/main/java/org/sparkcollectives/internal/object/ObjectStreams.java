package org.sparkcollectives.internal.object;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.sparkcollectives.ObjectSerializationException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.RemoteCause;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.spi.failure.Causes;

/**
 * Sends and receives objects as frames, and explains failures.
 *
 * @param codec of this rank
 * @param group whose ranks send and receive
 */
record ObjectStreams(ObjectCodec codec, ProcessGroup group) {

  /** The longest name that its length in a byte allows; a longer one is cut. */
  private static final int LONGEST_NAME = 255;

  /**
   * Returns whether a codec throws this for an object that it cannot handle. Otherwise the process
   * cannot go on, such as one that has no memory left.
   */
  private static boolean isOfObject(Throwable thrown) {
    return !(thrown instanceof VirtualMachineError) || thrown instanceof StackOverflowError;
  }

  /** Ends the group with what is not of an object, and throws it. Nobody else would tell others. */
  private RuntimeException ended(Throwable thrown) {
    group.abort(thrown);
    throw ObjectStreams.<RuntimeException>unchecked(thrown);
  }

  /**
   * Sends an object. When this returns or throws an {@link ObjectSerializationException}, the path
   * has been used to its end.
   *
   * @param call what errors call this, such as {@code object broadcast from rank 1}
   */
  void write(Object object, FrameOutput.Path path, String call) {
    FrameOutput output = new FrameOutput(path);
    try {
      writeName(object, output);
      codec.write(object, output);
    } catch (Throwable e) {
      output.requireWhole();
      if (!isOfObject(e)) {
        throw ended(e);
      }
      SerializationFailure failure = SerializationFailure.of(object, e);
      output.fail(failure.encode());
      throw cannotSerialize(call, group.rank(), failure, e);
    }
    output.finish();
  }

  /**
   * Receives an object.
   *
   * @see #write
   */
  Object read(FrameInput.Path path, int source, String call) {
    FrameInput input =
        new FrameInput(path, call + " on rank " + group.rank() + " of " + quotedGroup());
    Object object = null;
    String name = null;
    Throwable thrown = null;
    try {
      name = readName(input);
      object = codec.read(input);
    } catch (Throwable e) {
      if (!isOfObject(e)) {
        throw ended(e);
      }
      thrown = e;
    }
    input.drain();
    if (input.failure() != null) {
      SerializationFailure failure = SerializationFailure.decode(input.failure());
      throw cannotSerialize(call, source, failure, new RemoteCause(failure.stackTrace()));
    }
    if (thrown != null) {
      throw cannotRead(call, source, name, thrown);
    }
    return object;
  }

  /** Tells the class of an object, for errors of those who cannot read it. */
  private static void writeName(Object object, FrameOutput output) {
    byte[] name = SerializationFailure.className(object).getBytes(StandardCharsets.UTF_8);
    int length = Math.min(name.length, LONGEST_NAME);
    output.write(length);
    output.write(name, 0, length);
  }

  private static String readName(FrameInput input) throws IOException {
    int length = input.read();
    return length < 0 ? "unknown" : new String(input.readNBytes(length), StandardCharsets.UTF_8);
  }

  private ObjectSerializationException cannotSerialize(
      String call, int at, SerializationFailure failure, Throwable cause) {
    return new ObjectSerializationException(
        call
            + " in "
            + quotedGroup()
            + ", seen on rank "
            + group.rank()
            + ": rank "
            + at
            + " could not serialise its object of class "
            + failure.objectClass()
            + ": "
            + failure.reason()
            + " [the group stays usable]",
        cause);
  }

  private ObjectSerializationException cannotRead(
      String call, int source, String name, Throwable thrown) {
    String missing = missingClass(thrown);
    String what =
        missing == null
            ? "rank "
                + group.rank()
                + " could not read the object of class "
                + name
                + " that rank "
                + source
                + " has sent: "
                + SerializationFailure.reason(thrown)
            : "class "
                + missing
                + " is in the object of rank "
                + source
                + " and is missing on rank "
                + group.rank()
                + "; give all ranks the jar that has it (in Spark: spark.jars or --jars)";
    return new ObjectSerializationException(
        call + " in " + quotedGroup() + ": " + what + " [the group stays usable]", thrown);
  }

  /** Returns the name of the class that could not be found, or null if something else is wrong. */
  private static String missingClass(Throwable thrown) {
    return Causes.of(thrown)
        .filter(
            each -> each instanceof ClassNotFoundException || each instanceof NoClassDefFoundError)
        .findFirst()
        .map(each -> Objects.toString(each.getMessage()).replace('/', '.'))
        .orElse(null);
  }

  private String quotedGroup() {
    return "group \"" + group.name() + "\"";
  }

  /** Throws an exception as it is, checked or not. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Throwable> E unchecked(Throwable e) throws E {
    throw (E) e;
  }
}
