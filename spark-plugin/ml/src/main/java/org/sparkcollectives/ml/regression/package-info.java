/**
 * Spark's regressions, each with its whole fit in one barrier stage. Each is a subclass of Spark's
 * class of the same name, with its Params, and fits Spark's own model.
 */
package org.sparkcollectives.ml.regression;
