package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * Runs one rank that calls NCCL through the bindings alone. Arguments: rank, size, port of the
 * store, and the test.
 */
final class NcclProgram {

  /** The last line that is printed. */
  static final String DONE = "done as it should be";

  private static final int FLOAT32 = 7;
  private static final int SUM = 0;
  private static final int FIRST = 0;

  private final Nccl nccl = NativeNccl.load("");
  private final int rank;
  private final int size;
  private final Store store;
  private final CudaDevice device;
  private final CudaStream stream;
  private final ByteBuffer slot = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());

  private NcclProgram(int rank, int size, Store store, CudaDevice device, CudaStream stream) {
    this.rank = rank;
    this.size = size;
    this.store = store;
    this.device = device;
    this.stream = stream;
  }

  /** Throws if a check fails. */
  public static void main(String[] arguments) throws Exception {
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[2]), Duration.ofSeconds(60));
        CudaDevice device = CudaDevice.open(DriverCuda.load(), 0)) {
      long previous = device.enter();
      try (CudaStream stream = CudaStream.create(device, false)) {
        CudaStream.Use use = stream.use();
        new NcclProgram(
                Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]),
                store,
                device,
                stream)
            .run(arguments[3]);
        use.close();
      }
      device.leave(previous);
    }
    System.out.println(DONE);
  }

  private void run(String what) {
    switch (what) {
      case "calls" -> {
        assertThat(nccl.canShrink()).isEqualTo(nccl.version() >= 22700);
        assertThat(nccl.canAllToAll()).isEqualTo(nccl.version() >= 22803);
        calls(init(true, 1));
      }
      case "scalable" -> calls(init(true, 2));
      case "without blocking" -> calls(init(false, 1));
      case "abort" -> abort(init(true, 1));
      case "death" -> death(init(true, 1));
      case "injected error" -> injectedError(init(true, 1));
      case "one GPU for two" -> oneGpuForTwo();
      case "absent rank" -> absentRank();
      default -> throw new IllegalArgumentException(what);
    }
  }

  private int begin(boolean blocking, int ids) {
    byte[] all = new byte[ids * Nccl.UNIQUE_ID_BYTES];
    for (int root = 0; root < ids; root++) {
      if (rank == root) {
        byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
        check(nccl.uniqueId(id));
        store.set("id" + root, id);
      }
      System.arraycopy(
          store.get("id" + root), 0, all, root * Nccl.UNIQUE_ID_BYTES, Nccl.UNIQUE_ID_BYTES);
    }
    return nccl.commInit(slot, size, rank, all, new NcclSettings(blocking).encode());
  }

  private long init(boolean blocking, int ids) {
    int result = begin(blocking, ids);
    assertThat(result).isEqualTo(blocking ? NcclResult.SUCCESS : NcclResult.IN_PROGRESS);
    long communicator = slot.getLong(0);
    assertThat(await(communicator)).isEqualTo(NcclResult.SUCCESS);
    return communicator;
  }

  /** Returns the state of the communicator once it is no longer in progress. */
  private int await(long communicator) {
    int result = nccl.asyncError(communicator);
    while (result == NcclResult.IN_PROGRESS) {
      Thread.onSpinWait();
      result = nccl.asyncError(communicator);
    }
    return result;
  }

  private void check(int result) {
    assertThat(result).as(() -> nccl.lastError(0)).isEqualTo(NcclResult.SUCCESS);
  }

  private void check(long communicator, int result) {
    if (result == NcclResult.IN_PROGRESS) {
      check(await(communicator));
    } else {
      check(result);
    }
  }

  private DeviceTensor tensor(float... values) {
    return DeviceTensor.copyOf(device, Tensor.of(values));
  }

  private static float[] values(DeviceTensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  private int sum(long communicator, DeviceTensor tensor) {
    return nccl.allReduce(
        tensor.address(),
        tensor.address(),
        tensor.count(),
        FLOAT32,
        SUM,
        communicator,
        stream.handle());
  }

  private void calls(long communicator) {
    collectives(communicator);
    messages(communicator);
    scaled(communicator);
    registration(communicator);
    split(communicator);
    if (nccl.canShrink()) {
      shrink(communicator);
    }
    if (nccl.canAllToAll()) {
      allToAll(communicator);
    }
    check(communicator, nccl.commFinalize(communicator));
    check(nccl.commDestroy(communicator));
  }

  private void collectives(long communicator) {
    float ranks = size * (size - 1) / 2f;
    DeviceTensor all = tensor(rank, 1);
    check(communicator, sum(communicator, all));
    assertThat(values(all)).containsExactly(ranks, size);
    long count = all.count();
    long target = stream.handle();

    DeviceTensor one = tensor(rank, rank);
    check(
        communicator,
        nccl.broadcast(
            one.address(), one.address(), count, FLOAT32, size - 1, communicator, target));
    assertThat(values(one)).containsExactly(size - 1, size - 1);
    DeviceTensor reduced = tensor(rank, 2);
    check(
        communicator,
        nccl.reduce(
            reduced.address(),
            reduced.address(),
            count,
            FLOAT32,
            SUM,
            FIRST,
            communicator,
            target));
    assertThat(values(reduced))
        .containsExactly(rank == 0 ? new float[] {ranks, 2 * size} : new float[] {rank, 2});

    DeviceTensor gathered = DeviceTensor.allocate(device, DType.FLOAT32, 2L * size);
    DeviceTensor mine = tensor(rank, -rank);
    check(
        communicator,
        nccl.allGather(mine.address(), gathered.address(), count, FLOAT32, communicator, target));
    float[] expected = new float[2 * size];
    for (int each = 0; each < size; each++) {
      expected[2 * each] = each;
      expected[2 * each + 1] = -each;
    }
    assertThat(values(gathered)).isEqualTo(expected);
    check(
        communicator,
        nccl.reduceScatter(
            gathered.address(), mine.address(), count, FLOAT32, SUM, communicator, target));
    assertThat(values(mine)).containsExactly(rank * size, -rank * size);
  }

  private void allToAll(long communicator) {
    float[] parts = new float[2 * size];
    float[] expected = new float[2 * size];
    for (int each = 0; each < 2 * size; each++) {
      parts[each] = 100 * rank + each;
      expected[each] = 100 * (each / 2) + 2 * rank + each % 2;
    }
    DeviceTensor sent = tensor(parts);
    DeviceTensor received = tensor(new float[2 * size]);
    check(
        communicator,
        nccl.allToAll(
            sent.address(), received.address(), 2, FLOAT32, communicator, stream.handle()));
    assertThat(values(received)).containsExactly(expected);
  }

  private void messages(long communicator) {
    DeviceTensor sent = tensor(rank);
    DeviceTensor received = tensor(-1);
    check(nccl.groupStart());
    nccl.send(sent.address(), 1, FLOAT32, (rank + 1) % size, communicator, stream.handle());
    nccl.receive(
        received.address(), 1, FLOAT32, (rank + size - 1) % size, communicator, stream.handle());
    check(communicator, nccl.groupEnd());
    assertThat(values(received)).containsExactly((rank + size - 1) % size);
  }

  /** Destroys the reduction before the operation is done, and creates another one after it. */
  private void scaled(long communicator) {
    DeviceTensor first = tensor(1, 2);
    DeviceTensor second = tensor(1, 2);
    scale(communicator, first, 0.5f);
    scale(communicator, second, 3);
    assertThat(values(first)).containsExactly(size * 0.5f, size);
    assertThat(values(second)).containsExactly(size * 3, size * 6);
  }

  private void scale(long communicator, DeviceTensor tensor, float by) {
    ByteBuffer number = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
    ByteBuffer factor = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
    factor.putFloat(0, by);
    check(communicator, nccl.preMulSum(number, factor, FLOAT32, communicator));
    check(
        communicator,
        nccl.allReduce(
            tensor.address(),
            tensor.address(),
            tensor.count(),
            FLOAT32,
            number.getInt(0),
            communicator,
            stream.handle()));
    check(communicator, nccl.destroyOp(number.getInt(0), communicator));
  }

  private void registration(long communicator) {
    check(nccl.memAlloc(slot, 4096));
    long address = slot.getLong(0);
    check(communicator, nccl.commRegister(communicator, address, 4096, slot));
    check(communicator, nccl.commDeregister(communicator, slot.getLong(0)));
    check(nccl.memFree(address));
  }

  private void split(long communicator) {
    ByteBuffer settings = new NcclSettings(true).encode();
    // The ranks in the opposite order; the last rank joins no new communicator.
    int color = rank == size - 1 ? Nccl.NO_COLOR : 0;
    check(communicator, nccl.commSplit(communicator, color, -rank, slot, settings));
    long part = slot.getLong(0);
    if (color == Nccl.NO_COLOR) {
      assertThat(part).isZero();
      return;
    }
    DeviceTensor tensor = tensor(rank);
    check(
        part,
        nccl.broadcast(
            tensor.address(), tensor.address(), 1, FLOAT32, FIRST, part, stream.handle()));
    assertThat(values(tensor)).containsExactly(size - 2);
    check(nccl.commDestroy(part));
  }

  private void shrink(long communicator) {
    if (rank == size - 1) {
      return;
    }
    ByteBuffer settings = new NcclSettings(true).encode();
    check(
        communicator,
        nccl.commShrink(communicator, new int[] {size - 1}, slot, settings, Nccl.SHRINK_DEFAULT));
    long part = slot.getLong(0);
    DeviceTensor tensor = tensor(1);
    check(part, sum(part, tensor));
    assertThat(values(tensor)).containsExactly(size - 1);
    check(nccl.commDestroy(part));
  }

  /**
   * Waits until the other ranks are in the operation that is to fail, and no longer in an earlier
   * one.
   */
  private void awaitOthers() {
    for (int each = 0; each < size; each++) {
      if (each != rank) {
        store.get("waiting " + each);
      }
    }
  }

  private void abort(long communicator) {
    if (rank == 1) {
      awaitOthers();
      check(nccl.commAbort(communicator));
      return;
    }
    expectFailure(communicator, NcclResult.REMOTE_ERROR);
  }

  private void death(long communicator) {
    if (rank == 1) {
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
    Arrays.fill(values, rank);
    check(sum(communicator, tensor(values)));
    store.set("waiting " + rank, new byte[0]);
    int result = nccl.asyncError(communicator);
    while (result == NcclResult.SUCCESS) {
      Thread.onSpinWait();
      result = nccl.asyncError(communicator);
    }
    assertThat(result).isEqualTo(error);
    long event = device.cuda().createEvent(false);
    device.cuda().recordEvent(event, stream.handle());
    assertThat(device.cuda().hasHappened(event)).isFalse();
    check(nccl.commAbort(communicator));
    stream.synchronize();
    assertThat(device.cuda().hasHappened(event)).isTrue();
    device.cuda().destroyEvent(event);
  }

  private void injectedError(long communicator) {
    DeviceTensor tensor = tensor(1);
    check(sum(communicator, tensor));
    assertThat(values(tensor)).containsExactly(size);
    if (rank == 0) {
      awaitOthers();
    }
    expectFailure(communicator, rank == 0 ? NcclResult.INTERNAL_ERROR : NcclResult.REMOTE_ERROR);
  }

  private void oneGpuForTwo() {
    assertThat(begin(true, 1)).isEqualTo(NcclResult.INVALID_USAGE);
    assertThat(nccl.lastError(0)).contains("Duplicate GPU detected");
  }

  /** Checks that the other ranks see a communicator that stays in progress, and can give it up. */
  private void absentRank() {
    assertThat(begin(false, 1)).isEqualTo(NcclResult.IN_PROGRESS);
    long communicator = slot.getLong(0);
    for (int i = 0; i < 100; i++) {
      assertThat(nccl.asyncError(communicator)).isEqualTo(NcclResult.IN_PROGRESS);
    }
    check(nccl.commAbort(communicator));
    // The process that created the id must live until no rank joins any more.
    store.set("given up by " + rank, new byte[0]);
    for (int each = 0; rank == 0 && each < size; each++) {
      store.get("given up by " + each);
    }
  }
}
