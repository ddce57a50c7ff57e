/** Fits by gradients: the whole of one as a barrier stage, and what each estimator minimises. */
package org.sparkcollectives.ml.internal.gradient;
