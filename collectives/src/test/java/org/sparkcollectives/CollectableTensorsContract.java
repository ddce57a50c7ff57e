package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Paths;

/**
 * Specifies that a group which stays open keeps no tensor of an operation that has ended. Each
 * operation is the last of a group of its own, because what is kept is mostly the last one.
 */
@MethodSource("paths")
public abstract class CollectableTensorsContract extends PathsUnderTest {

  protected static final int RANKS = 4;

  /** A count for the algorithms of small tensors. */
  private static final int FEW = 4;

  /** A count of several segments, and for the algorithms of large tensors. */
  private static final int MANY = 60_000;

  /** The long time that all ranks of this JVM may take for one operation each. */
  private static final long LIMIT_SECONDS = 300;

  /** Makes the tensors of one operation, and remembers them and their arrays weakly. */
  protected static final class Made {
    private final ProcessGroup group;
    private final int count;
    private final boolean allocated;
    private final List<WeakReference<Object>> references = new ArrayList<>();

    Made(ProcessGroup group, int count, boolean allocated) {
      this.group = group;
      this.count = count;
      this.allocated = allocated;
    }

    int count() {
      return count;
    }

    /** Returns a new tensor. */
    public Tensor one() {
      return some(count);
    }

    /** Returns what has been remembered. */
    List<WeakReference<Object>> references() {
      return references;
    }

    Tensor oneForEach() {
      return some(count * RANKS);
    }

    List<Tensor> list() {
      return IntStream.range(0, RANKS).mapToObj(i -> one()).toList();
    }

    SparseTensor sparse() {
      long[] indices = {group.rank()};
      return SparseTensor.of(
          new long[] {RANKS, count}, remembered(Tensor.of(indices).reshape(1, 1), indices), row());
    }

    private Tensor row() {
      float[] row = new float[count];
      return remembered(Tensor.of(row).reshape(1, count), row);
    }

    private Tensor some(int elements) {
      if (allocated) {
        return remembered(group.allocate(DType.FLOAT32, elements));
      }
      float[] data = new float[elements];
      return remembered(Tensor.of(data), data);
    }

    Object object() {
      float[] data = new float[count];
      return remembered(List.of(data), data);
    }

    /** Returns an object, and remembers it with its parts. */
    public <T> T remembered(T made, Object... parts) {
      references.add(new WeakReference<>(made));
      Arrays.stream(parts).forEach(each -> references.add(new WeakReference<>(each)));
      return made;
    }
  }

  /** Runs one operation to its end. */
  protected interface Operation {
    void run(ProcessGroup group, Made made) throws Exception;
  }

  /** Returns all paths but those that differ from another in encryption only. */
  static List<Paths> paths() {
    return Paths.all().stream()
        .filter(each -> !Set.of(Paths.CERTIFICATES, Paths.STRIPED_TLS).contains(each))
        .toList();
  }

  /** Returns the operations, by their names. */
  protected abstract Map<String, Operation> operations();

  @Test
  void anOpenGroupKeepsNoTensorOfAnOperationThatHasEnded() {
    Map<String, List<WeakReference<Object>>> kept = new ConcurrentSkipListMap<>();
    Meeting meeting = new Meeting(kept);
    ranks(
        RANKS,
        world -> {
          List<ProcessGroup> open = new ArrayList<>();
          for (Map.Entry<String, Operation> each : operations().entrySet()) {
            for (int count : new int[] {FEW, MANY}) {
              ProcessGroup group = world.newGroup();
              open.add(group);
              List<WeakReference<Object>> made = run(each.getValue(), group, count, count == MANY);
              kept.computeIfAbsent(
                      each.getKey() + " of " + count, name -> new CopyOnWriteArrayList<>())
                  .addAll(made);
            }
          }
          meeting.check(world);
          open.forEach(ProcessGroup::close);
          return null;
        });
  }

  /** Runs the operation in a frame of its own, which keeps nothing once it has returned. */
  private static List<WeakReference<Object>> run(
      Operation operation, ProcessGroup group, int count, boolean allocated) throws Exception {
    Made made = new Made(group, count, allocated);
    operation.run(group, made);
    return made.references();
  }

  /** Lets one rank look for what is kept, while all have their groups open. */
  record Meeting(
      Map<String, List<WeakReference<Object>>> kept, CountDownLatch come, CountDownLatch checked) {

    Meeting(Map<String, List<WeakReference<Object>>> kept) {
      this(kept, new CountDownLatch(RANKS), new CountDownLatch(1));
    }

    void check(ProcessGroup world) throws InterruptedException {
      come.countDown();
      if (world.rank() == 0) {
        try {
          await(come);
          assertCollectable();
        } finally {
          checked.countDown();
        }
      }
      await(checked);
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
      assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    private void assertCollectable() {
      Eventually.holdsAfterCollection(
          () -> {
            kept.values().forEach(each -> each.removeIf(reference -> reference.refersTo(null)));
            kept.values().removeIf(List::isEmpty);
            return kept.isEmpty();
          },
          () -> "open groups keep " + kept.keySet());
    }
  }
}
