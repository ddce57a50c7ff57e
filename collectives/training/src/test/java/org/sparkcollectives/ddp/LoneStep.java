package org.sparkcollectives.ddp;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Failure;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.Tensor;

/**
 * One step of a reducer that is alone in its group, with a bucket for each parameter. Its group and
 * its reductions are stubs without threads, so that those of a test are the only ones.
 */
final class LoneStep {

  private final StubGroup stub = new StubGroup();
  private final List<Integer> begun = new ArrayList<>();
  private final StepRunner runner;
  private final ReducerStep step;

  /**
   * Begins a step.
   *
   * @param buckets the parameters of each bucket; that of position i is named pi
   */
  LoneStep(int[]... buckets) {
    this(null, buckets);
  }

  private LoneStep(Tensor gradient, int[]... buckets) {
    List<Parameter> parameters = new ArrayList<>();
    for (int[] bucket : buckets) {
      for (int i = 0; i < bucket.length; i++) {
        parameters.add(new Parameter("p" + parameters.size(), Tensor.of(0f), gradient, false));
      }
    }
    StepClock clock = new StepClock(LoneStep::nanos, 1);
    runner = new StepRunner(stub.group, parameters, ReducerOptions.defaults(), clock);
    runner.memory().arrange(List.of(buckets));
    runner.reduceBy(new Begun());
    step = new ReducerStep(0, parameters.size(), GradientMean.overRanks(1));
    clock.forwardBegins(1);
    clock.backwardBegins(true);
    runner.begin(step, new BitSet());
  }

  /** Lets other threads go first in the middle of a mark, where the clock is read. */
  private static long nanos() {
    Thread.yield();
    return 0;
  }

  /** Begins a step whose gradients can be written, but not read. */
  static LoneStep ofUnreadable(int[]... buckets) {
    return new LoneStep(unreadable(), buckets);
  }

  private static Tensor unreadable() {
    return StubGroup.stub(
        Tensor.class,
        (call, arguments) ->
            switch (call) {
              case "count" -> 1L;
              case "dtype" -> DType.FLOAT32;
              case "copyFrom" -> null;
              default -> throw new UnsupportedOperationException(call);
            });
  }

  ProcessGroup group() {
    return stub.group;
  }

  void mark(int parameter) {
    runner.mark(step, parameter);
  }

  /** Returns what all ranks throw; null if the step succeeds. */
  IllegalStateException finish() {
    return runner.finish(step, true);
  }

  /** Returns the buckets whose reductions have begun, in that order. */
  List<Integer> begun() {
    return begun;
  }

  private final class Begun implements BucketReduction {

    @Override
    public Runnable begin(ReducerBucket bucket, GradientMean mean) {
      if (stub.failure != null) {
        throw new CollectiveException("The group has failed");
      }
      begun.add(bucket.index());
      return () -> {};
    }

    @Override
    public <T> T afterwards(Supplier<T> call) {
      return call.get();
    }

    @Override
    public boolean mayFailAlone() {
      return false;
    }

    @Override
    public void close() {}
  }

  private static final class StubGroup {

    private final ProcessGroup group = stub(ProcessGroup.class, this::answer);
    private volatile Failure failure;

    private interface Answers {
      Object to(String call, Object[] arguments);
    }

    private static <T> T stub(Class<T> type, Answers answers) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> answers.to(method.getName(), arguments);
                  }));
    }

    private Object answer(String call, Object[] arguments) {
      return switch (call) {
        case "rank" -> 0;
        case "size" -> 1;
        case "name" -> "alone";
        case "timeout" -> Duration.ofDays(1);
        case "allocate" ->
            Tensor.allocate((DType) arguments[0], ((Number) arguments[1]).longValue());
        case "objects" -> stub(ObjectCollectives.class, (method, own) -> List.of(own[0]));
        case "isFailed" -> failure != null;
        case "failure" -> Optional.ofNullable(failure);
        case "abort" -> {
          failure =
              new Failure(
                  Failure.Kind.EXCEPTION,
                  new RankLocation(0, "host", "executor", -1),
                  "",
                  -1,
                  String.valueOf(arguments[0]));
          yield null;
        }
        default -> throw new UnsupportedOperationException(call);
      };
    }
  }
}
