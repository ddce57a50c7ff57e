package org.sparkcollectives.averaging;

import java.util.BitSet;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Averages over a whole group once in each period of steps: c10d's {@code PeriodicModelAverager}.
 * With a warm-up of w steps and a period of p these are the steps w, w + p, w + 2p and so on, from
 * 0.
 */
public final class PeriodicModelAverager implements ModelAverager {

  private final ProcessGroup group;
  private final long period;
  private final StepCounter counter;

  /**
   * Creates an averager. Local.
   *
   * @param group whose ranks average; not closed by the averager
   * @param period after how many steps they do so again; 1 or more, the same on every rank
   * @param warmupSteps how many steps there are before the first that averages; 0 or more
   */
  public PeriodicModelAverager(ProcessGroup group, long period, long warmupSteps) {
    StepCounter.requirePeriod(period);
    this.group = group;
    this.period = period;
    this.counter = new StepCounter(warmupSteps);
  }

  @Override
  public boolean average(List<Tensor> parameters, BitSet selected) {
    long after = counter.afterWarmup();
    boolean due = after >= 0 && after % period == 0;
    if (due) {
      ParameterAveraging.average(group, parameters, selected);
    }
    counter.advance();
    return due;
  }

  @Override
  public void abort(Throwable cause) {
    group.abort(cause);
  }

  @Override
  public long step() {
    return counter.step();
  }

  @Override
  public void setStep(long step) {
    counter.set(step);
  }
}
