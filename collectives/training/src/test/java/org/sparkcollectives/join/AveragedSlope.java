package org.sparkcollectives.join;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * A model of one parameter, which goes down the mean of the ranks' gradients with a learning rate
 * of 1: the least that can join.
 */
final class AveragedSlope implements Joinable {

  private final ProcessGroup group;
  private final List<Double> gradients = new ArrayList<>();
  private final List<Double> parameters = new ArrayList<>();
  private double parameter;
  private int shadowed;

  AveragedSlope(ProcessGroup group) {
    this.group = group;
  }

  /** Goes down the mean of {@code gradient} over the ranks. */
  void step(double gradient) {
    JoinStep step = Join.notifyStep(this).orElseThrow();
    double mean = sum(gradient) / step.divisor();
    gradients.add(mean);
    parameter -= mean;
    parameters.add(parameter);
  }

  private double sum(double gradient) {
    double[] sum = {gradient};
    group.allReduce(Tensor.of(sum)).await();
    return sum[0];
  }

  double parameter() {
    return parameter;
  }

  List<Double> gradients() {
    return gradients;
  }

  List<Double> parameters() {
    return parameters;
  }

  int shadowed() {
    return shadowed;
  }

  @Override
  public ProcessGroup processGroup() {
    return group;
  }

  @Override
  public JoinHook joinHook(JoinOptions options) {
    return new JoinHook() {
      @Override
      public void shadowStep(JoinStep step) {
        shadowed++;
        sum(0);
      }

      @Override
      public void afterAllJoined(int lastJoiner) {
        double[] last = {parameter};
        group.broadcast(Tensor.of(last), lastJoiner).await();
        parameter = last[0];
      }
    };
  }
}
