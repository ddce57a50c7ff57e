/**
 * Expectation and maximization of a mixture of Gaussians, as the ranks of one stage compute them.
 */
package org.sparkcollectives.ml.internal.mixture;
