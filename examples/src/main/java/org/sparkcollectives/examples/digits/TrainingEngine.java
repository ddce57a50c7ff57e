package org.sparkcollectives.examples.digits;

/** What computes the network and its gradients. */
enum TrainingEngine {
  /** Java, in this package. */
  JAVA,

  /** Java, with the reducer of gradients. */
  REDUCER,

  /** The Deep Java Library with PyTorch, which the script adds to the application. */
  DJL
}
