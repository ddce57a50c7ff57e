/** Programs for Spark ML that fit with this library's estimators. */
package org.sparkcollectives.examples.ml;
