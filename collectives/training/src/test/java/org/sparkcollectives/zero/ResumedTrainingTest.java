package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.CommHook;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.PowerSgd;
import org.sparkcollectives.ddp.PowerSgdOptions;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests that training that goes on in new ranks, from what was saved after any step, has the bits
 * of training that nothing has interrupted.
 */
@ExtendWith(LeakCheck.class)
class ResumedTrainingTest {

  /** Three, because a sum of three depends on the order of the addends. */
  private static final int RANKS = 3;

  private static final int STEPS = 8;
  private static final long[][] SHAPES = {{12, 10}, {7}, {6, 8}, {9}};

  private static final PowerSgdOptions POWER_SGD =
      PowerSgdOptions.defaults().withRank(2).withStart(2);

  /** The ways to average gradients and to make steps. */
  @SuppressWarnings("ImmutableEnumChecker") // Options never change.
  enum Mode {
    WITHOUT_REDUCER(null),
    REDUCER(null),
    POWER_SGD_HOOK(POWER_SGD),
    BATCHED_POWER_SGD_HOOK(POWER_SGD.withBatched(true)),
    COLD_POWER_SGD_HOOK(POWER_SGD.withWarmStart(false)),
    STEPS_IN_HOOK(null),
    STEPS_IN_POWER_SGD_HOOK(POWER_SGD);

    private final PowerSgdOptions powerSgd;

    Mode(PowerSgdOptions powerSgd) {
      this.powerSgd = powerSgd;
    }

    boolean stepsInHook() {
      return this == STEPS_IN_HOOK || this == STEPS_IN_POWER_SGD_HOOK;
    }
  }

  private static LocalOptimizer adam() {
    return new AdamOptimizer(new AdamOptions().withLearningRate(0.1).withWeightDecay(0.01));
  }

  private static LocalOptimizer momentum() {
    return new SgdOptimizer(new SgdOptions(0.1).withMomentum(0.9).withNesterov(true));
  }

  private static LocalOptimizer several() {
    LocalOptimizer matrices = adam();
    LocalOptimizer vectors = momentum();
    return LocalOptimizer.byParameter(i -> SHAPES[i].length == 2 ? matrices : vectors);
  }

  /** The state of ZeRO and PowerSGD, saved outside the group; parameters are in a checkpoint. */
  private static final class Files {
    private final Map<Integer, Map<String, Tensor>> powerSgd = new ConcurrentHashMap<>();
    private volatile byte[] zero;
  }

  /** The training of one rank. */
  private static final class Training {
    private final ProcessGroup group;
    private final Mode mode;
    private final long seed;
    private final List<Parameter> parameters = new ArrayList<>();
    private final long[] step = {0};
    private final PowerSgd powerSgd;
    private final GradientReducer reducer;
    private final ZeroRedundancyOptimizer zero;

    Training(ProcessGroup group, Mode mode, LocalOptimizer local, long seed) {
      this.group = group;
      this.mode = mode;
      this.seed = seed;
      for (int i = 0; i < SHAPES.length; i++) {
        Tensor value = Tensor.allocate(DType.FLOAT32, SHAPES[i]);
        fill(value, new Random(seed + i));
        parameters.add(Parameter.of("p" + i, value));
      }
      powerSgd = mode.powerSgd == null ? null : new PowerSgd(mode.powerSgd);
      ReducerOptions buckets = ReducerOptions.defaults().withBucketBytes(200).withRebuild(false);
      reducer =
          mode == Mode.WITHOUT_REDUCER ? null : GradientReducer.create(group, parameters, buckets);
      ZeroOptions options = ZeroOptions.defaults();
      if (mode.stepsInHook()) {
        options = options.withStepsInHook();
      } else if (reducer != null) {
        options = options.withAveragedGradients(reducer::gradient);
      }
      zero = ZeroRedundancyOptimizer.create(group, parameters, local, options);
      CommHook hook = powerSgd == null ? CommHooks.allReduce() : powerSgd;
      if (reducer != null) {
        reducer.setCommHook(mode.stepsInHook() ? zero.hook(hook) : hook);
      }
    }

