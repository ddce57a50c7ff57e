package org.sparkcollectives.internal.algorithm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import org.sparkcollectives.AlgorithmChoices.Candidate;
import org.sparkcollectives.AlgorithmChoices.Choice;
import org.sparkcollectives.AlgorithmChoices.Sizes;
import org.sparkcollectives.AlgorithmChoices.Tensors;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.algorithm.AlgorithmRows.Kind;
import org.sparkcollectives.internal.algorithm.AlgorithmRows.Row;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.GroupMemory.Access;
import org.sparkcollectives.internal.transport.Peers;

/**
 * Explains which algorithms are chosen among some ranks, from the {@link AlgorithmTable} itself.
 *
 * @param named those that run whatever they cost
 * @param kernel of the reductions
 */
record AlgorithmExplanation(
    AlgorithmTable table,
    NamedAlgorithms named,
    PathCosts costs,
    Peers peers,
    ReduceKernel kernel) {

  private static final long LARGEST_BYTES = 256 << 20;

  /** Returns all choices. */
  List<Choice> choices() {
    List<Choice> all = new ArrayList<>();
    all.addAll(sizes(OpType.ALL_REDUCE, table.allReduce, this::reduction));
    all.addAll(sizes(OpType.REDUCE, table.reduce, this::reduction));
    all.addAll(sizes(OpType.REDUCE_SCATTER_INTO, table.reduceScatter, this::reduction));
    all.addAll(sizes(OpType.ALL_GATHER_INTO, table.allGather, n -> Shape.ofParts(n, true)));
    all.addAll(sizes(OpType.ALL_GATHER, table.allGather, n -> Shape.ofParts(n, false)));
    all.addAll(sizes(OpType.BROADCAST, table.broadcast, n -> Shape.ofParts(n, true)));
    all.addAll(sizes(OpType.GATHER, table.gather, Shape::ofUnknown));
    all.addAll(sizes(OpType.SCATTER, table.scatter, Shape::ofUnknown));
    all.addAll(sizes(OpType.ALL_TO_ALL_INTO, table.allToAll, n -> Shape.ofParts(n, true)));
    all.addAll(sizes(OpType.ALL_TO_ALL, table.allToAll, Shape::ofUnknown));
    Shape nothing = Shape.ofParts(0, true);
    all.add(choose(OpType.BARRIER, table.barrier, Tensors.OTHERS, nothing));
    return all;
  }

  private Shape reduction(long bytes) {
    return Shape.ofReduction(bytes, kernel);
  }

  private <C> List<Choice> sizes(OpType type, AlgorithmRows<C> rows, LongFunction<Shape> shape) {
    List<Choice> others = sizes(type, rows, shape, Tensors.OTHERS);
    List<Choice> allocated = sizes(type, rows, shape, Tensors.ALLOCATED);
    if (others.equals(allocated)) {
      return others;
    }
    List<Choice> both = new ArrayList<>();
    for (Choice each : allocated) {
      both.add(with(each, Optional.of(Tensors.ALLOCATED), each.sizes()));
    }
    for (Choice each : others) {
      both.add(with(each, Optional.of(Tensors.OTHERS), each.sizes()));
    }
    return both;
  }

  private <C> List<Choice> sizes(
      OpType type, AlgorithmRows<C> rows, LongFunction<Shape> shape, Tensors tensors) {
    List<Choice> ranges = new ArrayList<>();
    for (long bytes = 1; bytes <= LARGEST_BYTES; bytes *= 2) {
      Choice next = choose(type, rows, tensors, shape.apply(bytes));
      int last = ranges.size() - 1;
      if (last >= 0 && isSame(ranges.get(last), next)) {
        Sizes sizes = new Sizes(ranges.get(last).fromBytes(), bytes);
        ranges.set(last, with(ranges.get(last), Optional.empty(), sizes));
      } else {
        ranges.add(next);
      }
    }
    return ranges;
  }

  private static boolean isSame(Choice one, Choice other) {
    return one.algorithm().equals(other.algorithm()) && one.stripes() == other.stripes();
  }

  private static Choice with(Choice like, Optional<Tensors> tensors, Sizes sizes) {
    return new Choice(
        like.collective(), tensors, sizes, like.stripes(), like.algorithm(), like.candidates());
  }

  private <C> Choice choose(OpType type, AlgorithmRows<C> rows, Tensors tensors, Shape shape) {
    Situation whole = Situation.of(costs, peers, access(type, tensors, shape), shape);
    Optional<Row<C>> wanted = named.row(rows);
    Row<C> chosen = wanted.orElseGet(() -> rows.choose(whole));
    int stripes = AlgorithmSelector.pieces(peers, chosen, shape);
    Situation piece = whole;
    if (stripes > 1) {
      Shape ofPiece = shape.withBytes(shape.bytes() / stripes);
      piece = Situation.of(costs, peers, Access.NONE, ofPiece);
      chosen = wanted.isPresent() ? chosen : rows.chooseMessages(piece);
    }
    List<Candidate> all = new ArrayList<>();
    for (Row<C> each : rows.all()) {
      Situation situation = each.kind() == Kind.MESSAGES ? piece : whole;
      String reason =
          wanted.isPresent()
              ? reasonBeside(wanted.get(), each, situation)
              : reason(each, chosen, situation);
      all.add(new Candidate(each.name(), time(each, situation), reason));
    }
    return new Choice(
        type,
        Optional.empty(),
        new Sizes(shape.bytes(), shape.bytes()),
        stripes,
        chosen.name() + (chosen.obstacle(whole).isPresent() ? " (refused)" : ""),
        all);
  }

  private Access access(OpType type, Tensors tensors, Shape shape) {
    boolean reduces =
        type == OpType.ALL_REDUCE || type == OpType.REDUCE || type == OpType.REDUCE_SCATTER_INTO;
    long agreed = shape.known() ? shape.bytes() : 0;
    Access access = peers.memory().expected(type, agreed, tensors == Tensors.ALLOCATED);
    boolean multiplies = reduces && kernel.premultiplies();
    return multiplies && access != Access.HEAP ? Access.NONE : access;
  }

  private static <C> Optional<Duration> time(Row<C> each, Situation situation) {
    return each.kind() == Kind.IN_MEMORY || each.fit(situation) == AlgorithmRows.Fit.IMPOSSIBLE
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(Math.round(each.seconds(situation) * 1e9)));
  }

  private static <C> String reasonBeside(Row<C> named, Row<C> each, Situation situation) {
    Optional<String> obstacle = each.obstacle(situation);
    if (each.equals(named)) {
      return obstacle.map(reason -> "refused: " + reason).orElse("chosen: is named");
    }
    return obstacle.orElse(named.name() + " is named");
  }

  private static <C> String reason(Row<C> each, Row<C> chosen, Situation situation) {
    if (each.equals(chosen)) {
      return switch (each.kind()) {
        case IN_MEMORY -> "chosen: works in memory that all ranks see";
        case MESSAGES -> "chosen: is predicted to take the least time";
        case HIERARCHICAL -> "chosen: is predicted to take less time than messages among all";
      };
    }
    return each.conditions().stream()
        .filter(condition -> !condition.holds(situation))
        .findFirst()
        .map(AlgorithmRows.Condition::otherwise)
        .orElse(
            chosen.kind() == Kind.IN_MEMORY
                ? chosen.name() + " works in memory, and goes before"
                : "is predicted to take no less time");
  }
}
