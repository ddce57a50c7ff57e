package org.sparkcollectives.ml.internal.optim;

import breeze.linalg.DenseVector;
import breeze.math.MutableFiniteCoordinateField;
import breeze.optimize.FirstOrderMinimizer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;

/**
 * The state of Breeze's optimizer after an iteration, from which it can go on as if it had not
 * stopped.
 *
 * @param state Breeze's own, which has the history of its steps in it
 * @param objectiveHistory the loss at the start and after each iteration
 */
record OptimizerState(
    FirstOrderMinimizer.State<DenseVector<Object>, ?, ?> state, double[] objectiveHistory)
    implements Serializable {

  byte[] toBytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new StateOutput(bytes)) {
      out.writeObject(this);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static OptimizerState of(byte[] bytes) {
    try (ObjectInputStream in = new TaskInput(new ByteArrayInputStream(bytes))) {
      return (OptimizerState) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("The checkpoint of another version of Breeze", e);
    }
  }

  /** Leaves out Breeze's arithmetic, to which its state refers and which cannot be serialized. */
  private static final class StateOutput extends ObjectOutputStream {
    StateOutput(OutputStream out) throws IOException {
      super(out);
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object written) {
      return written instanceof MutableFiniteCoordinateField ? Space.DOUBLES : written;
    }
  }

  /** Stands for {@link BreezeVectors#space} in a checkpoint. */
  private enum Space {
    DOUBLES
  }

  /** Finds classes where the task does: this library may have come with the job. */
  private static final class TaskInput extends ObjectInputStream {
    TaskInput(InputStream in) throws IOException {
      super(in);
      enableResolveObject(true);
    }

    @Override
    protected Object resolveObject(Object read) {
      return read == Space.DOUBLES ? BreezeVectors.space() : read;
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass type)
        throws IOException, ClassNotFoundException {
      try {
        return Class.forName(type.getName(), false, OptimizerState.class.getClassLoader());
      } catch (ClassNotFoundException e) {
        return super.resolveClass(type);
      }
    }
  }
}
