package org.sparkcollectives;

/**
 * The place of a tensor's memory.
 *
 * @param type the kind of device
 * @param index which one of its kind, 0 for the CPU
 */
public record Device(Type type, int index) {

  /** The kinds of device. */
  public enum Type {
    /** The memory of the JVM's process, on or off the Java heap. */
    CPU,
    /** The memory of an NVIDIA GPU. */
    CUDA
  }

  /** The CPU. */
  public static final Device CPU = new Device(Type.CPU, 0);

  /** Returns the CUDA device with this ordinal in the current process. */
  public static Device cuda(int ordinal) {
    return new Device(Type.CUDA, ordinal);
  }

  @Override
  public String toString() {
    return type == Type.CPU ? "cpu" : "cuda:" + index;
  }
}
