package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.sparkcollectives.gpu.DeviceTensor;

/** Checks how NCCL reports aborts, deaths, errors and ranks that never join. */
final class NcclErrorChecks {

  private final NcclRank self;

  NcclErrorChecks(NcclRank self) {
    this.self = self;
  }

  /**
   * Waits until the other ranks are in the operation that is to fail, and no longer in an earlier
   * one.
   */
  private void awaitOthers() {
    for (int each = 0; each < self.size; each++) {
      if (each != self.rank) {
        self.store.get("waiting " + each);
      }
    }
  }

  void abort(long communicator) {
    if (self.rank == 1) {
      awaitOthers();
      self.check(self.nccl.commAbort(communicator));
      return;
    }
    expectFailure(communicator, NcclResult.REMOTE_ERROR);
  }

  void death(long communicator) {
    if (self.rank == 1) {
      awaitOthers();
      Runtime.getRuntime().halt(0);
    }
    expectFailure(communicator, NcclResult.REMOTE_ERROR);
  }

  /**
   * Checks that an operation hangs, that the communicator reports the reason, and that an abort
   * frees the stream.
   */
  private void expectFailure(long communicator, int error) {
    float[] values = new float[1000];
    Arrays.fill(values, self.rank);
    self.check(self.sum(communicator, self.tensor(values)));
    self.store.set("waiting " + self.rank, new byte[0]);
    int result = self.nccl.asyncError(communicator);
    while (result == NcclResult.SUCCESS) {
      Thread.onSpinWait();
      result = self.nccl.asyncError(communicator);
    }
    assertThat(result).isEqualTo(error);
    long event = self.device.cuda().createEvent(false);
    self.device.cuda().recordEvent(event, self.stream.handle());
    assertThat(self.device.cuda().hasHappened(event)).isFalse();
    self.check(self.nccl.commAbort(communicator));
    self.stream.synchronize();
    assertThat(self.device.cuda().hasHappened(event)).isTrue();
    self.device.cuda().destroyEvent(event);
  }

  void injectedError(long communicator) {
    DeviceTensor tensor = self.tensor(1);
    self.check(self.sum(communicator, tensor));
    assertThat(NcclRank.values(tensor)).containsExactly(self.size);
    if (self.rank == 0) {
      awaitOthers();
    }
    expectFailure(
        communicator, self.rank == 0 ? NcclResult.INTERNAL_ERROR : NcclResult.REMOTE_ERROR);
  }

  void oneGpuForTwo() {
    assertThat(self.begin(true, 1)).isEqualTo(NcclResult.INVALID_USAGE);
    assertThat(self.nccl.lastError(0)).contains("Duplicate GPU detected");
  }

  /** Checks that the other ranks see a communicator that stays in progress, and can give it up. */
  void absentRank() {
    assertThat(self.begin(false, 1)).isEqualTo(NcclResult.IN_PROGRESS);
    long communicator = self.slot.getLong(0);
    for (int i = 0; i < 100; i++) {
      assertThat(self.nccl.asyncError(communicator)).isEqualTo(NcclResult.IN_PROGRESS);
    }
    self.check(self.nccl.commAbort(communicator));
    // The process that created the id must live until no rank joins any more.
    self.store.set("given up by " + self.rank, new byte[0]);
    for (int each = 0; self.rank == 0 && each < self.size; each++) {
      self.store.get("given up by " + each);
    }
  }
}
