/** The minimisation of a loss over the rows of all ranks, by Breeze's optimizers on rank 0. */
package org.sparkcollectives.ml.internal.optim;
