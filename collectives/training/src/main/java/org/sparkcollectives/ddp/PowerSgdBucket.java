package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Compresses the gradients of one bucket in one step. */
final class PowerSgdBucket {

  /** Arrays have a few elements less in some JVMs. */
  private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

  private record Part(LowRankMatrix matrix, LowRankMatrix.Target target, int pAt, int qAt) {}

  private final GradientBucket bucket;
  private final HostTensor buffer;
  private final PowerSgdOptions options;
  private final PowerSgdMemory memory;
  private final List<Part> parts = new ArrayList<>();
  private final List<Tensor> uncompressed = new ArrayList<>();
  private int sizeOfP;
  private int sizeOfQ;
  private long elementsAfter;

  private PowerSgdBucket(GradientBucket bucket, PowerSgdOptions options, PowerSgdMemory memory) {
    this.bucket = bucket;
    this.buffer = HostTensor.of(bucket.buffer());
    this.options = options;
    this.memory = memory;
  }

  /** Creates the compression of each gradient that becomes small enough. */
  static PowerSgdBucket byParameter(
      GradientBucket bucket, PowerSgdOptions options, PowerSgdMemory memory) {
    PowerSgdBucket made = new PowerSgdBucket(bucket, options, memory);
    List<Tensor> gradients = bucket.gradients();
    int[] parameters = bucket.parameters();
    long offset = 0;
    for (int i = 0; i < parameters.length; i++) {
      Tensor gradient = gradients.get(i);
      if (made.isWorthwhile(gradient)) {
        int rows = (int) gradient.shape()[0];
        int count = (int) gradient.count();
        made.add("parameter " + parameters[i], rows, count / rows, offset, count);
      } else {
        made.uncompressed.add(gradient);
        made.elementsAfter += gradient.count();
      }
      offset += gradient.count();
    }
    return made;
  }

  /** Creates the compression of the whole bucket as one square matrix, filled up with zeros. */
  static PowerSgdBucket batched(
      GradientBucket bucket, PowerSgdOptions options, PowerSgdMemory memory) {
    PowerSgdBucket made = new PowerSgdBucket(bucket, options, memory);
    long count = made.buffer.count();
    long side = (long) Math.ceil(Math.sqrt((double) count));
    if (side * side > LONGEST_ARRAY) {
      throw new IllegalStateException(
          "Bucket "
              + bucket.index()
              + " has "
              + count
              + " elements, too many for one matrix: make buckets smaller, or do not use"
              + " withBatched(true)");
    }
    if (count > 0) {
      String place = "bucket " + bucket.index() + " ";
      String name = place + Arrays.toString(bucket.parameters());
      memory.forgetOthers(place, name);
      made.add(name, (int) side, (int) side, 0, (int) count);
    }
    return made;
  }

  private boolean isWorthwhile(Tensor gradient) {
    long[] shape = gradient.shape();
    long count = gradient.count();
    if (shape.length == 0 || count == 0 || count > LONGEST_ARRAY) {
      return false;
    }
    long rows = shape[0];
    long columns = count / rows;
    long rank = Math.min(options.rank(), Math.min(rows, columns));
    return (rows + columns) * rank * options.minCompressionRate() < count;
  }

  private void add(String name, int rows, int columns, long offset, int count) {
    LowRankMatrix matrix = memory.matrix(name, rows, columns);
    LowRankMatrix.Target target = new LowRankMatrix.Target(buffer, offset, count);
    parts.add(new Part(matrix, target, sizeOfP, sizeOfQ));
    sizeOfP = Math.addExact(sizeOfP, matrix.sizeOfP());
    sizeOfQ = Math.addExact(sizeOfQ, matrix.sizeOfQ());
    elementsAfter += (long) matrix.sizeOfP() + matrix.sizeOfQ();
  }

  /** Returns how many numbers are averaged instead of the gradients. */
  long elementsAfter() {
    return elementsAfter;
  }

  /**
   * Replaces the gradients by what the ranks agree on; blocks for the group's timeout at most. If
   * that fails, nothing is remembered of these matrices, because ranks may have come further.
   */
  void run() {
    boolean done = false;
    try {
      MeanAllReduce mean = MeanAllReduce.of(bucket);
      Work rest = uncompressed.isEmpty() ? null : mean.beginAll(uncompressed);
      if (!parts.isEmpty()) {
        compress(mean);
      }
      if (rest != null) {
        mean.end(rest, uncompressed);
      }
      done = true;
    } finally {
      if (!done) {
        memory.forget(parts.stream().map(Part::matrix).toList());
      }
    }
  }

  private void compress(MeanAllReduce mean) {
    float[] p = new float[sizeOfP];
    for (Part each : parts) {
      LowRankMatrix.Target target = each.target();
      each.matrix().read(buffer, target.offset(), target.count(), bucket.divisor());
      each.matrix().computeP(memory.orthonormalQ(each.matrix(), epsilon()), p, each.pAt());
    }
    int ranks = bucket.group().size();
    average(new MeanAllReduce(bucket.group(), ranks), p);
    float[] q = new float[sizeOfQ];
    for (Part each : parts) {
      LowRankMatrix matrix = each.matrix();
      // Epsilon belongs to the norm of the sum, and this is the mean.
      Orthonormal.make(p, each.pAt(), matrix.rows(), matrix.rank(), epsilon() / ranks);
      matrix.computeQ(p, each.pAt(), q, each.qAt());
    }
    average(mean, q);
    parts.forEach(each -> write(each, p, q, bucket.divisor() / ranks));
  }

  private double epsilon() {
    return options.batched() ? 0 : options.epsilon();
  }

  private void average(MeanAllReduce mean, float[] values) {
    DType type = LowRankMatrix.wireType(buffer.dtype());
    if (type == DType.FLOAT32) {
      mean.compute(Tensor.of(values));
      return;
    }
    HostTensor sent = HostTensor.allocate(type, values.length);
    FloatElements.write(values, 0, sent, 0, values.length);
    mean.compute(sent);
    FloatElements.read(sent, 0, values.length, values, 0);
  }

  private void write(Part part, float[] p, float[] q, double share) {
    LowRankMatrix matrix = part.matrix();
    matrix.write(p, part.pAt(), q, part.qAt(), part.target(), bucket.divisor(), share);
    float[] own = Arrays.copyOfRange(q, part.qAt(), part.qAt() + matrix.sizeOfQ());
    boolean finite = isFinite(own);
    // A NaN or an infinity is in the gradients of this step, and shall not come back in the next.
    if (!finite || !options.errorFeedback()) {
      matrix.forgetRemainder();
    }
    if (finite && options.warmStart()) {
      matrix.keepQ(own);
    } else {
      matrix.forgetQ();
    }
  }

  private static boolean isFinite(float[] values) {
    for (float each : values) {
      if (!Float.isFinite(each)) {
        return false;
      }
    }
    return true;
  }
}
