package org.sparkcollectives;

/**
 * A collective that a rank calls again and again on the same tensors. {@link
 * ProcessGroup#allReduceInit} and the methods like it check the arguments, choose the algorithm and
 * prepare the call once; each {@link #start} carries it out on what the tensors hold then. Worth it
 * for small tensors, where a call takes about as long as the exchange.
 *
 * <pre>{@code
 * try (PersistentCollective sum = group.allReduceInit(Tensor.of(gradient))) {
 *   while (!converged) {
 *     compute(gradient);
 *     sum.start().await();
 *   }
 * }
 * }</pre>
 *
 * <p>A start is a collective of the group like any other: all ranks call it in the same order as
 * the group's other collectives, it has a sequence number, a deadline, a flight record and its part
 * in the statistics, and a rank may make the plain call where another one starts a persistent one.
 * Ranks therefore need not create, close or even have the same persistent collectives. Creating one
 * is local, and exchanges nothing.
 *
 * <p>May be used by several threads, which must agree on the order of the group's collectives. The
 * semantics follow the persistent collective operations of MPI-4, except that there creating one is
 * a collective call itself, and is matched on all ranks.
 */
public interface PersistentCollective extends AutoCloseable {

  /**
   * Begins the collective, as the plain call with the same arguments does. Returns at once. The
   * operation owns the tensors until the work is done, and has the timeout of the group or view
   * that the persistent collective was made by, from now on.
   *
   * @throws IllegalStateException if the work of the last start is not done, if this is closed, or
   *     after the group was closed
   * @throws CollectiveException if the group has failed
   */
  Work start();

  /**
   * Releases what was prepared, so that the tensors can be freed. Local, idempotent, and does not
   * wait: an operation that was started goes on, and the group stays as it is. Optional: an
   * unreachable object holds nothing but memory that the garbage collector frees.
   */
  @Override
  void close();
}
