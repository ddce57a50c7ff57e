package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/**
 * What a training run is to do.
 *
 * @param hidden the units of the hidden layer; 0 for softmax regression
 * @param epochs how often each image is seen
 * @param batch how many images all ranks together use for a step
 * @param learningRate the size of a step
 * @param momentum how much of the last step goes into the next
 * @param seed decides the first parameters and the order of the images
 */
record TrainingOptions(
    int hidden, int epochs, int batch, double learningRate, double momentum, long seed)
    implements Serializable {}
