/** Memory of each rank that all ranks of a host read and write: c10d's symmetric memory. */
package org.sparkcollectives.symmetric;
