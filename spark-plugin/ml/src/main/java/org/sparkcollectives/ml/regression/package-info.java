/** Spark's regressions, fitted in one barrier stage. They give Spark's own models. */
package org.sparkcollectives.ml.regression;