    private static void fill(Tensor tensor, Random random) {
      float[] values = new float[(int) tensor.count()];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) random.nextGaussian();
      }
      tensor.copyFrom(values);
    }

    /** Makes steps with gradients that depend on the values, as those of a model do. */
    void run(long until) {
      for (; step[0] < until; step[0]++) {
        for (int i = 0; i < parameters.size(); i++) {
          Tensor gradient = reducer == null ? zero.gradient(i) : reducer.gradient(i);
          fill(gradient, new Random(seed + 1000 * step[0] + 100L * group.rank() + i));
          float[] slope = new float[(int) gradient.count()];
          float[] value = values(i);
          gradient.copyTo(slope);
          for (int each = 0; each < slope.length; each++) {
            slope[each] += value[each];
          }
          gradient.copyFrom(slope);
        }
        if (reducer != null) {
          reducer.beginForward();
          reducer.reduce();
        }
        if (!mode.stepsInHook()) {
          zero.step();
        }
      }
    }

    private float[] values(int parameter) {
      Tensor value = parameters.get(parameter).value();
      float[] values = new float[(int) value.count()];
      value.copyTo(values);
      return values;
    }

    private List<Tensor> checkpointed() {
      List<Tensor> tensors = new ArrayList<>();
      parameters.forEach(each -> tensors.add(each.value()));
      tensors.add(Tensor.of(step));
      return tensors;
    }

    void save(Files files) throws IOException {
      group.checkpointReplicated("model", checkpointed());
      Optional<ZeroState> state = zero.consolidate(0);
      if (state.isPresent()) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        state.get().write(out);
        files.zero = out.toByteArray();
      }
      if (powerSgd != null) {
        files.powerSgd.put(group.rank(), powerSgd.state());
      }
    }

    void restore(Files files) throws IOException {
      assertThat(group.restore("model", checkpointed())).isTrue();
      zero.restore(
          group.rank() == 0
              ? Optional.of(ZeroState.read(new ByteArrayInputStream(files.zero)))
              : Optional.empty(),
          0);
      if (powerSgd != null) {
        powerSgd.restore(files.powerSgd.get(group.rank()));
      }
    }

    List<float[]> end() {
      if (reducer != null) {
        reducer.close();
      }
      return List.of(values(0), values(1), values(2), values(3));
    }
  }

  private interface Script {
    void run(Training training) throws Exception;
  }

  /** Returns the values of each rank at the end. */
  private static List<List<float[]>> train(
      HashStore store,
      String name,
      Mode mode,
      Supplier<LocalOptimizer> local,
      long seed,
      Script script) {
    return GroupRuns.run(
        store,
        RANKS,
        GroupOptions.defaults().withName(name),
        rank -> RankContext.process(),
        group -> {
          Training training = new Training(group, mode, local.get(), seed);
          script.run(training);
          return training.end();
        });
  }

  @ParameterizedTest
  @EnumSource(Mode.class)
  void trainingThatGoesOnHasTheBitsOfOneThatNothingInterrupted(Mode mode) {
    long seed = System.nanoTime();
    long saved = 1L + new Random(seed).nextInt(STEPS - 1);
    System.out.println("seed " + seed + ": saved after step " + saved);
    List<Supplier<LocalOptimizer>> optimizers =
        List.of(
            ResumedTrainingTest::adam, ResumedTrainingTest::momentum, ResumedTrainingTest::several);
    for (int i = 0; i < optimizers.size(); i++) {
      Supplier<LocalOptimizer> local = optimizers.get(i);
      Files files = new Files();
      try (HashStore store = new HashStore()) {
        List<List<float[]>> whole =
            train(store, "whole", mode, local, seed, training -> training.run(STEPS));
        train(
            store,
            "first",
            mode,
            local,
            seed,
            training -> {
              training.run(saved);
              training.save(files);
              // Lost with the ranks: what is saved must not change with later steps.
              training.run(saved + 1);
            });
        List<List<float[]>> resumed =
            train(
                store,
                "second",
                mode,
                local,
                seed,
                training -> {
                  training.restore(files);
                  training.run(STEPS);
                });
        for (int rank = 0; rank < RANKS; rank++) {
          for (int parameter = 0; parameter < SHAPES.length; parameter++) {
            assertThat(resumed.get(rank).get(parameter))
                .as("seed %s, optimizer %s, rank %s, parameter %s", seed, i, rank, parameter)
                .isEqualTo(whole.get(rank).get(parameter))
                .isEqualTo(whole.get(0).get(parameter));
          }
        }
      }
    }
  }
}
