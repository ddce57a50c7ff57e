package org.sparkcollectives.internal.engine;

import java.util.List;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.BackendOperation;
import org.sparkcollectives.spi.OperationSpec;

/**
 * A user's call that a backend carries out by itself.
 *
 * @param backend the backend's name
 * @param spec the call, as other ranks and records have it
 * @param limit how long it may take
 * @param outputs the tensors that it writes
 * @param operation the backend's part
 */
record BackendCall(
    String backend,
    OperationSpec spec,
    TimeLimit limit,
    List<Tensor> outputs,
    BackendOperation operation) {}
