/**
 * Turns what a rank notices into the end of its groups: who is to blame, the record that other
 * ranks read, and what the operations of this rank throw.
 *
 * <p>What a rank notices goes to {@link org.sparkcollectives.internal.failure.FailureReports}, from
 * there as a record to {@link org.sparkcollectives.internal.failure.AbortPropagation}, and {@link
 * org.sparkcollectives.internal.failure.GroupState} holds what the group fails with. {@link
 * org.sparkcollectives.internal.failure.TimeoutHandling} asks at a deadline who is missing.
 */
package org.sparkcollectives.internal.failure;
