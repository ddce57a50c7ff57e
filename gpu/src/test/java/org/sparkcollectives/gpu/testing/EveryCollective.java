package org.sparkcollectives.gpu.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.DType;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;

/**
 * Runs every collective and every kind of message of a group on GPU tensors, with results that each
 * rank knows beforehand.
 */
public final class EveryCollective {

  private static final int COUNT = 30_000;

  private final ProcessGroup world;
  private final CudaDevice device;
  private final boolean throughHost;
  private final int rank;
  private final int size;

  /**
   * Creates the checks for a group whose tensors lie on a GPU.
   *
   * @param throughHost whether the backend has what NCCL lacks: sparse tensors, tags, all types
   */
  public EveryCollective(ProcessGroup world, CudaDevice device, boolean throughHost) {
    this.world = world;
    this.device = device;
    this.throughHost = throughHost;
    this.rank = world.rank();
    this.size = world.size();
  }

  /** Runs all of them. */
  public void run() {
    allReduce();
    averages();
    coalesced();
    reduceAndBroadcast();
    gathers();
    scatters();
    reduceScatters();
    allToAlls();
    world.barrier().await();
    if (size > 1) {
      messages();
    }
    if (throughHost) {
      sparse();
      if (size > 1) {
        fromAnybody();
      }
    }
    onHostAndOnGpu();
    registered();
  }

  private DeviceTensor floats(float... values) {
    return DeviceTensor.copyOf(device, Tensor.of(values));
  }

  private DeviceTensor filled(float value) {
    float[] values = new float[COUNT];
    Arrays.fill(values, value);
    return floats(values);
  }

  private DeviceTensor empty(int count) {
    return DeviceTensor.allocate(device, DType.FLOAT32, count);
  }

