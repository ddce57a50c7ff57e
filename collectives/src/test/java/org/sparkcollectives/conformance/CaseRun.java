package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * One rank's side of one case: its tensors, and the checks of their results.
 *
 * <p>A rank contributes several parts with different numbers: what it sends to a peer has the
 * peer's rank as its number, and the n-th tensor of several has n.
 */
final class CaseRun {

  private final ProcessGroup group;
  private final ConformanceCase what;
  private final Arena arena;
  private final boolean oneMemory;
  private final CRC32 agreed = new CRC32();
  private int tensors;

  CaseRun(ProcessGroup group, ConformanceCase what, Arena arena, boolean oneMemory) {
    this.group = group;
    this.what = what;
    this.arena = arena;
    this.oneMemory = oneMemory;
    arena.clear();
  }

  ProcessGroup group() {
    return group;
  }

  int rank() {
    return group.rank();
  }

  int world() {
    return group.size();
  }

  ConformanceCase what() {
    return what;
  }

  ReduceOp op() {
    return what.reduction().of(rank());
  }

  /** Returns the number of elements of the case's size. */
  int count() {
    return what.size().count(what.dtype(), oneMemory);
  }

  /**
   * Returns the number of elements for a tensor of which the ranks work on a part each: in one
   * memory each part is to be large then.
   */
  int sharedCount() {
    return oneMemory && what.size() == CaseSize.LARGE ? count() * world() : count();
  }

  /** Returns that number for each rank. */
  int[] even() {
    int[] counts = new int[world()];
    Arrays.fill(counts, count());
    return counts;
  }

  /** Returns numbers that differ by rank. */
  int[] uneven() {
    return what.size().uneven(what.dtype(), world(), oneMemory);
  }

  /** Returns the roots to try: each rank, but only one where the tensors are large. */
  int[] roots() {
    return what.size() == CaseSize.LARGE
        ? new int[] {(what.dtype().ordinal() + what.memory().ordinal()) % world()}
        : IntStream.range(0, world()).toArray();
  }

  /** Returns a tensor to receive into. */
  HostTensor blank(int count) {
    return blank(what.dtype(), count);
  }

  HostTensor blank(DType dtype, int count) {
    return arena.tensor(dtype, count, what.memory().place(rank(), tensors++));
  }

  /** Returns a tensor with one of the parts that this rank contributes. */
  HostTensor given(int part, int count) {
    return give(blank(count), part);
  }

  /** Stores one of the parts that this rank contributes in a tensor. */
  HostTensor give(Tensor tensor, int part) {
    HostTensor host = HostTensor.of(tensor);
    arena.write(host, Contributions.of(host.dtype(), rank(), part, (int) host.count()));
    return host;
  }

  void write(HostTensor tensor, ByteBuffer elements) {
    arena.write(tensor, elements);
  }

  /** Asserts that a tensor holds one of the parts that a rank contributed. */
  void assertMoved(Tensor tensor, int from, int part) {
    ByteBuffer elements = Contributions.of(tensor.dtype(), from, part, (int) tensor.count());
    check("part " + part + " of rank " + from, tensor, Expected.moved(tensor.dtype(), elements));
  }

  /** Asserts that a tensor still holds one of the parts that this rank contributed. */
  void assertUntouched(Tensor tensor, int part) {
    ByteBuffer elements = Contributions.of(tensor.dtype(), rank(), part, (int) tensor.count());
    check("input " + part, tensor, Expected.moved(tensor.dtype(), elements));
  }

  /** Asserts that a tensor holds the reduction of one of the parts of all ranks. */
  void assertReduced(Tensor tensor, int part) {
    check(
        "reduced part " + part,
        tensor,
        Reductions.of(what.dtype(), what.reduction(), world(), part, (int) tensor.count()));
  }

  void check(String name, Tensor tensor, Expected expected) {
    String difference = expected.difference(arena.read(HostTensor.of(tensor)));
    if (difference != null) {
      throw new AssertionError(name + ": " + difference);
    }
  }

  /** Records bits that must be the same on all ranks, which is checked when all have ended. */
  void assertAgreed(Tensor tensor) {
    agreed.update(arena.read(HostTensor.of(tensor)));
  }

  /** Ends the case, and returns a digest that must be the same on all ranks. */
  long finish() {
    arena.assertMarginsUntouched();
    assertThat(group.size()).isEqualTo(what.world());
    return agreed.getValue();
  }
}
