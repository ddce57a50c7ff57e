package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.internal.algorithm.AlgorithmRows.Row;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.RackOrder;
import org.sparkcollectives.internal.transport.Stripes;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Carries out each collective by the algorithm that {@link AlgorithmTable} chooses for it, or that
 * {@link NamedAlgorithms} names. Only a user's calls have named ones: the phases of hierarchical
 * algorithms, the gathers of a sparse all-reduce and those that compare calls are chosen by cost.
 *
 * <p>A large operation by messages goes over all {@link Stripes} of the ranks at once: every rank's
 * part is cut alike, and each stripe carries one piece of each, by the algorithm that is the best
 * for such a piece. Operations whose sizes a rank does not know for all others are not cut.
 */
public final class AlgorithmSelector extends Phases {

  private final PathCosts costs;
  private final NamedAlgorithms named;
  private final AlgorithmTable first = new AlgorithmTable(this);

  /** The tables of the further stripes: each table has scratch memory for one thread. */
  private final List<AlgorithmTable> further = new ArrayList<>();

  /** Written by the thread that runs an operation; there is one at a time. */
  private String lastAlgorithm = "";

  private final CoalescedAllReduce coalescedAllReduce = new CoalescedAllReduce();
  private final SparseAllReduce sparseAllReduce = new SparseAllReduce();

  /** Creates a selector that chooses by these costs, which must be the same on all ranks. */
  public AlgorithmSelector(PathCosts costs) {
    this(costs, NamedAlgorithms.NONE);
  }

  /**
   * Creates a selector that carries out calls by the algorithms that are named for them, and all
   * others by these costs. Both must be the same on all ranks.
   */
  public AlgorithmSelector(PathCosts costs, NamedAlgorithms named) {
    this.costs = costs;
    this.named = named;
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
    return new AlgorithmExplanation(first, named, costs, peers, ReduceKernels.of(op, dtype))
        .choices();
  }

  /**
   * Refuses a call that the algorithm named for it cannot carry out. Ranks that call alike, with
   * tensors that lie alike, are refused alike. May be called on any thread.
   *
   * @param own what this rank gives; of one that gives nothing what it gets
   * @throws IllegalArgumentException with the reason, and the algorithms that can
   */
  public void requireFit(Peers peers, OperationSpec spec, List<HostTensor> own, Call<?> call) {
    if (named != NamedAlgorithms.NONE) {
      boolean allocated = peers.memory().sees(own);
      requireFit(peers, spec, allocated, first.of(call.type()), call.shape());
    }
  }

  /** Refuses an all-reduce of several tensors likewise. */
  public void requireFit(Peers peers, OperationSpec spec, List<HostTensor> tensors, ReduceOp op) {
    if (named != NamedAlgorithms.NONE) {
      boolean allocated = !CoalescedAllReduce.isPacked(tensors) && peers.memory().sees(tensors);
      ReduceKernel kernel = ReduceKernels.of(op, spec.dtype());
      for (long bytes : CoalescedAllReduce.bytes(tensors)) {
        Shape shape = Shape.ofReduction(bytes, kernel);
        requireFit(peers, spec, allocated, first.allReduce, shape);
      }
    }
  }

  private void requireFit(
      Peers peers, OperationSpec spec, boolean allocated, AlgorithmRows<?> rows, Shape shape) {
    named
        .row(rows)
        .ifPresent(
            row -> {
              long bytes = spec.dtype() == null ? 0 : spec.agreedCount() * spec.dtype().bytes();
              Access access = peers.memory().expected(spec.type(), bytes, allocated);
              boolean multiplies =
                  spec.reduction() != null && spec.reduction().kind() == ReduceOp.Kind.PREMUL_SUM;
              Access possible = multiplies && access != Access.HEAP ? Access.NONE : access;
              Situation situation = Situation.of(costs, peers, possible, shape);
              requireFit(peers, spec.describe(), row, situation, rows);
            });
  }

  private static void requireFit(
      Peers peers, String operation, Row<?> row, Situation situation, AlgorithmRows<?> rows) {
    row.obstacle(situation)
        .ifPresent(
            obstacle -> {
              List<String> fitting =
                  rows.all().stream()
                      .filter(each -> each.obstacle(situation).isEmpty())
                      .map(Row::name)
                      .toList();
              throw new IllegalArgumentException(
                  "Rank "
                      + peers.rank()
                      + " of "
                      + peers.size()
                      + " cannot carry out "
                      + operation
                      + " by "
                      + row.name()
                      + ", which spark.collectives.algorithm names: it "
                      + obstacle
                      + ". These fit: "
                      + String.join(", ", fitting));
            });
  }

  @Override
  AlgorithmRows<?> rows(OpType type) {
    return first.of(type);
  }

