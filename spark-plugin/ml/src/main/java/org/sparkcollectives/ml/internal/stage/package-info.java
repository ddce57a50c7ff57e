/** The barrier stage of a fit. */
package org.sparkcollectives.ml.internal.stage;
