package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.DType;
import org.sparkcollectives.gpu.DeviceTensor;

/** Checks each function of NCCL on a communicator of all ranks. */
final class NcclCallChecks {

  private static final int FLOAT32 = NcclRank.FLOAT32;
  private static final int SUM = NcclRank.SUM;
  private static final int FIRST = 0;

  private final NcclRank self;

  NcclCallChecks(NcclRank self) {
    this.self = self;
  }

  /** Runs all checks that the version of NCCL has functions for, and destroys the communicator. */
  void run(long communicator) {
    collectives(communicator);
    messages(communicator);
    scaled(communicator);
    registration(communicator);
    split(communicator);
    if (self.nccl.canShrink()) {
      shrink(communicator);
    }
    if (self.nccl.canAllToAll()) {
      allToAll(communicator);
    }
    self.check(communicator, self.nccl.commFinalize(communicator));
    self.check(self.nccl.commDestroy(communicator));
  }

  private void collectives(long communicator) {
    float ranks = self.size * (self.size - 1) / 2f;
    DeviceTensor all = self.tensor(self.rank, 1);
    self.check(communicator, self.sum(communicator, all));
    assertThat(NcclRank.values(all)).containsExactly(ranks, self.size);
    long count = all.count();
    long target = self.stream.handle();

    DeviceTensor one = self.tensor(self.rank, self.rank);
    self.check(
        communicator,
        self.nccl.broadcast(
            one.address(), one.address(), count, FLOAT32, self.size - 1, communicator, target));
    assertThat(NcclRank.values(one)).containsExactly(self.size - 1, self.size - 1);
    DeviceTensor reduced = self.tensor(self.rank, 2);
    self.check(
        communicator,
        self.nccl.reduce(
            reduced.address(),
            reduced.address(),
            count,
            FLOAT32,
            SUM,
            FIRST,
            communicator,
            target));
    assertThat(NcclRank.values(reduced))
        .containsExactly(
            self.rank == 0 ? new float[] {ranks, 2 * self.size} : new float[] {self.rank, 2});

    DeviceTensor gathered = DeviceTensor.allocate(self.device, DType.FLOAT32, 2L * self.size);
    DeviceTensor mine = self.tensor(self.rank, -self.rank);
    self.check(
        communicator,
        self.nccl.allGather(
            mine.address(), gathered.address(), count, FLOAT32, communicator, target));
    float[] expected = new float[2 * self.size];
    for (int each = 0; each < self.size; each++) {
      expected[2 * each] = each;
      expected[2 * each + 1] = -each;
    }
    assertThat(NcclRank.values(gathered)).isEqualTo(expected);
    self.check(
        communicator,
        self.nccl.reduceScatter(
            gathered.address(), mine.address(), count, FLOAT32, SUM, communicator, target));
    assertThat(NcclRank.values(mine))
        .containsExactly(self.rank * self.size, -self.rank * self.size);
  }

  private void allToAll(long communicator) {
    float[] parts = new float[2 * self.size];
    float[] expected = new float[2 * self.size];
    for (int each = 0; each < 2 * self.size; each++) {
      parts[each] = 100 * self.rank + each;
      expected[each] = 100 * (each / 2) + 2 * self.rank + each % 2;
    }
    DeviceTensor sent = self.tensor(parts);
    DeviceTensor received = self.tensor(new float[2 * self.size]);
    self.check(
        communicator,
        self.nccl.allToAll(
            sent.address(), received.address(), 2, FLOAT32, communicator, self.stream.handle()));
    assertThat(NcclRank.values(received)).containsExactly(expected);
  }

  private void messages(long communicator) {
    DeviceTensor sent = self.tensor(self.rank);
    DeviceTensor received = self.tensor(-1);
    self.check(self.nccl.groupStart());
    self.nccl.send(
        sent.address(),
        1,
        FLOAT32,
        (self.rank + 1) % self.size,
        communicator,
        self.stream.handle());
    self.nccl.receive(
        received.address(),
        1,
        FLOAT32,
        (self.rank + self.size - 1) % self.size,
        communicator,
        self.stream.handle());
    self.check(communicator, self.nccl.groupEnd());
    assertThat(NcclRank.values(received)).containsExactly((self.rank + self.size - 1) % self.size);
  }

  /** Destroys the reduction before the operation is done, and creates another one after it. */
  private void scaled(long communicator) {
    DeviceTensor first = self.tensor(1, 2);
    DeviceTensor second = self.tensor(1, 2);
    scale(communicator, first, 0.5f);
    scale(communicator, second, 3);
    assertThat(NcclRank.values(first)).containsExactly(self.size * 0.5f, self.size);
    assertThat(NcclRank.values(second)).containsExactly(self.size * 3, self.size * 6);
  }

  private void scale(long communicator, DeviceTensor tensor, float by) {
    ByteBuffer number = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
    ByteBuffer factor = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
    factor.putFloat(0, by);
    self.check(communicator, self.nccl.preMulSum(number, factor, FLOAT32, communicator));
    self.check(
        communicator,
        self.nccl.allReduce(
            tensor.address(),
            tensor.address(),
            tensor.count(),
            FLOAT32,
            number.getInt(0),
            communicator,
            self.stream.handle()));
    self.check(communicator, self.nccl.destroyOp(number.getInt(0), communicator));
  }

  private void registration(long communicator) {
    self.check(self.nccl.memAlloc(self.slot, 4096));
    long address = self.slot.getLong(0);
    self.check(communicator, self.nccl.commRegister(communicator, address, 4096, self.slot));
    self.check(communicator, self.nccl.commDeregister(communicator, self.slot.getLong(0)));
    self.check(self.nccl.memFree(address));
  }

  private void split(long communicator) {
    ByteBuffer settings = new NcclSettings(true).encode();
    // The ranks in the opposite order; the last rank joins no new communicator.
    int color = self.rank == self.size - 1 ? Nccl.NO_COLOR : 0;
    self.check(
        communicator, self.nccl.commSplit(communicator, color, -self.rank, self.slot, settings));
    long part = self.slot.getLong(0);
    if (color == Nccl.NO_COLOR) {
      assertThat(part).isZero();
      return;
    }
    DeviceTensor tensor = self.tensor(self.rank);
    self.check(
        part,
        self.nccl.broadcast(
            tensor.address(), tensor.address(), 1, FLOAT32, FIRST, part, self.stream.handle()));
    assertThat(NcclRank.values(tensor)).containsExactly(self.size - 2);
    self.check(self.nccl.commDestroy(part));
  }

  private void shrink(long communicator) {
    if (self.rank == self.size - 1) {
      return;
    }
    ByteBuffer settings = new NcclSettings(true).encode();
    self.check(
        communicator,
        self.nccl.commShrink(
            communicator, new int[] {self.size - 1}, self.slot, settings, Nccl.SHRINK_DEFAULT));
    long part = self.slot.getLong(0);
    DeviceTensor tensor = self.tensor(1);
    self.check(part, self.sum(part, tensor));
    assertThat(NcclRank.values(tensor)).containsExactly(self.size - 1);
    self.check(self.nccl.commDestroy(part));
  }
}
