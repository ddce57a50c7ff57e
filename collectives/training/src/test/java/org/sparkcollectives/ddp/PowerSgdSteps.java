package org.sparkcollectives.ddp;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Steps of PowerSGD, with gradients of two matrices and a vector, for its tests. */
final class PowerSgdSteps {

  static final PowerSgdOptions EARLY = PowerSgdOptions.defaults().withStart(2);
  static final long[][] SHAPES = {{8, 6}, {5}, {4, 3, 4}};
  static final int COUNT = 8 * 6 + 5 + 4 * 3 * 4;

  static float[] random(int rank, long step, int length) {
    Random random = new Random(31 * step + rank);
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  static float[] reduce(CommHook hook, GradientBucket bucket) throws Exception {
    Tensor result = hook.run(bucket).get(30, TimeUnit.SECONDS);
    float[] values = new float[(int) result.count()];
    FloatElements.read(HostTensor.of(result), 0, values.length, values, 0);
    return values;
  }

  /** Reduces a bucket of a type, filled with these values. */
  static float[] reduce(
      CommHook hook, ProcessGroup group, DType type, float[] values, double divisor)
      throws Exception {
    HostTensor buffer = HostTensor.allocate(type, values.length);
    FloatElements.write(values, 0, buffer, 0, values.length);
    return reduce(hook, new GivenBucket(group, buffer, SHAPES).withDivisor(divisor));
  }

  private PowerSgdSteps() {}
}
