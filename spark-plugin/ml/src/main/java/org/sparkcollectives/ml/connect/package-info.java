/** The estimators for clients of Spark Connect, whose programs stay as they are. */
package org.sparkcollectives.ml.connect;