  private static float[] of(Tensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  private static void assertAll(Tensor tensor, float value) {
    float[] expected = new float[(int) tensor.count()];
    Arrays.fill(expected, value);
    assertThat(of(tensor)).isEqualTo(expected);
  }

  private float ranksSummed() {
    return size * (size - 1) / 2f;
  }

  private void allReduce() {
    DeviceTensor tensor = filled(rank + 1);
    Work work = world.allReduce(tensor, ReduceOp.SUM);
    // The stream waits, and later work in it sees the result.
    work.synchronize(CudaStream.current(device));
    assertAll(tensor, ranksSummed() + size);
    work.await();
    assertThat(work.future().join()).containsExactly(tensor);
    for (ReduceOp op : List.of(ReduceOp.MIN, ReduceOp.MAX)) {
      DeviceTensor other = filled(rank + 1);
      world.allReduce(other, op).await();
      assertAll(other, op.equals(ReduceOp.MIN) ? 1 : size);
    }
    long[] longs = {rank, -rank, Long.MAX_VALUE};
    DeviceTensor integers = DeviceTensor.copyOf(device, Tensor.of(longs));
    world.allReduce(integers, ReduceOp.MAX).await();
    integers.copyTo(longs);
    assertThat(longs).containsExactly(size - 1, 0, Long.MAX_VALUE);
    world.allReduce(empty(0), ReduceOp.SUM).await();
  }

  private void averages() {
    DeviceTensor tensor = filled(rank);
    world.allReduce(tensor, ReduceOp.AVG).await();
    assertAll(tensor, (size - 1) / 2f);
    DeviceTensor scaled = filled(1);
    world.allReduce(scaled, ReduceOp.premulSum(rank + 0.5)).await();
    assertAll(scaled, ranksSummed() + size * 0.5f);
  }

  private void coalesced() {
    List<Tensor> tensors = List.of(filled(rank), floats(rank, 1), empty(0));
    world.allReduceCoalesced(tensors, ReduceOp.SUM).await();
    assertAll(tensors.get(0), ranksSummed());
    assertThat(of(tensors.get(1))).containsExactly(ranksSummed(), size);
    DeviceTensor first = filled(1);
    DeviceTensor second = filled(2);
    Coalescing block = world.coalesce();
    world.allReduce(first, ReduceOp.SUM);
    world.allReduce(second, ReduceOp.SUM);
    block.close();
    block.work().await();
    assertAll(first, size);
    assertAll(second, 2 * size);
  }

  private void reduceAndBroadcast() {
    int root = size - 1;
    DeviceTensor tensor = filled(rank + 1);
    world.reduce(tensor, ReduceOp.SUM, root).await();
    assertAll(tensor, rank == root ? ranksSummed() + size : rank + 1);
    DeviceTensor sent = filled(rank);
    world.broadcast(sent, root).await();
    assertAll(sent, root);
  }

  private void gathers() {
    DeviceTensor into = empty(size * 2);
    world.allGather(into, floats(rank, -rank)).await();
    float[] expected = new float[size * 2];
    List<Tensor> outputs = new ArrayList<>();
    for (int each = 0; each < size; each++) {
      expected[2 * each] = each;
      expected[2 * each + 1] = -each;
      outputs.add(empty(each + 1));
    }
    assertThat(of(into)).isEqualTo(expected);

    DeviceTensor uneven = empty(rank + 1);
    uneven.copyFrom(floats(constant(rank + 1, rank)));
    world.allGather(outputs, uneven).await();
    for (int each = 0; each < size; each++) {
      assertAll(outputs.get(each), each);
    }

    List<Tensor> atRoot = new ArrayList<>();
    for (int each = 0; rank == 0 && each < size; each++) {
      atRoot.add(empty(3));
    }
    world.gather(atRoot, floats(rank, rank, rank), 0).await();
    for (int each = 0; each < atRoot.size(); each++) {
      assertAll(atRoot.get(each), each);
    }
  }

  private static float[] constant(int count, float value) {
    float[] values = new float[count];
    Arrays.fill(values, value);
    return values;
  }

  private void scatters() {
    List<Tensor> parts = new ArrayList<>();
    for (int each = 0; rank == 0 && each < size; each++) {
      parts.add(floats(each, each + 0.5f));
    }
    DeviceTensor part = empty(2);
    world.scatter(part, parts, 0).await();
    assertThat(of(part)).containsExactly(rank, rank + 0.5f);
  }

  private void reduceScatters() {
    float[] all = new float[2 * size];
    List<Tensor> inputs = new ArrayList<>();
    for (int each = 0; each < size; each++) {
      all[2 * each] = each;
      all[2 * each + 1] = rank;
      inputs.add(floats(constant(each + 1, each * 10 + rank)));
    }
    DeviceTensor output = empty(2);
    world.reduceScatter(output, floats(all), ReduceOp.SUM).await();
    assertThat(of(output)).containsExactly(rank * size, ranksSummed());
    DeviceTensor uneven = empty(rank + 1);
    world.reduceScatter(uneven, inputs, ReduceOp.SUM).await();
    assertAll(uneven, rank * 10 * size + ranksSummed());
  }

  private void allToAlls() {
    float[] sent = new float[size];
    float[] expected = new float[size];
    for (int each = 0; each < size; each++) {
      sent[each] = rank * 100 + each;
      expected[each] = each * 100 + rank;
    }
    DeviceTensor output = empty(size);
    world.allToAll(output, floats(sent)).await();
    assertThat(of(output)).isEqualTo(expected);

    // Rank r sends r + 1 elements to each rank.
    long[] inputSplits = new long[size];
    long[] outputSplits = new long[size];
    for (int each = 0; each < size; each++) {
      inputSplits[each] = rank + 1L;
      outputSplits[each] = each + 1L;
    }
    DeviceTensor uneven = empty((int) Arrays.stream(outputSplits).sum());
    DeviceTensor given = floats(constant((rank + 1) * size, rank));
    world.allToAll(uneven, given, outputSplits, inputSplits).await();
    int at = 0;
    for (int each = 0; each < size; each++) {
      assertAll(uneven.slice(at, each + 1), each);
      at += each + 1;
    }
  }

  private void messages() {
    int next = (rank + 1) % size;
    int previous = (rank + size - 1) % size;
    DeviceTensor received = empty(COUNT);
    List<Work> works =
        world.batch(List.of(P2POp.send(filled(rank), next, 0), P2POp.recv(received, previous, 0)));
    works.forEach(Work::await);
    assertAll(received, previous);
    if (rank < 2) {
      DeviceTensor ping = filled(rank);
      if (rank == 0) {
        world.send(ping, 1, 0).await();
        world.recv(ping, 1, 0).await();
        assertAll(ping, 1);
      } else {
        DeviceTensor other = empty(COUNT);
        world.recv(other, 0, 0).await();
        assertAll(other, 0);
        world.send(ping, 0, 0).await();
      }
    }
  }

  private void fromAnybody() {
    if (rank == 0) {
      boolean[] seen = new boolean[size];
      for (int each = 1; each < size; each++) {
        DeviceTensor received = empty(4);
        Work work = world.recvAny(received, 7);
        work.await();
        assertAll(received, work.sourceRank());
        seen[work.sourceRank()] = true;
      }
      assertThat(seen[0]).isFalse();
    } else {
      world.send(floats(constant(4, rank)), 0, 7).await();
    }
  }

  private void sparse() {
    Tensor indices = DeviceTensor.copyOf(device, Tensor.of(0L, rank + 1)).reshape(1, 2);
    Tensor values = floats(1, rank + 10);
    Work work = world.allReduce(SparseTensor.of(new long[] {size + 1}, indices, values));
    work.await();
    SparseTensor sum = work.sparseResult();
    float[] expected = new float[size + 1];
    expected[0] = size;
    for (int each = 0; each < size; each++) {
      expected[each + 1] = each + 10;
    }
    assertThat(sum.values().device()).isEqualTo(device.device());
    assertThat(of(sum.values())).isEqualTo(expected);
  }

  /**
   * Starts operations of both kinds in the same order on all ranks, and awaits none before all have
   * started.
   */
  private void onHostAndOnGpu() {
    List<Work> works = new ArrayList<>();
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Tensor tensor = i % 2 == 0 ? filled(rank + i) : Tensor.of(constant(100, rank + i));
      tensors.add(tensor);
      works.add(world.allReduce(tensor, ReduceOp.SUM));
    }
    works.forEach(Work::await);
    for (int i = 0; i < 20; i++) {
      assertAll(tensors.get(i), ranksSummed() + size * i);
    }
  }

  private void registered() {
    DeviceTensor tensor = filled(1);
    MemoryRegistration registration = world.register(tensor);
    world.allReduce(tensor, ReduceOp.SUM).await();
    registration.close();
    assertAll(tensor, size);
  }
}
