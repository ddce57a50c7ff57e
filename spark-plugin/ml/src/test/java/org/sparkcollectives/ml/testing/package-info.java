/** The session, the log and the comparisons that all tests of the module use. */
package org.sparkcollectives.ml.testing;
