/** Checkpoints of a group's tensors in the store. */
package org.sparkcollectives.internal.checkpoint;
