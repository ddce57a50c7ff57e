package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Lists which algorithm carries out each collective of a group, and why the others do not. Its text
 * is for reading; see docs/internals/algorithms.md for what each algorithm does.
 *
 * @param group the group, and where its ranks are
 * @param dtype the type of the elements
 * @param op the reduction
 * @param choices by collective, and by size
 */
public record AlgorithmChoices(String group, DType dtype, ReduceOp op, List<Choice> choices) {

  /**
   * An algorithm, and the sizes for which it is chosen. Sizes are looked at in powers of two.
   *
   * @param tensors where the tensors of all ranks lie; empty where that does not matter
   * @param sizes the sizes
   * @param algorithm its name; followed by {@code (refused)} where {@link
   *     GroupOptions#withAlgorithms} names one that cannot carry out the call
   * @param stripes in how many pieces the smallest is cut, each with connections of its own
   * @param candidates all algorithms for the collective, at the smallest size
   */
  public record Choice(
      OpType collective,
      Optional<Tensors> tensors,
      Sizes sizes,
      int stripes,
      String algorithm,
      List<Candidate> candidates) {

    /** Returns the smallest of the sizes. */
    public long fromBytes() {
      return sizes.fromBytes();
    }

    /** Returns the largest of the sizes. */
    public long toBytes() {
      return sizes.toBytes();
    }

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder(collective.name().toLowerCase(Locale.ROOT));
      tensors.ifPresent(each -> text.append(", ").append(each.words));
      if (collective != OpType.BARRIER) {
        text.append(", ").append(sizes);
      }
      text.append(": ").append(algorithm);
      text.append(stripes > 1 ? " in " + stripes + " stripes" : "").append('\n');
      candidates.forEach(each -> text.append("    ").append(each).append('\n'));
      return text.toString();
    }
  }

  /**
   * A range of sizes of the tensor, or of all parts together.
   *
   * @param fromBytes the smallest
   * @param toBytes the largest
   */
  public record Sizes(long fromBytes, long toBytes) {

    @Override
    public String toString() {
      return size(fromBytes) + (fromBytes == toBytes ? "" : " to " + size(toBytes));
    }

    private static String size(long bytes) {
      if (bytes >= 1 << 20) {
        return (bytes >> 20) + " MiB";
      }
      return bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
    }
  }

  /** The place of tensors, in groups whose processes share the memory of a host. */
  public enum Tensors {
    /** In memory from {@link ProcessGroup#allocate}. */
    ALLOCATED("tensors from allocate"),
    /** Elsewhere on some rank. */
    OTHERS("other tensors");

    private final String words;

    Tensors(String words) {
      this.words = words;
    }
  }

  /**
   * An algorithm that could have been chosen.
   *
   * @param predicted how long it takes, or one piece where the tensor is cut; empty where it cannot
   *     be used, or is not chosen by time
   * @param reason why it is chosen, or why not
   */
  public record Candidate(String algorithm, Optional<Duration> predicted, String reason) {

    @Override
    public String toString() {
      String time = predicted.map(Candidate::time).orElse("-");
      return String.format(Locale.ROOT, "%-26s %9s  %s", algorithm, time, reason);
    }

    private static String time(Duration predicted) {
      double micros = predicted.toNanos() / 1e3;
      return micros < 1e4
          ? String.format(Locale.ROOT, "%.1f us", micros)
          : String.format(Locale.ROOT, "%.1f ms", micros / 1e3);
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(group).append(", ").append(dtype.label()).append(", ").append(op).append('\n');
    choices.forEach(text::append);
    return text.toString();
  }
}
