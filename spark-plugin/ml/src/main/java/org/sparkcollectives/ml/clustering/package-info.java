/**
 * Spark's estimators for clustering, with the whole fit in one barrier stage. Their models are
 * Spark's own.
 */
package org.sparkcollectives.ml.clustering;
