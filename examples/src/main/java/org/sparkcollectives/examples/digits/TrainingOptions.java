package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/**
 * What a training run is to do.
 *
 * @param network what is trained
 * @param epochs how often each sample is seen
 * @param batch how many samples all ranks together use for a step
 * @param learningRate the size of a step
 * @param momentum how much of the last step goes into the next
 * @param seed decides the first parameters and the order of the samples
 */
record TrainingOptions(
    NetworkShape network, int epochs, int batch, double learningRate, double momentum, long seed)
    implements Serializable {}
