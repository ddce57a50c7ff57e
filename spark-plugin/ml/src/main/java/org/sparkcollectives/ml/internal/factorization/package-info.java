/** Factorization machines: gradient descent over mini-batches of the ranks' rows. */
package org.sparkcollectives.ml.internal.factorization;
