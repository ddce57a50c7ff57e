package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.Stripes;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Carries out each collective by the algorithm that {@link AlgorithmTable} names for it.
 *
 * <p>A large operation by messages goes over all {@link Stripes} of the ranks at once: every rank's
 * part is cut alike, and each stripe carries one piece of each, by the algorithm that is the best
 * for such a piece. Operations whose sizes a rank does not know for all others are not cut.
 */
public final class AlgorithmSelector extends Phases {

  private final PathCosts costs;
  private final AlgorithmTable first = new AlgorithmTable(this);

  /** The tables of the further stripes: each table has scratch memory for one thread. */
  private final List<AlgorithmTable> further = new ArrayList<>();

  /** Written by the thread that runs an operation; there is one at a time. */
  private String lastAlgorithm = "";

  private final CoalescedAllReduce coalescedAllReduce = new CoalescedAllReduce();
  private final SparseAllReduce sparseAllReduce = new SparseAllReduce();

  /** Creates a selector that chooses by these costs, which must be the same on all ranks. */
  public AlgorithmSelector(PathCosts costs) {
    this.costs = costs;
  }

  AlgorithmTable table() {
    return first;
  }

  /**
   * Returns the name of the algorithm that has run last: of an operation in parts that of the last
   * part, and of one in several stripes that of the first. For the thread that runs operations.
   */
  public String lastAlgorithm() {
    return lastAlgorithm;
  }

  /**
   * Explains which algorithm carries out each collective among these ranks. May be called on any
   * thread.
   */
  public List<AlgorithmChoices.Choice> explain(Peers peers, DType dtype, ReduceOp op) {
    return new AlgorithmExplanation(first, costs, peers, ReduceKernels.of(op, dtype)).choices();
  }

  @Override
  AlgorithmRows<?> rows(OpType type) {
    return first.of(type);
  }

  /** Carries out a call. Blocks until this rank's part is done. */
  @Override
  public <C extends Call<C>> void run(Peers peers, C call) {
    Access access = peers.memory().open(() -> call.published(peers));
    AlgorithmRows.Row<C> chosen =
        first.of(call).choose(Situation.of(costs, peers, access, call.shape()));
    int pieces = pieces(peers, chosen, call.shape());
    if (pieces == 1) {
      chosen.algorithm().run(peers, call);
      // This comes last: a hierarchical algorithm runs others.
      lastAlgorithm = chosen.name();
    } else {
      runPieces(peers.stripes(), pieces, call);
    }
  }

  /** Returns in how many pieces a call is cut, each of which goes over a stripe of its own. */
  static int pieces(Peers peers, AlgorithmRows.Row<?> chosen, Shape call) {
    return chosen.kind() == AlgorithmRows.Kind.MESSAGES && call.known()
        ? peers.stripes().count(call.bytes())
        : 1;
  }

  private <C extends Call<C>> void runPieces(Stripes stripes, int count, C call) {
    while (further.size() < count - 1) {
      further.add(new AlgorithmTable(this));
    }
    stripes.run(
        count,
        (index, peers) -> {
          C piece = call.piece(index, count);
          AlgorithmTable table = index == 0 ? first : further.get(index - 1);
          AlgorithmRows.Row<C> chosen =
              table
                  .of(piece)
                  .chooseMessages(Situation.of(costs, peers, Access.NONE, piece.shape()));
          if (index == 0) {
            lastAlgorithm = chosen.name();
          }
          chosen.algorithm().run(peers, piece);
        });
  }

  /**
   * Returns the sum of all ranks' tensors.
   *
   * @param call what this rank calls, for ranks that call another
   */
  public SparseTensor allReduce(Peers peers, SparseTensor tensor, CollectiveCall call) {
    return sparseAllReduce.run(peers, tensor, call, this);
  }

  /** Reduces each of {@code tensors}, which are of one type, over all ranks, in place. */
  public void allReduceCoalesced(Peers peers, List<HostTensor> tensors, ReduceOp op) {
    coalescedAllReduce.run(tensors, tensor -> run(peers, Call.allReduce(tensor, op)));
  }
}
