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
import java.util.Optional;

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

  /**
   * Returns this state as bytes; empty if they are more than {@code most}. No more than that are
   * held.
   */
  Optional<byte[]> toBytes(int most) {
    BoundedBytes bytes = new BoundedBytes(most);
    try (ObjectOutputStream out = new StateOutput(bytes)) {
      out.writeObject(this);
    } catch (IOException e) {
      if (bytes.overflowed) {
        return Optional.empty();
      }
      throw new UncheckedIOException(e);
    }
    return Optional.of(bytes.toByteArray());
  }

  /**
   * Returns the state that {@link #toBytes} has written.
   *
   * @param optimizer which goes on from it, made as the one that it comes from
   */
  static OptimizerState of(byte[] bytes, FirstOrderMinimizer<?, ?> optimizer) {
    try (ObjectInputStream in = new TaskInput(new ByteArrayInputStream(bytes), optimizer)) {
      return (OptimizerState) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("The checkpoint of another version of Breeze", e);
    }
  }

  /** Takes no more bytes than it may. */
  private static final class BoundedBytes extends OutputStream {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int most;
    private boolean overflowed;

    BoundedBytes(int most) {
      this.most = most;
    }

    @Override
    public void write(int single) throws IOException {
      write(new byte[] {(byte) single}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      overflowed = overflowed || length > most - bytes.size();
      if (overflowed) {
        throw new IOException("The state has more than " + most + " bytes");
      }
      bytes.write(source, offset, length);
    }

    byte[] toByteArray() {
      return bytes.toByteArray();
    }
  }

  /**
   * Leaves out what Breeze's state refers to and what is no state: the optimizer, which has the
   * functions that check for convergence, and its arithmetic. Neither can be serialized.
   */
  private static final class StateOutput extends ObjectOutputStream {
    StateOutput(OutputStream out) throws IOException {
      super(out);
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object written) {
      if (written instanceof FirstOrderMinimizer) {
        return Absent.OPTIMIZER;
      }
      return written instanceof MutableFiniteCoordinateField ? Absent.ARITHMETIC : written;
    }
  }

  /** Stands for an object that the reader of a checkpoint has itself. */
  private enum Absent {
    OPTIMIZER,
    ARITHMETIC
  }

  /** Finds classes where the task does: this library may have come with the job. */
  private static final class TaskInput extends ObjectInputStream {
    private final FirstOrderMinimizer<?, ?> optimizer;

    TaskInput(InputStream in, FirstOrderMinimizer<?, ?> optimizer) throws IOException {
      super(in);
      this.optimizer = optimizer;
      enableResolveObject(true);
    }

    @Override
    protected Object resolveObject(Object read) {
      if (read == Absent.OPTIMIZER) {
        return optimizer;
      }
      return read == Absent.ARITHMETIC ? BreezeVectors.space() : read;
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
