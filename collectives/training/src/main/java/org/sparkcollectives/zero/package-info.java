/** Shards the state of an optimizer: each rank keeps only that of the parameters that it owns. */
package org.sparkcollectives.zero;
