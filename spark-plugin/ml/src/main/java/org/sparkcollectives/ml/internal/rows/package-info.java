/** Rows of a dataset as the ranks of a fit read them. */
package org.sparkcollectives.ml.internal.rows;
