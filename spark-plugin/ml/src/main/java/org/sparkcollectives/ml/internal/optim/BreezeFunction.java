package org.sparkcollectives.ml.internal.optim;

import static java.lang.invoke.MethodType.methodType;

import breeze.linalg.DenseVector;
import breeze.optimize.CachedDiffFunction;
import breeze.optimize.DiffFunction;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.Function;
import scala.Tuple2;

/**
 * A loss as Breeze asks for it.
 *
 * <p>javac takes no class for an implementation of {@code DiffFunction}, whose inherited operators
 * it finds incompatible, nor does {@link java.lang.reflect.Proxy}. The factory behind Java's
 * lambdas does: all abstract methods but one are never called.
 */
final class BreezeFunction {

  private static final MethodHandle MAKER = maker();

  private final Function<double[], Evaluation> loss;

  private BreezeFunction(Function<double[], Evaluation> loss) {
    this.loss = loss;
  }

  /**
   * Returns {@code loss} for Breeze. The last evaluation is remembered, as Spark's own estimators
   * do: the end of a line search is asked for twice.
   */
  @SuppressWarnings("unchecked")
  static DiffFunction<DenseVector<Object>> of(Function<double[], Evaluation> loss) {
    Object made;
    try {
      made = MAKER.invoke(new BreezeFunction(loss));
    } catch (Throwable e) {
      throw new IllegalStateException("Breeze's DiffFunction cannot be implemented", e);
    }
    return new CachedDiffFunction<>(
        (DiffFunction<DenseVector<Object>>) made, BreezeVectors.copying());
  }

  private static MethodHandle maker() {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    MethodType type = methodType(Tuple2.class, DenseVector.class);
    try {
      return LambdaMetafactory.metafactory(
              lookup,
              "calculate",
              methodType(DiffFunction.class, BreezeFunction.class),
              methodType(Tuple2.class, Object.class),
              lookup.findVirtual(BreezeFunction.class, "calculate", type),
              type)
          .getTarget();
    } catch (ReflectiveOperationException | java.lang.invoke.LambdaConversionException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Called by what {@link #maker} makes. */
  Tuple2<Object, DenseVector<Object>> calculate(DenseVector<Object> coefficients) {
    Evaluation evaluation = loss.apply(BreezeVectors.toArray(coefficients));
    return new Tuple2<>(evaluation.loss(), BreezeVectors.wrap(evaluation.gradient()));
  }
}
