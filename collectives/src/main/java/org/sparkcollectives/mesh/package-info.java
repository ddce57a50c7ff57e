/** Meshes of ranks, with a group for each dimension: c10d's {@code DeviceMesh}. */
package org.sparkcollectives.mesh;