  /**
   * Carries out a call of the user, by the algorithm that is named for it if there is one. Blocks
   * until this rank's part is done.
   *
   * @throws IllegalArgumentException if the ranks find that it cannot, before any data is sent:
   *     where {@link #requireFit} could not know where the other ranks' tensors are
   */
  public <C extends Call<C>> void carryOut(Peers peers, C call) {
    Row<C> row = named.row(first.of(call)).orElse(null);
    if (row == null) {
      run(peers, call);
      return;
    }
    // All ranks name the same, and so either all ask for the memory or none does.
    Access access =
        row.kind() == AlgorithmRows.Kind.IN_MEMORY
            ? peers.memory().open(() -> call.published(peers))
            : Access.NONE;
    Situation situation = Situation.of(costs, peers, access, call.shape());
    String operation = call.type().label() + " (" + call.shape().bytes() + " bytes)";
    requireFit(peers, operation, row, situation, first.of(call));
    run(peers, call, row, (table, piece) -> named.row(table.of(call)).orElseThrow());
  }

  /**
   * Carries out a call by the algorithm that costs least. Blocks until this rank's part is done.
   */
  @Override
  public <C extends Call<C>> void run(Peers peers, C call) {
    Access access = peers.memory().open(() -> call.published(peers));
    Row<C> chosen = first.of(call).choose(Situation.of(costs, peers, access, call.shape()));
    run(peers, call, chosen, byCost(call));
  }

  private static <C extends Call<C>> PieceChoice<C> byCost(C call) {
    return (table, piece) -> table.of(call).chooseMessages(piece);
  }

  /**
   * Prepares a call of the user that these ranks make again and again: the choice is made once, or
   * where it depends on the memory that the ranks open, once for each answer.
   *
   * @return carries out the call, as {@link #carryOut} does
   */
  public <C extends Call<C>> Runnable prepare(Peers peers, C call) {
    if (named.row(first.of(call)).isPresent()) {
      return () -> carryOut(peers, call);
    }
    AlgorithmRows<C> rows = first.of(call);
    Shape shape = call.shape();
    Supplier<List<HostTensor>> published = () -> call.published(peers);
    Map<Access, Row<C>> chosen = new EnumMap<>(Access.class);
    Function<Access, Row<C>> choice =
        access -> rows.choose(Situation.of(costs, peers, access, shape));
    PieceChoice<C> ofPieces = byCost(call);
    return () -> {
      Access access = peers.memory().open(published);
      run(peers, call, chosen.computeIfAbsent(access, choice), ofPieces);
    };
  }

  /** Chooses what carries out one piece of a call over a stripe. */
  private interface PieceChoice<C> {
    Row<C> choose(AlgorithmTable table, Situation piece);
  }

  private <C extends Call<C>> void run(
      Peers peers, C call, Row<C> chosen, PieceChoice<C> ofPieces) {
    int pieces = pieces(peers, chosen, call.shape());
    if (pieces == 1) {
      runInOrder(peers, call, chosen);
      // This comes last: a hierarchical algorithm runs others.
      lastAlgorithm = chosen.name();
    } else {
      runPieces(peers.stripes(), pieces, call, ofPieces);
    }
  }

  /**
   * Carries out a call among ranks in the order of their racks, if they are in some, and the
   * algorithm sends less between racks then.
   */
  private static <C extends Call<C>> void runInOrder(Peers peers, C call, Row<C> chosen) {
    if (peers.rackOrder().isPresent()
        && chosen.algorithm() instanceof MessageAlgorithm<C> algorithm) {
      RackOrder racks = peers.rackOrder().get();
      Optional<RackOrder.Ordered> order =
          algorithm.sendsMoreFarther()
              ? racks.dealt(call.root())
              : Optional.of(racks.from(call.root()));
      Optional<C> ordered = order.flatMap(each -> call.inOrder(each.ranks()));
      if (ordered.isPresent()) {
        algorithm.run(order.get().peers(), ordered.get());
        return;
      }
    }
    chosen.algorithm().run(peers, call);
  }

  /** Returns in how many pieces a call is cut, each of which goes over a stripe of its own. */
  static int pieces(Peers peers, Row<?> chosen, Shape call) {
    return chosen.kind() == AlgorithmRows.Kind.MESSAGES && call.known()
        ? peers.stripes().count(call.bytes())
        : 1;
  }

  private <C extends Call<C>> void runPieces(
      Stripes stripes, int count, C call, PieceChoice<C> choice) {
    while (further.size() < count - 1) {
      further.add(new AlgorithmTable(this));
    }
    stripes.run(
        count,
        (index, peers) -> {
          C piece = call.piece(index, count);
          AlgorithmTable table = index == 0 ? first : further.get(index - 1);
          Row<C> chosen =
              choice.choose(table, Situation.of(costs, peers, Access.NONE, piece.shape()));
          if (index == 0) {
            lastAlgorithm = chosen.name();
          }
          runInOrder(peers, piece, chosen);
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
    coalescedAllReduce.run(tensors, tensor -> carryOut(peers, Call.allReduce(tensor, op)));
  }
}
