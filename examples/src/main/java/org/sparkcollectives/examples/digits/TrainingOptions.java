package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/**
 * The options of a training run.
 *
 * @param network the network to train
 * @param epochs how often each sample is seen
 * @param batch how many samples all ranks together use for a step
 * @param learningRate the size of a step
 * @param momentum the part of the last step that enters the next
 * @param seed decides the first parameters and the order of the samples
 * @param hook how a reducer sends gradients
 */
record TrainingOptions(
    NetworkShape network,
    int epochs,
    int batch,
    double learningRate,
    double momentum,
    long seed,
    GradientHook hook)
    implements Serializable {

  TrainingOptions(
      NetworkShape network,
      int epochs,
      int batch,
      double learningRate,
      double momentum,
      long seed) {
    this(network, epochs, batch, learningRate, momentum, seed, GradientHook.NONE);
  }

  TrainingOptions withBatch(int samples) {
    return new TrainingOptions(network, epochs, samples, learningRate, momentum, seed, hook);
  }
}
